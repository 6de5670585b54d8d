"""A spread that counts domains in which its pods can never be.

## What it checks

`DoNotSchedule` constraints over the pods of the workload itself: domains of nodes that count, although no pod of it fits
there. Such a domain stays empty, so every other one takes `maxSkew` pods and no more. Two ways lead there:

- nodes that kube-scheduler counts: tainted nodes while `nodeTaintsPolicy` is Ignore (the default), cordoned, full or small
  ones; and with `nodeAffinityPolicy: Ignore` also nodes that the pod does not select. It is an error where the replicas
  surely find no place.
- zones of other NodePools, which Karpenter counts whatever their labels, and zones that a pool lists and has no subnet in.
  This is a warning: Karpenter counts them in most versions, and existing nodes may help.

kube-score (`pod-topology-spread-constraints`) looks at the fields of a constraint alone; this rule compares it with
the domains that the pools offer.

## Why it matters

Replicas stay Pending although there is room: "node(s) didn't match pod topology spread constraints".

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
apiVersion: v1
kind: Node
metadata:
  name: n3
  labels: {kubernetes.io/hostname: n3, topology.kubernetes.io/zone: c}
spec:
  taints: [{key: gpu, effect: NoSchedule}]
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
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
apiVersion: v1
kind: Node
metadata:
  name: n3
  labels: {kubernetes.io/hostname: n3, topology.kubernetes.io/zone: c}
spec:
  taints: [{key: gpu, effect: NoSchedule}]
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: web}}
          nodeTaintsPolicy: Honor
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Options

None.

## References

- [Topology spread constraints](https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/)
- [Karpenter: Troubleshooting](https://karpenter.sh/docs/troubleshooting/)
- [kubernetes-sigs/karpenter#2227](https://github.com/kubernetes-sigs/karpenter/issues/2227) -
  [#3272](https://github.com/kubernetes-sigs/karpenter/issues/3272) - scheduler:S-812, scheduler:S-813,
  karpenter:T-1, karpenter:T-2, karpenter:T-15
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.karpenter_labels import HOSTNAME, release
from unpend.placement.domains import Domain, shown, topology_of
from unpend.placement.spreading import Spreading, spreadings
from unpend.records import replace
from unpend.rule import Facts, Finding, Related, Rule, placement, unplaced

FILTERED = (1, 11)
"""The minor version of Karpenter that leaves out the pools which do not fit the pod (T-2)."""

DERIVED = "karpenter:T-15"


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each such constraint."""
    for one in spreadings(facts):
        constraint = one.constraint
        if not one.is_hard or not one.itself:
            continue
        held = bool(one.domains.reachable) and one.needed > one.stuck_at
        beyond: tuple[Domain, ...] = ()
        if held and constraint.topology_key != HOSTNAME and not _filters(facts):
            honours = constraint.node_taints_policy == "Honor"
            beyond = topology_of(facts).beyond(one.workload, constraint.topology_key, honours)
        if one.short == "topology":
            dead = one.domains.dead or beyond
            if held and dead and one.verdict.replicas.at_most <= one.stuck_at:
                yield _finding(one, dead, proved=True, derived=not one.domains.dead)
            elif (full := _full(one)) is not None:
                yield full
        elif one.short is None and one.verdict.verdict == "conditional" and beyond:
            yield _finding(one, beyond, proved=False)


def _full(one: Spreading) -> Finding | None:
    """Where this constraint is the only rule about other pods, and not all its domains are known one by one."""
    counts, spec = one.verdict.replicas, one.workload.template.spec
    others = [c for c in spec.spread if c is not one.constraint and c.when_unsatisfiable == "DoNotSchedule"]
    if others or spec.affinity.pod_required or spec.affinity.anti_required or not 0 < counts.at_most < counts.needed:
        return None
    obstacle = next((o for o in one.verdict.conflict if o.constraint == "topologySpread"), None)
    if obstacle is None:
        return None
    refusing = [pool for pool in one.verdict.pools if pool.verdict == "never" and pool.place is not None]
    found = unplaced(
        one.verdict,
        one.constraint.place,
        f"{counts.at_most} of {counts.needed} replicas can run at once: {obstacle.message}.",
        tuple(Related(f"{p.pool} takes no such pod", p.place) for p in refusing[:3] if p.place),
        salient=one.constraint.topology_key,
        repair="set nodeTaintsPolicy: Honor, widen maxSkew, or make room in every domain that counts",
    )
    return replace(found, severity="warning") if obstacle.semantics == DERIVED else found


def _filters(facts: Facts) -> bool:
    return release(facts.settings.karpenter.version)[:2] == FILTERED


def _finding(one: Spreading, dead: tuple[Domain, ...], *, proved: bool, derived: bool = False) -> Finding:
    """`derived`: it rests on what Karpenter's code says of domains (T-15), which nobody has seen on a cluster."""
    key, skew = one.constraint.topology_key, one.constraint.max_skew
    values = shown([domain.value for domain in dead])
    verb = "counts" if len(dead) == 1 else "count"
    stays = "stays" if len(dead) == 1 else "stay"
    return Finding(
        one.constraint.place,
        f"{key} {values} {verb} for this spread but no pod can be there: as long as {'it' if len(dead) == 1 else 'they'} "
        f"{stays} empty, {shown(one.domains.reachable)} take {skew} each, {one.stuck_at} of {one.needed} replicas.",
        related=tuple(Related(f"{d.value} comes from {d.pool}", d.place) for d in dead[:3]),
        severity="warning" if derived or not proved else None,
        certainty=one.verdict.certainty if proved else "assumed",
        subject=placement(one.workload.id) if proved else (),
        workload=one.workload.id,
        verdict=one.verdict.verdict if proved else None,
        salient=key,
        repair="set nodeTaintsPolicy: Honor, or require the reachable values in a node affinity",
    )


RULE = Rule(
    name="spread-domains-unreachable",
    topic="topology",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    rank=45,
    competes=True,
    assumes_closed=("pools",),
    when=("spread",),
)
