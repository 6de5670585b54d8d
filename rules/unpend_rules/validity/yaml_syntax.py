"""The text is not valid YAML or JSON, or says the same key twice.

## What it checks

Every file that was named or came by standard input, and every file met by searching that looks like a Kubernetes object. YAML is
read as kubectl reads it. A key that is written twice in one mapping is an error too. What stands before and after the faulty
document is still checked.

## Why it matters

kubectl refuses such a file. Of a key that is written twice other tools silently keep one, often not the one that was meant.

## Example

```yaml
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeSelector: {pool: batch}
  containers: [{name: web, image: web:1}]
  nodeSelector: {pool: web}
```

## Instead

```yaml
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeSelector: {pool: web}
  containers: [{name: web, image: web:1}]
```

## Options

None.

## References

- [YAML 1.2: mapping keys are unique](https://yaml.org/spec/1.2.2/#nodes)
- [Server-side field validation](https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterable[Finding]:
    """Nothing: there is no object to ask about, the engine reports what the reader met."""
    return ()


RULE = Rule(name="yaml-syntax", topic="validity", severity="error", doc=__doc__, check=check)
