"""A NodePool without limits.

## What it checks

`spec.limits` of NodePools. A static pool only needs `limits.nodes` when it may surge, and is left alone.

karpenter-ai-agent checks uploaded pools and node classes in a web application; this rule has a name to suppress it
by, and points at a line.

## Why it matters

Nothing stops a pool without limits: a loop of nodes that the scheduler refuses, or a wrong replica count, runs until
the account's quota or the budget does. EKS best practices ask for limits on every pool; no other linter checks it.

## Example

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
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

## Options

None.

## References

- [EKS Best Practices: Karpenter](https://docs.aws.amazon.com/eks/latest/best-practices/karpenter.html) - karpenter
  §1.6
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each pool."""
    for pool in facts.inventory.node_pools:
        if not pool.limits and not pool.is_static:
            yield Finding(
                pool.place.at("spec", "limits"),
                f"{pool.name} has no limits: nothing stops it from launching nodes.",
                repair="set spec.limits.cpu and spec.limits.memory to what you are ready to pay for",
            )


RULE = Rule(
    name="nodepool-no-limits",
    topic="pools",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("nodepools",),
)
