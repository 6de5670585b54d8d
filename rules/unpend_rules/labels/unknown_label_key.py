"""A label that the pod needs is on no node of any pool.

## What it checks

Keys of `nodeSelector` and of `In`, `Exists`, `Gt` and `Lt` expressions of required node affinity, against every label key
that some pool has or could have. `NotIn` and `DoesNotExist` hold on nodes without the label, so they are never reported.
Keys that add-ons put on nodes later (`feature.node.kubernetes.io/…`, `nvidia.com/…` and the like), keys of cloud providers and
`knownLabels` of the configuration are taken for known.

## Why it matters

Karpenter refuses with "label … does not have known values", kube-scheduler finds no node. If an add-on sets the label,
name it under `knownLabels`, so that the verdict says which fact decides.

## Example

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1}
status:
  allocatable: {cpu: "4", memory: 16Gi, pods: "58"}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeSelector: {example.com/tier: gold}
  containers: [{name: web, image: web:1}]
```

## Instead

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1, example.com/tier: gold}
status:
  allocatable: {cpu: "4", memory: 16Gi, pods: "58"}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeSelector: {example.com/tier: gold}
  containers: [{name: web, image: web:1}]
```

## Options

None.

## References

- [Karpenter: scheduling, user-defined labels](https://karpenter.sh/docs/concepts/scheduling/#user-defined-labels)
- scheduler:P-502, scheduler:P-507, karpenter:R-3
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.facts import label_supply_of
from unpend.placement.required_labels import required_labels
from unpend.rule import Facts, Finding, Rule, placement

ADD_ONS = (
    "feature.node.kubernetes.io/",
    "nvidia.com/",
    "amd.com/",
    "gpu.intel.com/",
    "topology.topolvm.io/",
    "csi.",
)


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each needed key that no pool defines."""
    supply = label_supply_of(facts)
    if not supply.pools or supply.opaque:
        return
    known = (*ADD_ONS, *facts.settings.known_labels)
    for workload in facts.inventory.workloads:
        verdict = facts.verdicts.get(workload.id)
        if verdict is None or verdict.verdict != "never":
            continue
        for needed in required_labels(workload.template.spec):
            if needed.in_every_term and not supply.defines(needed.key) and not needed.key.startswith(known):
                count = len(supply.pools)
                yield Finding(
                    needed.place,
                    f"No node has a label {needed.key}: none of the {count} pools defines it."
                    if count > 1
                    else f"No node has a label {needed.key}: the only pool does not define it.",
                    part="key" if needed.place.step == needed.key else "value",
                    certainty=verdict.certainty,
                    subject=placement(workload.id),
                    workload=workload.id,
                    verdict="never",
                    salient=needed.key,
                )


RULE = Rule(
    name="unknown-label-key",
    topic="labels",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    rank=30,
    competes=True,
    assumes_closed=("pools",),
)
