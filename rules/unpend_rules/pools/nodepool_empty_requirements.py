"""A NodePool that takes any instance type, or only one.

## What it checks

NodePools none of whose requirements or labels restricts the instance types (type, category, family, generation, size,
cpu, memory). A pool with a single instance type is a hint.

karpenter-ai-agent checks uploaded pools in a web application; this rule counts what the requirements leave of the
catalogue, has a name to suppress it by, and points at a line.

## Why it matters

Without a restriction Karpenter may pick a machine of ten years ago, a metal one, or one that does not suit your
licences. With one type it can never replace a node by a cheaper one, and when the type is sold out there is no other.
For a licence or a reservation that is right.

## Example

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
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
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

- [EKS Best Practices: Karpenter](https://docs.aws.amazon.com/eks/latest/best-practices/karpenter.html) -
  karpenter:U-9, karpenter §2.6
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.karpenter_labels import INSTANCE_TYPE
from unpend.rule import Facts, Finding, Rule

RESTRICTING = (
    "instance-category",
    "instance-family",
    "instance-generation",
    "instance-size",
    "instance-cpu",
    "instance-memory",
)


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each pool, at its requirements."""
    for pool in facts.inventory.node_pools:
        if pool.is_static or pool.refusals:
            continue
        keys = {r.key for r in pool.requirements} | set(pool.template_labels)
        single = next(
            (r for r in pool.requirements if r.key == INSTANCE_TYPE and r.operator == "In" and len(r.values) == 1), None
        )
        if single is not None:
            yield Finding(
                single.place.at("values"),
                f"{pool.name} has a single instance type: no node is ever replaced by a cheaper one, and none comes when "
                f"{single.values[0]} is sold out.",
                severity="info",
                repair="allow further types of the same size",
            )
        elif not any(key == INSTANCE_TYPE or key.endswith(RESTRICTING) for key in keys):
            yield Finding(
                pool.place.at("spec", "template", "spec", "requirements"),
                f"{pool.name} takes any instance type: the oldest, the largest and the metal ones too.",
                repair="restrict category and generation",
            )


RULE = Rule(
    name="nodepool-empty-requirements",
    topic="pools",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("nodepools",),
)
