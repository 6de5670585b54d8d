"""The RuntimeClass of a pod asks for nodes that contradict the pod, or that no pool has.

## What it checks

`scheduling.nodeSelector` of the class is merged into the pod. The same key with another value is refused by the API; a key
that no pool has, or overhead that the pod writes itself and differently, is reported too.

## Why it matters

The pods are refused (a Deployment then shows 0 pods), or stay Pending although nothing in their own manifest is wrong: the
requirement stands in another file.

## Example

```yaml
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: gvisor}
handler: runsc
scheduling:
  nodeSelector: {runtime: gvisor}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  runtimeClassName: gvisor
  nodeSelector: {runtime: runc}
  containers: [{name: web, image: web:1}]
```

## Instead

```yaml
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: gvisor}
handler: runsc
scheduling:
  nodeSelector: {runtime: gvisor}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  runtimeClassName: gvisor
  containers: [{name: web, image: web:1}]
```

## Options

None.

## References

- [Runtime Class: scheduling](https://kubernetes.io/docs/concepts/containers/runtime-class/#scheduling)
- scheduler:A-212, scheduler:A-213, scheduler:A-215
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.blame import blame
from unpend.rule import Facts, Finding, Related, Rule, refused, unplaced


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each pod that its class makes impossible, at `runtimeClassName`."""
    for workload in facts.inventory.workloads:
        spec = workload.template.spec
        if not spec.runtime_class:
            continue
        for refusal in facts.effective(workload).refusals:
            if refusal.semantics in ("scheduler:A-212", "scheduler:A-213"):
                yield refused(refusal, workload.id, "never", assumes_closed=())
        verdict = facts.verdicts.get(workload.id)
        found = blame(verdict) if verdict else None
        place = found.obstacle.place if found else None
        if verdict is None or found is None or place is None or place.object is workload.object:
            continue
        if found.obstacle.constraint in ("nodeSelector", "toleration", "nodeAffinity"):
            yield unplaced(
                verdict,
                spec.place.at("runtimeClassName"),
                f"RuntimeClass {spec.runtime_class} asks for nodes that no pool has: "
                f"{found.obstacle.message}{found.elsewhere()}.",
                (Related(f"asked for by RuntimeClass {spec.runtime_class}", place),),
            )


RULE = Rule(
    name="runtimeclass-scheduling-conflict",
    topic="classes",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads",),
    rank=12,
    competes=True,
    assumes_closed=("pools",),
)
