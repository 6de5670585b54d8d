"""A disruption budget whose schedule or reasons do not mean what they say.

## What it checks

Schedules that pass the pattern of the CRD and that Karpenter cannot parse; windows of budgets other than 0 that open
again before they close; `reasons: []`, which matches no reason (leaving the field out matches all). Schedules are
always UTC. What the API server refuses, such as a schedule without a duration, is reported by
`nodepool-invalid-field`.

## Why it matters

A schedule that cannot be parsed makes the budget count as 0, and with it every other budget of the pool, for every
reason: the pool stands still. A window that never closes is a budget without a schedule. No other linter parses the
schedule.

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
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 1m
    budgets:
      - nodes: "5"
        schedule: "0 25 * * *"
        duration: 8h
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
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 1m
    budgets:
      - nodes: "5"
        schedule: "0 22 * * *"
        duration: 8h
      - nodes: "1"
```

## Options

None.

## References

- [Karpenter: Disruption Budgets](https://karpenter.sh/docs/concepts/disruption/#nodepool-disruption-budgets) -
  karpenter:B-1, karpenter:B-4, karpenter:B-5, karpenter:B-7
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.budgets import budgets_of
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each budget."""
    for pool in facts.inventory.node_pools:
        for window in budgets_of(pool).windows:
            budget = window.budget
            if budget.place is None:
                continue
            if window.fault:
                yield Finding(
                    budget.place.at("schedule"),
                    f'"{budget.schedule}" is no schedule: {window.fault}. While it stands here, {pool.name} lets no node go, '
                    "whatever its other budgets say.",
                )
            elif budget.reasons == ():
                yield Finding(
                    budget.place.at("reasons"),
                    "An empty list of reasons matches none of them, so this budget limits nothing.",
                    severity="warning",
                    repair="leave `reasons` out to limit all of them",
                )
            elif window.schedule is not None and not window.is_zero and window.never_closes():
                yield Finding(
                    budget.place.at("duration"),
                    f"The window is open for longer than until the schedule {budget.schedule} hits again: it never closes.",
                    severity="warning",
                    repair="shorten the duration, or leave schedule and duration out",
                )


RULE = Rule(
    name="budget-window-invalid",
    topic="budgets",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("nodepools",),
)
