"""A suppression that suppresses nothing: unused, expired, misspelt or malformed.

## What it checks

Comments `# unpend: ignore[rule] -- reason`, annotations `unpend.dev/ignore` and entries under `ignore` in the configuration.
One is reported when it names a rule that does not exist, when its last day (`until`) has passed, when it has another form,
or when the rule it names was asked about the object and had nothing to say. A rule that was not asked (it is off, or the
input does not give what it needs) leaves the suppression alone.

## Why it matters

A suppression that outlives its cause hides the next fault at the same place, and a misspelt one hides nothing although
everybody believes it does.

## Example

```yaml
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  # unpend: ignore[tolerate-everything] -- needed for the old nodes
  tolerations:
    - {key: dedicated, operator: Exists}
  containers: [{name: web, image: web:1}]
```

## Instead

Remove it, or correct the name or the day.

```yaml
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  # unpend: ignore[tolerate-everything] -- this agent runs on every node
  tolerations:
    - {operator: Exists}
  containers: [{name: web, image: web:1}]
```

## Options

None.

## References

None: this is about unpend itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterable[Finding]:
    """Nothing: only the engine knows, at the end of a run, which suppressions were used."""
    return ()


RULE = Rule(name="unused-suppression", topic="meta", severity="warning", doc=__doc__, check=check)
