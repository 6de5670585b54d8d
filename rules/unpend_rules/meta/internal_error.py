"""A part of unpend failed, and what it would have found is not known.

## What it checks

Nothing in the manifests: when a rule or an analysis raises an error, the run goes on without it and this finding names the
rule, the error and where it happened. The exit code is 2, whatever else was found.

## Why it matters

A check that broke down silently looks like a check that passed.

## Example

```text
rule untolerated-taint failed: KeyError: 'effect' (in unpend_rules.taints.untolerated_taint:61); the other rules did run.
```

## Instead

Report it with the manifest that causes it. Until it is repaired, `ignoreRules` can leave the rule out; the finding itself
cannot be suppressed.

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
    """Nothing: the engine reports what it caught."""
    return ()


RULE = Rule(name="internal-error", topic="meta", severity="error", doc=__doc__, check=check)
