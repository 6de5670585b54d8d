"""A field of a NodePool that the API server refuses, drops, or that takes the whole pool out of service.

## What it checks

Every field against the schema and the validation rules of the Karpenter version of the configuration: types, operators and the
number of their values, durations, budgets, weight, taints (also one that is in `taints` and `startupTaints` at once), static
`replicas` beside `weight` or other limits, fields that moved or never existed. Label keys, capacity types and `minValues` have
rules of their own.

## Why it matters

An object that is refused is noticed by whoever applies it. A field that does not exist is dropped without a word, so `720h`
counts where the author wrote another `expireAfter`. And some values pass the API server and then make the controller set
`ValidationSucceeded` to False: the pool is "not ready" and ignored for everything. Schema checkers such as kubeconform see the
first kind only.

## Example

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-cpu, operator: Gt, values: ["3", "15"]}
      expireAfter: 30d
```

## Instead

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-cpu, operator: Gt, values: ["3"]}
        - {key: karpenter.k8s.aws/instance-cpu, operator: Lt, values: ["16"]}
      expireAfter: 720h
```

## Options

None.

## References

- [Karpenter: NodePools](https://karpenter.sh/docs/concepts/nodepools/)
- karpenter:N-3, karpenter:N-4, karpenter:N-5, karpenter:N-6, karpenter:N-7, karpenter:N-11, karpenter:N-12
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.karpenter.manifest_problems import manifest_problems
from unpend.rule import Facts, Finding, Rule, illegal


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each wrong value of a NodePool."""
    problems = facts.memo("karpenter-problems", lambda: manifest_problems(facts.inventory))
    for told in problems.get("pool-field", ()):
        yield illegal(told.problem, owns=told.owns)


RULE = Rule(
    name="nodepool-invalid-field",
    topic="pools",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("nodepools",),
    rank=100,
    competes=True,
)
