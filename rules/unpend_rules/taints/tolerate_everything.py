"""An ordinary workload tolerates every taint.

## What it checks

A toleration with `operator: Exists` and no key, on a workload that is no DaemonSet and does not live in `kube-system`.
One with an effect tolerates every taint of that effect; `PreferNoSchedule` alone is harmless and not reported.

## Why it matters

The pods may land on nodes that are cordoned, not ready or reserved for others, and on GPU nodes. Karpenter does not evict
pods that tolerate its own `karpenter.sh/disrupted` taint: they die with the node.

## Example

```yaml
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  tolerations:
    - operator: Exists
  containers: [{name: web, image: web:1}]
```

## Instead

Name the taints that the workload is meant for.

```yaml
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  tolerations:
    - {key: dedicated, operator: Equal, value: batch, effect: NoSchedule}
  containers: [{name: web, image: web:1}]
```

## Options

None.

## References

- [Taints and Tolerations](https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/)
- scheduler:P-404, karpenter:A-10
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each toleration without a key."""
    for workload in facts.inventory.workloads:
        if workload.kind == "DaemonSet" or workload.namespace == "kube-system":
            continue
        for toleration in workload.template.spec.tolerations:
            if toleration.key or toleration.operator != "Exists" or toleration.effect == "PreferNoSchedule":
                continue
            which = f"every {toleration.effect} taint" if toleration.effect else "every taint"
            yield Finding(
                toleration.place,
                f"This tolerates {which}, also those of cordoned, failing and reserved nodes.",
                workload=workload.id,
                repair="name the taints that the workload is meant for",
            )


RULE = Rule(
    name="tolerate-everything",
    topic="taints",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads",),
    when=("tolerations",),
)
