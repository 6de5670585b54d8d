"""A capacity type that Karpenter does not know.

## What it checks

Values of `karpenter.sh/capacity-type` in NodePools, and in `nodeSelector` and required node affinity of workloads. Karpenter knows
`on-demand`, `spot` and `reserved`, spelt like that. A value that some Node object carries is taken as it is. In a pool, an unknown
value beside a known one is a warning: Karpenter only logs it, and the pool makes less than it says.

## Why it matters

A pool with unknown values only is not ready and makes no node at all. A pod that asks for one is rejected by Karpenter whatever
its other terms say, and no node carries the label. `ON_DEMAND`, the word of the EC2 and EKS APIs, is the usual slip.

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
        - {key: karpenter.sh/capacity-type, operator: In, values: [ON_DEMAND]}
```

## Instead

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
```

## Options

None.

## References

- [Karpenter: NodePools, capacity type](https://karpenter.sh/docs/concepts/nodepools/#capacity-type)
- [kubernetes-sigs/karpenter#2164](https://github.com/kubernetes-sigs/karpenter/pull/2164)
- karpenter:N-12, karpenter:P-4
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.karpenter_labels import CAPACITY_TYPE, KNOWN_VALUES
from unpend.model.pod import PodSpec
from unpend.rule import Facts, Finding, Rule, illegal, placement
from unpend.source.place import Place

KNOWN = KNOWN_VALUES[CAPACITY_TYPE]


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each list of values, or value, that Karpenter does not know."""
    if facts.inventory.problems or facts.inventory.node_pools:
        yield from _pools(facts)
    yield from _pods(facts)


def _pools(facts: Facts) -> Iterator[Finding]:
    from unpend.model.node_pool_rules import unknown_values
    from unpend.placement.karpenter.manifest_problems import manifest_problems

    problems = facts.memo("karpenter-problems", lambda: manifest_problems(facts.inventory))
    for told in problems.get("capacity-type", ()):
        values = told.problem.place.value
        first = next((v for v in values if v not in KNOWN), "") if isinstance(values, list) else ""
        yield illegal(told.problem, repair=_repair(str(first)))
    for pool in facts.inventory.node_pools:
        for problem in unknown_values(pool):
            requirement = problem.place.parent.parent if problem.place.parent else None
            if requirement is not None and requirement.at("key").value == CAPACITY_TYPE:
                wrong = str(problem.place.value)
                yield Finding(problem.place, f"{problem.message}.", severity="warning", repair=_repair(wrong))


def _pods(facts: Facts) -> Iterator[Finding]:
    labels = (node.labels.get(CAPACITY_TYPE) for node in facts.inventory.nodes)
    accepted = KNOWN | {label.value for label in labels if label is not None}
    for workload in facts.inventory.workloads:
        for wrong, place in _wanted(workload.template.spec, accepted):
            yield Finding(
                place,
                f"Karpenter knows no capacity type {wrong!r} (it is one of {', '.join(sorted(KNOWN))}): it rejects the pod, and no "
                "node carries the label.",
                subject=placement(workload.id),
                workload=workload.id,
                repair=_repair(wrong),
            )


def _wanted(spec: PodSpec, accepted: frozenset[str]) -> Iterator[tuple[str, Place]]:
    """Where a pod asks for unknown values only: one such term is enough for Karpenter to reject the pod."""
    for label in spec.node_selector:
        if label.key == CAPACITY_TYPE and label.value not in accepted and "$" not in label.value:
            yield label.value, label.place
    for term in spec.affinity.required or ():
        for expression in term.expressions:
            if expression.key != CAPACITY_TYPE or expression.operator != "In" or not expression.values:
                continue
            if accepted.isdisjoint(expression.values) and "$" not in "".join(expression.values):
                where = expression.place.at("values")
                yield expression.values[0], where.at(0) if len(expression.values) == 1 else where


def _repair(wrong: str) -> str | None:
    letters = "".join(letter for letter in wrong.lower() if letter.isalpha())
    meant = next((name for name in sorted(KNOWN) if name.replace("-", "") == letters), None)
    return f"write {meant}" if meant else None


RULE = Rule(
    name="capacity-type-invalid-value",
    topic="pools",
    severity="error",
    doc=__doc__,
    check=check,
    rank=15,
    competes=True,
)
