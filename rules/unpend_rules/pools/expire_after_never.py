"""Nodes that are never rotated, or rotated all the time.

## What it checks

`expireAfter: Never`, and an `expireAfter` below `shortest`. Where the node class follows the newest image
(`@latest`), drift rotates the nodes, and Never is a hint.

## Why it matters

A node that never expires keeps its kernel and kubelet for as long as something runs on it. One that lives for minutes
drains all the time, and expiration asks neither budgets nor PodDisruptionBudgets before it begins.

## Example

```yaml
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260101}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
---
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
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
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
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  limits: {cpu: "100"}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      expireAfter: 336h
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
```

## Options

- `shortest` (minutes, default 60): an expireAfter below it is reported.

## References

- [Karpenter: Disruption, Expiration](https://karpenter.sh/docs/concepts/disruption/#expiration) - karpenter:E-1,
  karpenter §9.7
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Option, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each pool, at `expireAfter`."""
    classes = {(c.group, c.kind, c.name): c for c in facts.inventory.node_classes}
    for pool in facts.inventory.node_pools:
        expire = pool.expire_after
        if expire.place is None:
            continue
        if expire.seconds is None:
            used = classes.get((pool.node_class.group, pool.node_class.kind, pool.node_class.name))
            follows = used is not None and (used.alias or "").endswith("@latest")
            more = (
                " than by drift to each new image"
                if follows
                else ", so it keeps its image as long as anything runs on it"
            )
            yield Finding(
                expire.place,
                f"A node of {pool.name} is never replaced by age{more}.",
                severity="info" if follows else None,
                repair="set a time, such as 720h, with a terminationGracePeriod",
            )
        elif expire.seconds < options["shortest"] * 60:
            yield Finding(
                expire.place,
                f"A node of {pool.name} is drained {expire.text} after it started, without asking any budget.",
                repair=f"let it live for at least {options['shortest']} min",
            )


RULE = Rule(
    name="expire-after-never",
    topic="pools",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("nodepools",),
    options=(Option("shortest", 60, "minutes below which expireAfter is reported", 0),),
)
