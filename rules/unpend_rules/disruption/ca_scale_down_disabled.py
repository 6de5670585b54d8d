"""A node that Cluster Autoscaler must never remove.

## What it checks

The annotation `cluster-autoscaler.kubernetes.io/scale-down-disabled: "true"` on Nodes.

## Why it matters

Set by hand during an incident, or by the bootstrap script of a whole group, it is soon forgotten: the node is paid
for whether anything runs on it or not.

## Example

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  annotations:
    cluster-autoscaler.kubernetes.io/scale-down-disabled: "true"
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
```

## Instead

```yaml
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
```

## Options

None.

## References

- [Cluster Autoscaler FAQ](https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md) -
  autoscaler:C-401
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Rule

DISABLED = "cluster-autoscaler.kubernetes.io/scale-down-disabled"


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each node, at the annotation."""
    for node in facts.inventory.nodes:
        mark = node.annotations.get(DISABLED)
        if mark is not None and mark.value == "true":
            yield Finding(
                mark.place,
                f"Cluster Autoscaler never removes {node.name}, even when nothing runs on it.",
                repair="remove the annotation when it is not needed any more",
            )


RULE = Rule(
    name="ca-scale-down-disabled",
    topic="disruption",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("nodes",),
)
