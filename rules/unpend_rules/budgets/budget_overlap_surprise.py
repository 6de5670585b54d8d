"""Disruption budgets that together leave no time at all, or a freeze that expiration ignores.

## What it checks

The windows of all budgets of a pool over a year, in UTC: several windows of `nodes: "0"` that together cover all of
the time although none of them does so alone. As a hint: windows of 0 that hold back drift too, on a pool whose nodes
expire.

## Why it matters

The smallest active budget counts. A night window and a day window, written by two people, meet, and no node goes any
more. And a freeze does not hold back `expireAfter`: it asks no budget and drains nodes in the middle of it. No other
linter lays the windows over one another.

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
      expireAfter: Never
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 1m
    budgets:
      - nodes: "0"
        schedule: "0 8 * * *"
        duration: 12h
      - nodes: "0"
        schedule: "0 20 * * *"
        duration: 12h
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
      expireAfter: Never
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 1m
    budgets:
      - nodes: "0"
        schedule: "0 8 * * *"
        duration: 12h
      - nodes: 10%
```

## Options

None.

## References

- [Karpenter: Disruption Budgets](https://karpenter.sh/docs/concepts/disruption/#nodepool-disruption-budgets) -
  karpenter:B-3, karpenter:B-6, karpenter:E-1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.budgets import REASONS, PoolBudgets, Window, budgets_of
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each pool, at the last of the budgets that meet, or at the first window of a freeze."""
    for pool in facts.inventory.node_pools:
        budgets = budgets_of(pool)
        zero = [w for w in budgets.windows if w.is_zero and w.schedule and w.budget.place and w.budget.reasons != ()]
        if not zero or budgets.broken:
            continue
        met = _meeting(budgets, zero)
        if met is not None:
            reason, windows = met
            yield Finding(
                windows[-1].budget.place or pool.place,
                f"Together these budgets of {pool.name} are 0 at every minute for the reason {reason}, although none of them "
                "is alone: no node ever goes.",
                related=tuple(Related("the other window", w.budget.place) for w in windows[:-1] if w.budget.place),
                repair="leave some hours of the week free",
            )
            continue
        freezes = [w for w in zero if w.concerns("Drifted") and not w.never_closes()]
        if freezes and pool.expire_after.seconds is not None:
            yield Finding(
                freezes[0].budget.place or pool.place,
                f"Expiration asks no budget: after {pool.expire_after.text} a node of {pool.name} is drained in this window too.",
                related=(Related("nodes expire", pool.expire_after.place),) if pool.expire_after.place else (),
                severity="info",
                repair="set expireAfter: Never and let drift replace nodes, or accept it",
            )


def _meeting(budgets: PoolBudgets, zero: list[Window]) -> tuple[str, list[Window]] | None:
    for reason in REASONS:
        concerned = [w for w in zero if w.concerns(reason)]
        always = any(w.is_zero and w.schedule is None for w in budgets.of(reason))
        if len(concerned) < 2 or always or any(w.never_closes() for w in concerned):
            continue
        if budgets.always_zero(reason):
            return reason, concerned
    return None


RULE = Rule(
    name="budget-overlap-surprise",
    topic="budgets",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("nodepools",),
)
