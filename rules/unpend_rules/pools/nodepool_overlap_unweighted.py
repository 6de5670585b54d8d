"""Two NodePools of one weight that could make the same node for the same pod.

## What it checks

Requirements and taints of NodePools as sets. Two pools are reported when they have the same weight, the same taints
that keep pods away, and values in common for every label. A label of your own that only one of them has, or in which
they have no value in common, is a deliberate split and is left alone.

## Why it matters

Karpenter tries pools by weight, then by name from the end of the alphabet: `z` before `a`. Which pool a pod lands in,
with its limits, budgets and node class, then hangs on how somebody named it. No other linter compares pools with one
another.

## Example

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a-old}
spec:
  limits: {cpu: "100"}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  limits: {cpu: "100"}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
```

## Instead

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a-old}
spec:
  limits: {cpu: "100"}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  weight: 10
  limits: {cpu: "100"}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
```

## Options

None.

## References

- [Karpenter: Scheduling, weighted NodePools](https://karpenter.sh/docs/concepts/scheduling/#weighted-nodepools) -
  karpenter §1.7
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.consolidation import named
from unpend.disruption.pool_overlap import Overlap, overlaps
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each pool that takes precedence by its name only."""
    shadowed: dict[str, list[Overlap]] = {}
    for found in overlaps(facts.inventory, facts.settings):
        shadowed.setdefault(found.first.name, []).append(found)
    for pairs in shadowed.values():
        first = pairs[0].first
        seconds = tuple(pair.second for pair in pairs)
        yield Finding(
            first.place.at("spec", "weight"),
            f"{first.name} and {named(seconds)} can make the same nodes at the same weight ({first.weight}): {first.name} is "
            "tried first only because its name comes later in the alphabet.",
            related=tuple(Related(f"{pool.name} overlaps", pool.place.at("spec", "weight")) for pool in seconds[:3]),
            repair="give the one that shall come first a higher weight",
        )


RULE = Rule(
    name="nodepool-overlap-unweighted",
    topic="pools",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("nodepools",),
)
