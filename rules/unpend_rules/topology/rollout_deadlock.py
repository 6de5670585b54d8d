"""A rolling update that can never finish: the new pod finds no place until an old one goes, and none may go.

## What it checks

Deployments whose update must start a new pod first (`maxUnavailable` comes to 0: with the defaults that is so up to three
replicas), where no more pods than the replicas can run at once. The reasons: required anti-affinity over as many domains
as replicas, host ports, a spread, labels of nodes that are full, nodes that are too few, a quota of the namespace. Silent for `Recreate`, for
StatefulSets, and where nodes can be added that would do.

## Why it matters

The first rollout works, and the next one hangs at "1 old replicas are pending termination" until its deadline.

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
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: kubernetes.io/hostname
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
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: kubernetes.io/hostname
              labelSelector: {matchLabels: {app: web}}
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Options

None.

## References

- [Deployments: rolling update](https://kubernetes.io/docs/concepts/workloads/controllers/deployment/)
- [kubernetes/kubernetes#116891](https://github.com/kubernetes/kubernetes/issues/116891) -
  [#56539](https://github.com/kubernetes/kubernetes/issues/56539) - scheduler:S-1601 to scheduler:S-1603,
  scheduler:S-924
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.inventory import Workload
from unpend.model.karpenter_labels import HOSTNAME
from unpend.placement.domains import topology_of
from unpend.placement.peers import apart_from_itself, means_itself
from unpend.placement.quotas import allowance
from unpend.placement.replicas.update import Surge, surge_of
from unpend.rule import Facts, Finding, Related, Rule
from unpend.source.place import Place


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at what keeps the new pod out."""
    for workload in facts.inventory.workloads:
        if workload.kind != "Deployment":
            continue
        verdict = facts.verdicts.get(workload.id)
        if verdict is None or verdict.verdict not in ("fits", "conditional"):
            continue
        needed = verdict.replicas.needed
        surge = surge_of(workload, needed)
        if surge is None:
            continue
        held = _held(facts, workload, surge, needed)
        if held is None:
            continue
        place, why, related = held
        old = "the old one goes" if needed == 1 else f"one of the {needed} old ones goes"
        strategy = workload.strategy
        if strategy is not None and strategy.place is not None:
            related = (*related, Related("the strategy", strategy.place))
        yield Finding(
            place,
            f"A rolling update hangs: it starts a new pod before {old}, and {why}.",
            related=related,
            certainty=verdict.certainty,
            workload=workload.id,
            verdict=verdict.verdict,
            repair="set maxSurge: 0 and maxUnavailable: 1, or leave room for one pod more",
        )


def _held(facts: Facts, workload: Workload, surge: Surge, needed: int) -> tuple[Place, str, tuple[Related, ...]] | None:
    """What keeps one pod more away, None where nothing does."""
    most = _most(facts, workload)
    if most is not None and surge.deadlocks(needed, most):
        return (*_reason(facts, workload), ())
    allowed = allowance(facts.effective(workload), facts.inventory)
    # A quota below the replicas is short of them before any update.
    if allowed is None or allowed.most < needed or not surge.deadlocks(needed, allowed.most):
        return None
    why = f"ResourceQuota/{allowed.quota} lets no more than {allowed.most} of them exist ({allowed.resource})"
    related = (Related(f"the quota on {allowed.resource}", allowed.place),)
    return workload.replicas_place or workload.template.spec.place, why, related


def _most(facts: Facts, workload: Workload) -> int | None:
    """The most pods of both revisions at once, None where nothing bounds them."""
    counted = facts.verdicts[workload.id].replicas.rollout
    found = [] if counted is None or counted.at_most is None else [counted.at_most]
    for term in apart_from_itself(facts.effective(workload)):
        told_apart = term.match_label_keys or any(
            e.key == "pod-template-hash" for e in (term.selector.expressions if term.selector else ())
        )
        domains = topology_of(facts).of(workload, term.topology_key)
        known = domains.exact and domains.reachable and not domains.lacking
        if term.topology_key != HOSTNAME and known and not told_apart:
            found.append(len(domains.reachable))
    return min(found, default=None)


def _reason(facts: Facts, workload: Workload) -> tuple[Place, str]:
    """What keeps one pod more away, the narrowest rule first."""
    pod = facts.effective(workload)
    spec = workload.template.spec
    for term in apart_from_itself(pod):
        return term.place, f"no two of them may share a {term.topology_key}, all of which are taken"
    ports = [port for port in pod.host_ports if port.host_port]
    if ports:
        port = ports[0]
        if pod.spec.host_network and not any(p.host_port for c in spec.containers for p in c.ports):
            return spec.place.at("hostNetwork"), f"hostNetwork makes it open port {port.host_port}, taken on every node"
        return port.place, f"host port {port.host_port} is taken on every node that would do"
    for constraint in spec.spread:
        if constraint.when_unsatisfiable == "DoNotSchedule" and means_itself(pod, constraint.selector):
            return constraint.place, f"the spread over {constraint.topology_key} leaves it no place"
    if spec.node_selector:
        label = spec.node_selector[0]
        return label.place, f"the nodes with {label.key}={label.value} have no room for it"
    if spec.affinity.required:
        return spec.affinity.required[0].place, "the nodes that it may use have no room for it"
    return workload.replicas_place or spec.place, "the nodes have no room for it"


RULE = Rule(
    name="rollout-deadlock",
    topic="topology",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    assumes_closed=("pools",),
)
