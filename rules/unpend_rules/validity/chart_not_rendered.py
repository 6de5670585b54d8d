"""Helm does not render this chart, so nothing of it was checked.

## What it checks

With `--helm`, every chart and every set of values that is asked for: a chart that `helm template` refuses is one finding, at the
place in the template that Helm names, else at the chart. The other charts and sets are checked all the same. Warnings of Helm do
not count, only its exit code does.

## Why it matters

`helm install` fails in the same way. And a check that silently leaves a chart out looks like one that passed.

## Example

```text
charts/web/templates/deployment.yaml:7: error chart-not-rendered helm cannot render charts/web with values prod: ...
```

## Instead

Repair what Helm complains about. Missing dependencies are fetched by `helm dependency build`; values that a chart requires are
given with `--values` or `--set`, or in a set of `charts` in the config.

## Options

None.

## References

- [helm template](https://helm.sh/docs/helm/helm_template/)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterable[Finding]:
    """Nothing: there is no object to ask about, the engine reports what Helm said."""
    return ()


RULE = Rule(name="chart-not-rendered", topic="validity", severity="error", doc=__doc__, check=check)
