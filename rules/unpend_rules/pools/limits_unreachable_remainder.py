"""A limit of a NodePool that its nodes cannot use up.

## What it checks

`limits.cpu` and `limits.memory` of NodePools all of whose instance types have one and the same size, as the catalogue
knows them: what is left when as many nodes as possible are there.

## Why it matters

Karpenter launches no node that would go over the limit, so the remainder is never reached: whoever reckons with it
waits for capacity that does not come.

## Example

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: big}
spec:
  limits:
    cpu: "2063"
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [r6a.8xlarge]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
```

## Instead

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: big}
spec:
  limits: {cpu: "2048"}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [r6a.8xlarge]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
```

## Options

None.

## References

- [Karpenter: NodePools, limits](https://karpenter.sh/docs/concepts/nodepools/#speclimits) - karpenter:L-1,
  karpenter:L-2
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.algebra.quantity import render
from unpend.disruption.pool_shapes import pool_types
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each limit with a remainder."""
    for pool in facts.inventory.node_pools:
        limits = {name: pool.limits[name] for name in ("cpu", "memory") if name in pool.limits}
        types = pool_types(facts, pool) if limits and not pool.is_static else None
        for name, limit in limits.items() if types is not None else ():
            sizes = types.capacity.get(name, ()) if types is not None else ()
            # Memory of a type is only known within bounds, so that a small remainder says nothing.
            if len(sizes) != 1 or sizes[0] <= 0 or (name == "memory" and limit.milli % sizes[0] < sizes[0] // 10):
                continue
            count, rest = divmod(limit.milli, sizes[0])
            if rest and count:
                yield Finding(
                    limit.place,
                    f"The {name} limit of {pool.name}, {limit.text}, is enough for {count} nodes of "
                    f"{render(sizes[0], name)}; the remaining {render(rest, name)} can never be used.",
                    certainty="catalog",
                    repair=f"use a multiple of {render(sizes[0], name)}",
                )


RULE = Rule(
    name="limits-unreachable-remainder",
    topic="pools",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("nodepools",),
)
