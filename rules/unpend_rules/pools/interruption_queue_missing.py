"""Spot nodes, and Karpenter does not hear that they will be taken away.

## What it checks

NodePools that may launch spot nodes, while `karpenter.interruptionQueue` of the cluster is set to false in the
config. Silent when the config does not say.

## Why it matters

EC2 gives two minutes of notice. Without the queue Karpenter does not know, so nothing is drained and no replacement
is started: the pods just vanish. No other linter knows the setting.

## Example

```yaml
# .unpend.yaml
clusters: {prod: {karpenter: {interruptionQueue: false}}}
```

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  limits: {cpu: "100"}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
```

## Instead

```yaml
# .unpend.yaml
clusters: {prod: {karpenter: {interruptionQueue: false}}}
```

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  limits: {cpu: "100"}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
```

## Options

None.

## References

- [Karpenter: Disruption, Interruption](https://karpenter.sh/docs/concepts/disruption/#interruption) - karpenter:E-3
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.karpenter_labels import CAPACITY_TYPE
from unpend.placement.karpenter.grid import admitted
from unpend.placement.karpenter.template import template_requirements
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each pool with spot nodes, at what allows them."""
    if facts.settings.karpenter.interruption_queue is not False:
        return
    for pool in facts.inventory.node_pools:
        allowed = admitted(template_requirements(pool).get(CAPACITY_TYPE))
        if not allowed.admits("spot"):
            continue
        written = next((r.place for r in pool.requirements if r.key == CAPACITY_TYPE), None)
        yield Finding(
            written or pool.place.at("spec", "template", "spec", "requirements"),
            f"{pool.name} launches spot nodes, and no interruption queue is set: Karpenter does not hear the two-minute "
            "notice, and their pods vanish without a drain.",
            repair="set settings.interruptionQueue of Karpenter",
        )


RULE = Rule(
    name="interruption-queue-missing",
    topic="pools",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("nodepools",),
)
