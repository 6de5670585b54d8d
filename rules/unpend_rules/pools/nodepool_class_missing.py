"""A NodePool refers to a node class that is not there.

## What it checks

`nodeClassRef` of every NodePool against the node classes given, by group, kind and name, and `nodeClasses` of the configuration. A
kind that the group's provider does not have is an error in any case. Where the classes are not known to be complete, a missing one
is a warning as long as other classes of the kind are there, else a hint. A class that no manifest makes, such as `default` of EKS
Auto Mode, and kinds of unknown providers are not reported.

karpenter-ai-agent compares uploaded pools with node classes as well; this rule also reads group and kind, knows
whether the files are complete, and points at a line.

## Why it matters

Karpenter sets the reason `NodeClassNotFound` and skips the pool; with a wrong group or kind it skips the pool without a word.
karpenter-ai-agent, which lets a language model review NodePools, looks for this as well; here the text decides, with the place of
both sides.

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
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: defualt}
      requirements: []
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
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: []
```

## Options

None.

## References

- [Karpenter: NodePools, nodeClassRef](https://karpenter.sh/docs/concepts/nodepools/#spectemplatespecnodeclassref)
- karpenter §1.4
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from unpend.model.karpenter import NodeClassRef
from unpend.rule import Facts, Finding, Related, Rule, Severity

PROVIDERS = {
    "karpenter.k8s.aws": "EC2NodeClass",
    "karpenter.azure.com": "AKSNodeClass",
    "eks.amazonaws.com": "NodeClass",
}
MADE_BY_THE_PROVIDER = frozenset({("eks.amazonaws.com", "default")})


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each NodePool whose node class is missing or of a kind that does not exist."""
    given = {(c.group, c.kind, c.name): c for c in facts.inventory.node_classes}
    for pool in facts.inventory.node_pools:
        ref = pool.node_class
        written = (ref.group, ref.kind, ref.name)
        if written in given or not all(written) or "/" in ref.group or "$" in "".join(written):
            continue
        kind = PROVIDERS.get(ref.group)
        if kind is not None and ref.kind != kind:
            yield Finding(
                ref.place.at("kind"),
                f"{ref.group} has no kind {ref.kind}: Karpenter skips the pool without a word.",
                related=tuple(Related("the node class", c.place) for c in given.values() if c.name == ref.name),
                repair=f"write kind {kind}",
                assumes_closed=(),
            )
        elif kind is not None or any(c[:2] == written[:2] for c in given):
            yield from _missing(facts, ref, [c for c in given if c[:2] == written[:2]])


def _missing(facts: Facts, ref: NodeClassRef, others: list[tuple[str, str, str]]) -> Iterator[Finding]:
    if (ref.group, ref.name) in MADE_BY_THE_PROVIDER or ref.name in facts.settings.node_classes:
        return
    names = sorted(name for *_, name in others)
    close = get_close_matches(ref.name, names, 1, 0.75)
    closed = facts.settings.world.classes == "closed"
    severity: Severity = "error" if closed else "warning" if names else "info"
    there = f"; there is {', '.join(names[:5])}" if names else ""
    places = [Related("this one is there", c.place) for c in facts.inventory.node_classes if c.name in close]
    yield Finding(
        ref.place.at("name"),
        f"There is no {ref.kind} {ref.name!r}{there}: the pool makes no node (NodeClassNotFound)"
        + ("." if closed else ", unless the class is kept elsewhere."),
        related=tuple(places[:1]),
        severity=severity,
        repair=f"write {close[0]}" if close else None,
    )


RULE = Rule(
    name="nodepool-class-missing",
    topic="pools",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("nodepools",),
)
