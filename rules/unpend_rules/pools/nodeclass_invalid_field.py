"""A field of an EC2NodeClass that the API server refuses, or that keeps the class from getting ready.

## What it checks

Selector terms for subnets, security groups and images (at least one, at most 30, `id` and `alias` alone), the image family and
alias, `role` or `instanceProfile`, block devices, the disk policy, kubelet reservations.

## Why it matters

Every NodePool that names the class is skipped while the class is not there or not Ready ("NodeClassNotFound"), so all of their
pods stay Pending at once.

## Example

```yaml
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: KarpenterNode
  amiFamily: AL2023
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
```

## Instead

```yaml
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: KarpenterNode
  amiSelectorTerms: [{alias: al2023@v20260115}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
```

## Options

None.

## References

- [Karpenter: NodeClasses](https://karpenter.sh/docs/concepts/nodeclasses/)
- karpenter §10.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.karpenter.manifest_problems import manifest_problems
from unpend.rule import Facts, Finding, Related, Rule, illegal
from unpend.source.place import Place


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each wrong value of an EC2NodeClass, with the pools that depend on the class."""
    problems = facts.memo("karpenter-problems", lambda: manifest_problems(facts.inventory))
    for told in problems.get("class-field", ()):
        users = tuple(_users(facts, told.problem.place)) if told.problem.refused else ()
        yield illegal(told.problem, users, owns=told.owns)


def _users(facts: Facts, place: Place) -> Iterator[Related]:
    for node_class in facts.inventory.node_classes:
        if node_class.object is place.object:
            for pool in facts.inventory.node_pools:
                ref = pool.node_class
                if (ref.group, ref.kind, ref.name) == (node_class.group, node_class.kind, node_class.name):
                    yield Related(f"NodePool {pool.name} makes no node without it", ref.place)


RULE = Rule(
    name="nodeclass-invalid-field",
    topic="pools",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("karpenter",),
    rank=100,
    competes=True,
)
