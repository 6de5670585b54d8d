"""Several replicas, and nothing keeps them apart.

## What it checks

Deployments and StatefulSets with two or more replicas (an autoscaler's minimum counts) whose pods have neither a topology
spread constraint nor anti-affinity, hard or soft, that means themselves, nor host ports. Any of these will do, in any
spelling. Silent where a node selector names one host.

The checks of other tools ask for one mechanism each: kube-linter `no-anti-affinity`, kube-score
`deployment-has-host-podantiaffinity`, Polaris `topologySpreadConstraint`.

## Why it matters

kube-scheduler spreads such pods a little by default, and only when it places them; Karpenter knows nothing of that, and
consolidation may bring all of them onto one node. Soft constraints keep pods apart when they are placed, too, and not for
ever; only DoNotSchedule and required anti-affinity do.

## Example

```yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Instead

```yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector: {matchLabels: {app: web}}
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Options

- `min-replicas` (number, 2): from how many replicas on it speaks.
- `exempt` (list of names): workloads that are left out.

## References

- [Topology spread constraints](https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/)
- [aws/karpenter-provider-aws#5120](https://github.com/aws/karpenter-provider-aws/issues/5120) - scheduler:S-802,
  karpenter:T-19
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.karpenter_labels import HOSTNAME
from unpend.model.pod import EffectivePod
from unpend.placement.needed import autoscalers_by_target, replicas_of
from unpend.placement.peers import means_itself
from unpend.rule import Facts, Finding, Option, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at its replicas."""
    autoscalers = autoscalers_by_target(facts.inventory)
    for workload in facts.inventory.workloads:
        if workload.kind not in ("Deployment", "StatefulSet") or workload.name in options["exempt"]:
            continue
        autoscaler = autoscalers.get((workload.kind, workload.namespace, workload.name))
        needed = replicas_of(workload, autoscaler).needed
        if needed < max(2, options["min-replicas"]):
            continue
        pod = facts.effective(workload)
        if pod.refusals or kept_apart(pod):
            continue
        place = workload.replicas_place if workload.replicas is not None else None
        if place is None or autoscaler is not None:
            place = workload.template.spec.place
        yield Finding(
            place,
            f"Nothing keeps the {needed} replicas apart: they may all be on one node, and go with it.",
            workload=workload.id,
            repair="add a topology spread constraint, or anti-affinity, over the labels of the pods",
        )


def kept_apart(pod: EffectivePod) -> bool:
    """Whether something speaks against two of these pods in one place."""
    spec = pod.spec
    if any(means_itself(pod, constraint.selector) for constraint in spec.spread):
        return True
    terms = (*spec.affinity.anti_required, *spec.affinity.anti_preferred)
    if any(means_itself(pod, term.selector) for term in terms):
        return True
    if any(port.host_port for port in pod.host_ports):
        return True
    return any(label.key == HOSTNAME for label in spec.node_selector) or bool(spec.node_name)


RULE = Rule(
    name="no-spread-multi-replica",
    topic="topology",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads",),
    options=(
        Option("min-replicas", 2, "from how many replicas on it speaks", minimum=2),
        Option("exempt", (), "names of workloads that are left out"),
    ),
    enabled=False,
    profiles=("reliability",),
)
