"""A disruption budget that lets no node go, ever.

## What it checks

Budgets of `nodes: "0"` or `"0%"` that are active all the time: without a schedule, or with windows that open again
before they close. Percentages above 0 are rounded up, so any of them lets at least one node go.

## Why it matters

The smallest active budget counts, so this one decides. Empty nodes stay, underused nodes stay, drifted nodes keep
their old image (for the reasons that the budget names). Expiration does not ask budgets: the nodes then end all at
once, by force.

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
      - nodes: "0"
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
      - nodes: "0"
        schedule: "0 9 * * mon-fri"
        duration: 8h
      - nodes: 10%
```

## Options

None.

## References

- [Karpenter: Disruption Budgets](https://karpenter.sh/docs/concepts/disruption/#nodepool-disruption-budgets) -
  karpenter:B-2, karpenter:B-3, karpenter:B-7, karpenter:E-1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.budgets import budgets_of
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each budget that is zero at all times."""
    for pool in facts.inventory.node_pools:
        for window in budgets_of(pool).windows:
            reasons = window.budget.reasons
            if not window.is_zero or window.budget.place is None or window.fault or reasons == ():
                continue
            if window.schedule is not None and not window.never_closes():
                continue
            what = f"for the reason {' or '.join(reasons)}" if reasons else "for any reason"
            how = "" if window.schedule is None else ": its windows open again before they close"
            yield Finding(
                window.budget.place,
                f"{pool.name} lets no node go {what}, at no time{how}.",
                salient=str(window.number),
                repair="allow at least one node for some hours of the week",
            )


RULE = Rule(
    name="budget-always-zero",
    topic="budgets",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("nodepools",),
)
