"""A device is requested without a limit, or with another limit.

## What it checks

Extended resources (`nvidia.com/gpu`, `aws.amazon.com/neuron` …) and huge pages of each container: the API wants a limit,
equal to the request, in whole numbers.

## Why it matters

The Deployment is accepted and its pods are refused one by one: it shows 0 pods, and nothing is Pending.

## Example

```yaml
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: web, image: web:1, resources: {requests: {nvidia.com/gpu: 1}}}]
```

## Instead

```yaml
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: web, image: web:1, resources: {limits: {nvidia.com/gpu: 1}}}]
```

## Options

None.

## References

- [Schedule GPUs](https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/)
- scheduler:A-731, scheduler:A-732
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Rule, illegal

SEMANTICS = ("scheduler:A-731", "scheduler:A-732")


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each value that the API refuses by the rules for extended resources and huge pages."""
    for problem in facts.inventory.problems:
        if problem.semantics in SEMANTICS:
            yield illegal(problem)


RULE = Rule(
    name="extended-resource-mismatch",
    topic="resources",
    severity="error",
    doc=__doc__,
    check=check,
    rank=40,
    competes=True,
)
