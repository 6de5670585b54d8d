"""A disruption budget with a window, and no limit outside of it.

## What it checks

Pools in which all budgets for a reason have a schedule, so that at some times of the week none is active. It is a
hint where the windows are all 0: a freeze; and where all budgets name reasons and leave out another one, which then
has no limit.

## Why it matters

A budget limits, it does not permit. Outside its window it does not count, and with no other budget active there is no
limit at all: writing `budgets` also takes away the default of 10%. Whoever wanted disruption *only* inside the window
gets the opposite. No other linter reads the windows.

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
      - nodes: 80%
        schedule: "0 * * * *"
        duration: 15m
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
      - nodes: 80%
        schedule: "0 * * * *"
        duration: 15m
      - nodes: 10%
```

## Options

None.

## References

- [Karpenter: Disruption Budgets](https://karpenter.sh/docs/concepts/disruption/#nodepool-disruption-budgets) -
  [aws/karpenter-provider-aws#8247](https://github.com/aws/karpenter-provider-aws/issues/8247) - karpenter:B-3
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.budgets import REASONS, PoolBudgets, budgets_of
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each pool, at the first window."""
    for pool in facts.inventory.node_pools:
        budgets = budgets_of(pool)
        if budgets.broken or pool.is_static:
            continue
        yield from _unnamed(budgets)
        for reason in ("Underutilized", "Empty", "Drifted"):
            windows = budgets.of(reason)
            if not windows or any(w.schedule is None for w in windows):
                continue
            free = [slot for slot in budgets.year(reason) if not slot.open]
            first = windows[0]
            if free and first.budget.place is not None:
                share = sum(slot.end - slot.start for slot in free) / budgets.year(reason)[-1].end
                yield Finding(
                    first.budget.place,
                    f"Outside {'its window' if len(windows) == 1 else 'their windows'} nothing limits how many nodes of "
                    f"{pool.name} go at once: that is {share:.0%} of the time.",
                    severity="info" if all(w.is_zero for w in windows) else None,
                    salient=reason,
                    repair='add a budget without a schedule, such as `nodes: "0"` for "only inside the window" or 10%',
                )
                break


def _unnamed(budgets: PoolBudgets) -> Iterator[Finding]:
    named = [w for w in budgets.windows if w.budget.reasons and w.budget.place is not None]
    missing = [reason for reason in REASONS if not budgets.of(reason)]
    if named and missing and named[0].budget.place is not None:
        yield Finding(
            named[0].budget.place,
            f"No budget of {budgets.pool.name} is for the reason {' or '.join(missing)}: for it all nodes may go at once.",
            severity="info",
            salient=" ".join(missing),
            repair="add a budget without `reasons`, such as 10%",
        )


RULE = Rule(
    name="budget-window-leaves-rest-unlimited",
    topic="budgets",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("nodepools",),
)
