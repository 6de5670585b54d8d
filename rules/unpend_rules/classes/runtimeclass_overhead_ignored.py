"""The overhead of a RuntimeClass makes the pod too large.

## What it checks

Workloads that surely find no room, and would find it without the overhead that their RuntimeClass adds to every pod.

## Why it matters

The overhead stands in the RuntimeClass, not in the manifest: the requests look as if they fit. kube-scheduler and Karpenter
add it.

## Example

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1, topology.kubernetes.io/zone: a}
status: {allocatable: {cpu: "1", memory: 16Gi, pods: "58"}}
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: kata}
handler: kata
overhead: {podFixed: {cpu: 250m, memory: 160Mi}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      runtimeClassName: kata
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 900m}}}]
```

## Instead

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1, topology.kubernetes.io/zone: a}
status: {allocatable: {cpu: "1", memory: 16Gi, pods: "58"}}
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: kata}
handler: kata
overhead: {podFixed: {cpu: 250m, memory: 160Mi}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      runtimeClassName: kata
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 700m}}}]
```

## Options

None.

## References

- [Pod overhead](https://kubernetes.io/docs/concepts/scheduling-eviction/pod-overhead/)
- scheduler:P-719
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.inventory import Workload
from unpend.placement.domains import shortfall
from unpend.placement.evaluate import evaluate_inventory
from unpend.records import replace
from unpend.rule import Facts, Finding, Related, Rule, placement


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at its runtimeClassName."""
    classes = facts.inventory.runtime_classes
    short = [
        w
        for w in facts.inventory.workloads
        if w.template.spec.runtime_class in classes
        and classes[w.template.spec.runtime_class or ""].overhead
        and shortfall(facts.verdicts.get(w.id)) in ("resources", "limits")
    ]
    if not short:
        return
    without = _without_overhead(facts, short)
    for workload in short:
        name = workload.template.spec.runtime_class or ""
        again = without.get(workload.id)
        before, after = facts.verdicts[workload.id].replicas, again.replicas if again is not None else None
        if again is None or after is None or shortfall(again) is not None or after.at_most <= before.at_most:
            continue
        overhead = classes[name].overhead
        added = " and ".join(f"{amount.text} of {resource}" for resource, amount in overhead.items())
        yield Finding(
            workload.template.spec.place.at("runtimeClassName"),
            f"RuntimeClass {name} adds {added} to each pod: {before.at_most} of {before.needed} find room, without it all "
            "would.",
            related=(Related("the overhead", classes[name].place.at("overhead")),),
            certainty=facts.verdicts[workload.id].certainty,
            subject=placement(workload.id),
            workload=workload.id,
            verdict=facts.verdicts[workload.id].verdict,
            repair="ask for less, or for nodes with room for the overhead",
        )


def _without_overhead(facts: Facts, workloads: list[Workload]) -> Mapping[str, Any]:
    """The verdicts of these workloads as if their runtime classes had no overhead."""
    inventory = facts.inventory
    classes = {name: replace(one, overhead={}) for name, one in inventory.runtime_classes.items()}
    kept = {id(w) for w in workloads}
    others = [w for w in inventory.workloads if w.kind == "DaemonSet" or id(w) in kept]
    world = replace(inventory, runtime_classes=classes, workloads=tuple(others))
    return {verdict.workload: verdict for verdict in evaluate_inventory(world, facts.settings)}


RULE = Rule(
    name="runtimeclass-overhead-ignored",
    topic="classes",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools", "classes"),
    rank=20,
    competes=True,
    assumes_closed=("pools",),
)
