"""A spot pool whose nodes are never replaced by cheaper ones.

## What it checks

NodePools with spot nodes only: with the feature gate SpotToSpotConsolidation off no spot node is replaced by a spot
node, and with it on a single node is replaced only if 15 cheaper types are left, which a pool of fewer than 16 types
never has.

## Why it matters

Karpenter wants a wide choice before it trades one spot node for another, lest it end in the cheapest and most often
interrupted pool. What is left is deleting nodes and merging several into one.

## Example

```yaml
# .unpend.yaml
clusters:
  prod:
    karpenter: {featureGates: {SpotToSpotConsolidation: true}}
```

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: spot-small}
spec:
  limits: {cpu: "100"}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
        - key: node.kubernetes.io/instance-type
          operator: In
          values: [c5.large, c5a.large, c6i.large, c6a.large, m5.large, m6i.large]
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
```

## Instead

```yaml
# .unpend.yaml
clusters:
  prod:
    karpenter: {featureGates: {SpotToSpotConsolidation: true}}
```

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: spot-wide}
spec:
  limits: {cpu: "100"}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
```

## Options

None.

## References

- [Karpenter: Disruption, spot consolidation](https://karpenter.sh/docs/concepts/disruption/#spot-consolidation) -
  karpenter:U-11, karpenter:U-12
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.consolidation import why_not_consolidated
from unpend.disruption.pool_shapes import pool_types
from unpend.model.karpenter_labels import CAPACITY_TYPE, INSTANCE_TYPE
from unpend.rule import Facts, Finding, Rule

CHEAPER = 15


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each pool of spot nodes, at its instance types."""
    gate = facts.settings.karpenter.gate("SpotToSpotConsolidation")
    for pool in facts.inventory.node_pools:
        capacity = next((r for r in pool.requirements if r.key == CAPACITY_TYPE), None)
        spot_only = capacity is not None and capacity.operator == "In" and set(capacity.values) == {"spot"}
        if not spot_only or capacity is None or why_not_consolidated(pool) is not None:
            continue
        if not gate:
            yield Finding(
                capacity.place,
                f"The feature gate SpotToSpotConsolidation is off: a node of {pool.name} is deleted or merged with others, "
                "but never replaced by a cheaper one.",
                repair="switch the gate on, with a wide choice of types",
            )
            continue
        listed = next((r for r in pool.requirements if r.key == INSTANCE_TYPE and r.operator == "In"), None)
        types = pool_types(facts, pool)
        count = len(types.names) if types is not None else len(listed.values) if listed is not None else None
        if count is not None and count <= CHEAPER:
            yield Finding(
                listed.place.at("values") if listed else pool.place.at("spec", "template", "spec", "requirements"),
                f"{pool.name} has {count} instance types, and a spot node is replaced only if {CHEAPER} cheaper ones are left: "
                "that never happens.",
                certainty="catalog" if listed is None else "proved",
                repair=f"allow well over {CHEAPER} types",
            )


RULE = Rule(
    name="spot-replacement-impossible",
    topic="disruption",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("nodepools",),
)
