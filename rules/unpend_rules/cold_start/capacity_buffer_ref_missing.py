"""A CapacityBuffer that refers to nothing keeps no room.

## What it checks

CapacityBuffers: exactly one of `podTemplateRef` and `scalableRef` has to be there, what it names has to exist in the namespace, and Karpenter,
where it makes the nodes, needs its feature gate `CapacityBuffer`. Whether the gate is on is taken from the config or the manifests of Karpenter;
where neither says it, that is a hint.

## Why it matters

A buffer without pods to imagine is not ready and keeps nothing free, and nobody notices before the next burst waits for nodes.

## Example

```yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - {name: web, image: "example.com/web:1", resources: {requests: {cpu: "1", memory: 1Gi}}}
---
apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityBuffer
metadata: {name: room, namespace: shop}
spec:
  replicas: 2
  scalableRef: {apiGroup: apps, kind: Deployment, name: wbe}
```

## Instead

```yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - {name: web, image: "example.com/web:1", resources: {requests: {cpu: "1", memory: 1Gi}}}
---
apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityBuffer
metadata: {name: room, namespace: shop}
spec:
  replicas: 2
  scalableRef: {apiGroup: apps, kind: Deployment, name: web}
```

## Options

None.

## References

- [CapacityBuffer API](https://github.com/kubernetes/autoscaler/tree/master/cluster-autoscaler/apis/capacitybuffer)
- autoscaler:C-503, karpenter U-5
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.inventory import OtherObject
from unpend.rule import Facts, Finding, Rule
from unpend.source.place import Place

_GROUP = "autoscaling.x-k8s.io/"
_GATE = "CapacityBuffer"


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each reference that is missing, and for a gate that is off."""
    for buffer in facts.inventory.others:
        if buffer.kind == "CapacityBuffer" and buffer.api_version.startswith(_GROUP):
            yield from _references(buffer, facts)
            yield from _gate(buffer, facts)


def _references(buffer: OtherObject, facts: Facts) -> Iterator[Finding]:
    place = buffer.place.at("spec")
    spec = place.value
    if not isinstance(spec, Mapping):
        return
    given = [key for key in ("podTemplateRef", "scalableRef") if isinstance(spec.get(key), Mapping)]
    if len(given) != 1:
        what = "both podTemplateRef and scalableRef" if given else "neither podTemplateRef nor scalableRef"
        yield Finding(
            place,
            f"CapacityBuffer {buffer.name} has {what}: it keeps no room.",
            repair="name exactly one of them",
            assumes_closed=(),
        )
        return
    key = given[0]
    name = spec[key].get("name")
    kind = "PodTemplate" if key == "podTemplateRef" else spec[key].get("kind")
    if isinstance(name, str) and isinstance(kind, str) and not _exists(kind, buffer.namespace, name, facts):
        yield Finding(
            place.at(key, "name"),
            f"There is no {kind} {name} in the namespace of CapacityBuffer {buffer.name}: it keeps no room.",
            repair="name one that exists",
        )


def _exists(kind: str, namespace: str, name: str, facts: Facts) -> bool:
    found = ((w.kind, w.namespace, w.name) for w in facts.inventory.workloads)
    others = ((o.kind, o.namespace, o.name) for o in facts.inventory.others)
    return (kind, namespace, name) in {*found, *others}


def _gate(buffer: OtherObject, facts: Facts) -> Iterator[Finding]:
    if not facts.inventory.node_pools or facts.inventory.node_groups:
        return
    karpenter = facts.settings.karpenter
    if karpenter.gate(_GATE):
        return
    known = _GATE in karpenter.feature_gates
    place: Place = buffer.place.at("spec")
    yield Finding(
        place,
        f"Karpenter's feature gate {_GATE} is {'off' if known else 'off by default, and nothing here turns it on'}: "
        f"CapacityBuffer {buffer.name} keeps no room.",
        severity=None if known else "info",
        salient="gate",
        repair=f"start Karpenter with FEATURE_GATES={_GATE}=true",
        assumes_closed=(),
    )


RULE = Rule(
    name="capacity-buffer-ref-missing",
    topic="cold-start",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=(),
    assumes_closed=("workloads",),
)
