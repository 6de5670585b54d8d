"""The requirements or limits of a NodePool leave no instance type that it could launch.

## What it checks

The requirements of each NodePool against each other and against the catalogue of instance types with their zones and capacity
types; then its limits against the smallest type that is left. The date of the catalogue is in the message. Where a family, type or
generation is asked for that the catalogue does not know, it is a warning: it may be newer than the catalogue.

## Why it matters

The NodePool gets the event `NoCompatibleInstanceTypes`, and its pods read "nodepool requirements filtered out all available
instance types" or "all available instance types exceed limits for nodepool". The usual slips: `instance-memory` counts MiB, not GiB;
a size that the family does not have; a generation of one architecture with the category of another.

## Example

```yaml
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: KarpenterNode
  amiSelectorTerms: [{alias: al2023@v20260115}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: memory}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-memory, operator: Gt, values: ["16"]}
        - {key: karpenter.k8s.aws/instance-memory, operator: Lt, values: ["64"]}
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
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: memory}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-memory, operator: Gt, values: ["16383"]}
        - {key: karpenter.k8s.aws/instance-memory, operator: Lt, values: ["65537"]}
```

## Options

None.

## References

- [Karpenter: NodePools, requirements](https://karpenter.sh/docs/concepts/nodepools/#spectemplatespecrequirements)
- [kubernetes-sigs/karpenter#2152](https://github.com/kubernetes-sigs/karpenter/issues/2152)
- karpenter §7.4, karpenter:L-4
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.facts import managed_pools_of
from unpend.placement.karpenter.managed import ManagedPool
from unpend.placement.karpenter.pool_facts import NoTypes, is_legal, no_types
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each NodePool that can launch nothing."""
    pools = managed_pools_of(facts)
    for found in pools.pools:
        if not is_legal(found):
            continue
        nothing = no_types(found, pools)
        if nothing is not None:
            yield _finding(found, nothing)
        elif found.unusable is not None and found.unusable.cause == "limits":
            yield Finding(
                found.unusable.place or found.pool.place,
                f"{found.unusable.message[0].upper()}{found.unusable.message[1:]}{_dated(found)}.",
                certainty="catalog",
                repair="raise the limit above the smallest instance type, or allow smaller ones",
            )


def _finding(found: ManagedPool, nothing: NoTypes) -> Finding:
    place = found.source.requirements()
    related: tuple[Related, ...] = ()
    if nothing.requirements:
        place = nothing.requirements[-1].place
        related = tuple(Related("together with this requirement", r.place) for r in nothing.requirements[:-1])
    if nothing.keys:
        keys = ", ".join(nothing.keys)
        message = (
            f"{found.name} can launch nothing: its requirements leave no value of {keys}, which every instance type has"
        )
        return Finding(place, f"{message}.", related=related, repair=nothing.hint or None)
    if nothing.news is not None:
        message = f"{found.name} can launch no instance type that is known{_dated(found)}; {nothing.news} may be newer"
        return Finding(place, f"{message}.", related=related, severity="warning", certainty="catalog")
    message = f"No instance type meets the requirements of {found.name}{_dated(found)}"
    return Finding(place, f"{message}.", related=related, certainty="catalog", repair=nothing.hint or None)


def _dated(found: ManagedPool) -> str:
    if found.catalog is None or not found.catalog.date:
        return ""
    return f" ({found.catalog.name} catalogue of {found.catalog.date})"


RULE = Rule(
    name="nodepool-no-instance-type",
    topic="pools",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("nodepools",),
)
