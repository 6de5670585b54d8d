"""A minValues that leaves no cheaper choice for most nodes of a pool.

## What it checks

`minValues` on instance types, families and the like in NodePools that are consolidated, against the number of values
that the types of the catalogue have: it is reported when it takes more than half of them.

## Why it matters

A cheaper node has to come from types that are cheaper than the present one and still show `minValues` different
values. A node on one of the cheapest types can then never be replaced: Karpenter says "minValues requirement is not
met" and leaves it.

## Example

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: spot}
spec:
  limits: {cpu: "100"}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - key: node.kubernetes.io/instance-type
          operator: In
          values: [m5.large, m6i.large, m7i.large, m5.xlarge, m6i.xlarge]
          minValues: 4
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
```

## Instead

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: spot}
spec:
  limits: {cpu: "100"}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - key: node.kubernetes.io/instance-type
          operator: In
          values: [m5.large, m6i.large, m7i.large, m5.xlarge, m6i.xlarge]
          minValues: 2
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
```

## Options

None.

## References

- [Karpenter: NodePools, minValues](https://karpenter.sh/docs/concepts/nodepools/#min-values) - karpenter:U-10,
  karpenter §2.8
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.consolidation import why_not_consolidated
from unpend.disruption.pool_shapes import pool_types
from unpend.model.karpenter_labels import INSTANCE_TYPE
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each requirement that takes more than half of its values."""
    for pool in facts.inventory.node_pools:
        for requirement in pool.requirements:
            least = requirement.min_values
            if least is None or least < 2 or why_not_consolidated(pool) is not None:
                continue
            count = len(requirement.values) if requirement.operator == "In" else None
            if requirement.key == INSTANCE_TYPE:
                types = pool_types(facts, pool)
                count = len(types.names) if types is not None else count
            if count is not None and count >= least > count / 2:
                yield Finding(
                    requirement.place.at("minValues"),
                    f"minValues takes {least} of {count} values of {requirement.key}: a node of {pool.name} is replaced only "
                    f"while {least} cheaper ones are left, which most of its nodes never have.",
                    salient=requirement.key,
                    repair="allow more values, or lower minValues",
                )


RULE = Rule(
    name="min-values-blocks-replacement",
    topic="disruption",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("nodepools",),
    enabled=False,
    profiles=("cost",),
)
