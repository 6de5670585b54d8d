"""A node class that follows every new image.

## What it checks

`amiSelectorTerms` of EC2NodeClasses: an alias with `@latest`, and selectors by name with a wildcard or by tags, which
pick whatever is newest.

karpenter-ai-agent checks uploaded node classes in a web application; this rule has a name to suppress it by, and
points at a line.

## Why it matters

Each release of the image makes every node drift: the whole fleet is replaced, held back by nothing but budgets, with
an image that nobody has tried. Pin the version and roll it through your environments. No other linter reads node
classes.

## Example

```yaml
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms:
    - alias: al2023@latest
  subnetSelectorTerms: [{tags: {discovery: prod}}]
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

- [Karpenter: Managing AMIs](https://karpenter.sh/docs/tasks/managing-amis/) - karpenter §9.7, karpenter §10.2
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each term that moves."""
    for used in facts.inventory.node_classes:
        for number, term in enumerate(used.ami_terms):
            place = used.place.at("spec", "amiSelectorTerms", number)
            alias, name = term.get("alias"), term.get("name")
            if isinstance(alias, str) and alias.endswith("@latest"):
                what, where = f"{alias} is another image with every release", place.at("alias")
            elif isinstance(name, str) and any(sign in name for sign in "*?") and not term.get("id"):
                what, where = f"{name} matches every later image too", place.at("name")
            elif term.get("tags") and not (term.get("id") or name or alias):
                what, where = "tags match every later image that carries them", place.at("tags")
            else:
                continue
            yield Finding(
                where,
                f"{what}: then all nodes of the pools that use node class {used.name} drift and are replaced.",
                salient=str(number),
                repair="pin a version, such as al2023@v20260101, and change it on purpose",
            )


RULE = Rule(
    name="nodeclass-ami-latest",
    topic="pools",
    severity="warning",
    doc=__doc__,
    check=check,
)
