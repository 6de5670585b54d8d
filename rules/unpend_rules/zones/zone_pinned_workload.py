"""Several replicas, all of them pinned to one zone.

## What it checks

Workloads with two or more replicas whose own text (node selector, required node affinity) leaves one zone, where other
zones exist. Silent for a workload that is one of several alike, one for each zone, as stores that keep a copy in each
are laid out (names that differ by a zone or its letter, pinned to different zones).

## Why it matters

All replicas go with the zone. Several replicas are paid for, and protect against the loss of nodes alone.

## Example

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1, topology.kubernetes.io/zone: a}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: v1
kind: Node
metadata:
  name: n2
  labels: {kubernetes.io/hostname: n2, topology.kubernetes.io/zone: b}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {topology.kubernetes.io/zone: a}
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Instead

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1, topology.kubernetes.io/zone: a}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: v1
kind: Node
metadata:
  name: n2
  labels: {kubernetes.io/hostname: n2, topology.kubernetes.io/zone: b}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: web}}
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Options

None.

## References

- [EKS best practices: reliability](https://docs.aws.amazon.com/eks/latest/best-practices/data-plane.html)
- karpenter:Z-5
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from unpend.model.inventory import Workload
from unpend.model.karpenter_labels import ZONE
from unpend.placement.demand import demand_of
from unpend.placement.domains import topology_of
from unpend.rule import Facts, Finding, Rule
from unpend.source.place import Place


class Pin(NamedTuple):
    """The one zone that a workload leaves itself, and where it says so."""

    workload: Workload
    zone: str
    place: Place


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at what pins it."""
    pins = [pin for w in facts.inventory.workloads if w.kind != "DaemonSet" and (pin := _pin(facts, w)) is not None]
    if not pins:
        return
    supply = topology_of(facts).supply
    zones = supply.values.get(ZONE, frozenset()) | set(facts.settings.zones)
    for pin in pins:
        verdict = facts.verdicts.get(pin.workload.id)
        if verdict is None or verdict.replicas.needed < 2 or verdict.verdict not in ("fits", "conditional"):
            continue
        if not zones - {pin.zone} or any(_siblings(pin, other) for other in pins):
            continue
        yield Finding(
            pin.place,
            f"All {verdict.replicas.needed} replicas are pinned to zone {pin.zone}: they go with it.",
            subject=("zone", pin.workload.id),
            workload=pin.workload.id,
            salient=pin.zone,
            repair="allow further zones, and spread the replicas over them",
        )


def _pin(facts: Facts, workload: Workload) -> Pin | None:
    spec = workload.template.spec
    keys = {label.key for label in spec.node_selector}
    keys.update(e.key for term in spec.affinity.required or () for e in term.expressions)
    if ZONE not in keys:
        return None
    alternatives = [a for a in demand_of(facts.effective(workload)).alternatives if not a.broken]
    zones: set[str] = set()
    for alternative in alternatives:
        values = alternative.folded[ZONE].values if ZONE in alternative.folded else None
        if values is None:
            return None
        zones |= values
    if len(zones) != 1:
        return None
    label = next((label for label in spec.node_selector if label.key == ZONE), None)
    if label is not None:
        return Pin(workload, zones.pop(), label.place)
    terms = spec.affinity.required or ()
    place = next((e.place for term in terms for e in term.expressions if e.key == ZONE), spec.place)
    return Pin(workload, zones.pop(), place)


def _siblings(one: Pin, other: Pin) -> bool:
    """Whether two workloads are the same thing in two zones, by their names without the zone."""
    if one.zone == other.zone or one.workload.kind != other.workload.kind:
        return False
    if one.workload.namespace != other.workload.namespace:
        return False
    return _stem(one) == _stem(other)


def _stem(pin: Pin) -> str:
    name = pin.workload.name
    for ending in (pin.zone, f"zone-{pin.zone[-1]}", f"az{pin.zone[-1]}", pin.zone[-1], pin.zone[-2:]):
        if name.endswith(ending):
            return name.removesuffix(ending)
    return name.rstrip("0123456789")


RULE = Rule(
    name="zone-pinned-workload",
    topic="zones",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    rank=40,
    competes=True,
)
