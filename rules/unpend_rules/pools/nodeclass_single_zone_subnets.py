"""A node class whose subnets are all in one zone.

## What it checks

EC2NodeClasses that select a single subnet by id, or whose `status.subnets` all have one zone. Selectors by tags
cannot be resolved here, and nothing is said about them.

## Why it matters

Every pool with this class lives in one zone: no spread over zones, fewer spot pools, no capacity when the zone runs
out, and nothing left when it fails.

## Example

```yaml
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260101}]
  subnetSelectorTerms: [{id: subnet-0a1b2c3d}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
```

## Instead

```yaml
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260101}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
```

## Options

None.

## References

- [EKS Best Practices: Reliability](https://docs.aws.amazon.com/eks/latest/best-practices/reliability.html) -
  karpenter §10.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each node class, at its subnet selector."""
    for used in facts.inventory.node_classes:
        ids = {str(term.get("id") or "") for term in used.subnet_terms}
        zones = {subnet.zone or subnet.zone_id for subnet in used.subnets or ()}
        if len(zones) == 1:
            why = f"All subnets of {used.name} are in {next(iter(zones))}"
        elif used.subnets is None and len(ids) == 1 and "" not in ids:
            why = f"{used.name} has a single subnet, and a subnet is in one zone"
        else:
            continue
        yield Finding(
            used.place.at("spec", "subnetSelectorTerms"),
            f"{why}: all nodes of its pools stand there.",
            repair="select a subnet in each zone",
        )


RULE = Rule(
    name="nodeclass-single-zone-subnets",
    topic="pools",
    severity="warning",
    doc=__doc__,
    check=check,
)
