"""A tag that should tell Cluster Autoscaler of a taint is not of the form value:Effect.

## What it checks

Tags `k8s.io/cluster-autoscaler/node-template/taint/<key>` of Auto Scaling groups: the value has to be `<value>:<Effect>` with the
effect NoSchedule, NoExecute or PreferNoSchedule. `propagateASGTags` of eksctl writes the value of the taint alone, so a tainted
group that relies on it is reported at that field.

## Why it matters

Any other value is dropped without a word. Cluster Autoscaler then imagines nodes without the taint and adds them for pods that the
real, tainted nodes refuse: TriggeredScaleUp, FailedScheduling, ScaleDown after ten minutes, and again.

## Example

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: prod, region: us-east-1}
nodeGroups:
  - name: gpu
    instanceType: g4dn.xlarge
    minSize: 0
    maxSize: 4
    taints: [{key: dedicated, value: gpu, effect: NoSchedule}]
    tags:
      k8s.io/cluster-autoscaler/node-template/taint/dedicated: gpu
```

## Instead

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: prod, region: us-east-1}
nodeGroups:
  - name: gpu
    instanceType: g4dn.xlarge
    minSize: 0
    maxSize: 4
    taints: [{key: dedicated, value: gpu, effect: NoSchedule}]
    tags:
      k8s.io/cluster-autoscaler/node-template/taint/dedicated: gpu:NoSchedule
```

## Options

None.

## References

- [terraform-aws-modules/terraform-aws-eks#2220](https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2220)
- [kubernetes/autoscaler#2418](https://github.com/kubernetes/autoscaler/issues/2418)
- autoscaler:C-216, autoscaler:C-630
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.node_groups.tags import TAINT, malformed_taint_tags
from unpend.model.pod import Label
from unpend.rule import Edit, Facts, Finding, Fix, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each tag that is dropped."""
    for group in facts.inventory.node_groups:
        for tag, fault in malformed_taint_tags(group.tags):
            key = tag.key[len(TAINT) :]
            taint = next((taint for taint in group.taints if taint.key == key), None)
            propagated = taint is not None and tag.place == taint.place
            place = group.place.at("propagateASGTags") if propagated else tag.place
            if propagated and group.size.starts_empty is False:
                continue
            right = f"{taint.value}:{taint.effect}" if taint is not None else ""
            what = f"`propagateASGTags` writes the taint tag of {key} without its effect" if propagated else fault
            yield Finding(
                place,
                f"Cluster Autoscaler drops this taint tag of {group.id}: {what}.",
                related=() if taint is None else (Related("the taint that the nodes really have", taint.place),),
                salient=tag.key,
                repair=f'write the tag {tag.key} = "{right}"' if right else None,
                fixes=() if propagated or not right else (_fix(tag, right),),
            )


def _fix(tag: Label, right: str) -> Fix:
    return Fix(f'Set the tag to "{right}"', "unsafe", (Edit("set", tag.place, right),))


RULE = Rule(
    name="nodegroup-taint-tag-malformed",
    topic="nodegroups",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("nodegroups",),
)
