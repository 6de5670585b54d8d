"""A NodePool sets or requires a label that belongs to Karpenter or to the kubelet.

## What it checks

Keys of `spec.template.metadata.labels` and of `requirements`: `karpenter.sh/nodepool` and `kubernetes.io/hostname`, keys in
`karpenter.sh` and, under the AWS provider, in `karpenter.k8s.aws` that Karpenter does not define, and before Karpenter 1.9 keys in
`kubernetes.io` and `k8s.io`. The end of the domain counts, as in Karpenter's own check: `mykarpenter.sh/x` is refused too.

## Why it matters

The API server refuses the NodePool. Some keys, such as `karpenter.k8s.aws/ec2nodeclass`, pass it and then make the controller
report `ValidationSucceeded=False`: the pool is there, is never ready, and makes no node.

## Example

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: batch}
spec:
  template:
    metadata:
      labels: {karpenter.sh/team: batch}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: []
```

## Instead

Use a domain of your own. To send pods to this pool, they may select `karpenter.sh/nodepool`, which every node carries.

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: batch}
spec:
  template:
    metadata:
      labels: {example.com/team: batch}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: []
```

## Options

None.

## References

- [Karpenter: well-known labels](https://karpenter.sh/docs/concepts/scheduling/#well-known-labels)
- karpenter:N-1, karpenter:N-2, karpenter:N-8, karpenter:N-9, karpenter:N-10
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.karpenter.manifest_problems import manifest_problems
from unpend.rule import Facts, Finding, Rule, illegal


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each label key that a NodePool may not name."""
    problems = facts.memo("karpenter-problems", lambda: manifest_problems(facts.inventory))
    for told in problems.get("label", ()):
        yield illegal(told.problem, repair="use a key in a domain of your own")


RULE = Rule(
    name="nodepool-restricted-label",
    topic="pools",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("nodepools",),
    rank=90,
    competes=True,
)
