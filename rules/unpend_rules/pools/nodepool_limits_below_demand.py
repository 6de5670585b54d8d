"""Limits of a NodePool below what the pods ask for that can run nowhere else.

## What it checks

For each NodePool with limits on cpu or memory: the requests of all replicas of all workloads that no other pool or Node
takes. More than the limit is an error; where only the maxima of autoscalers come above it, a warning. What DaemonSets and
the system take comes on top and is not counted, so the sum is the least that is needed.

Popeye (codes 602 to 605) compares demand with the capacity that a cluster has now; this rule compares it with the
limits of the pool, before anything runs.

## Why it matters

Karpenter launches nothing more once the limit is reached ("all available instance types exceed limits for nodepool"), and
the pods that come last stay Pending.

## Example

```yaml
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260101}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: batch}
spec:
  limits: {cpu: "8"}
  template:
    metadata: {labels: {team: batch}}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  replicas: 6
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      nodeSelector: {team: batch}
      containers: [{name: a, image: a:1, resources: {requests: {cpu: 1}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: b}
spec:
  replicas: 6
  selector: {matchLabels: {app: b}}
  template:
    metadata: {labels: {app: b}}
    spec:
      nodeSelector: {team: batch}
      containers: [{name: b, image: b:1, resources: {requests: {cpu: 1}}}]
```

## Instead

```yaml
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260101}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: batch}
spec:
  limits: {cpu: "32"}
  template:
    metadata: {labels: {team: batch}}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  replicas: 6
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      nodeSelector: {team: batch}
      containers: [{name: a, image: a:1, resources: {requests: {cpu: 1}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: b}
spec:
  replicas: 6
  selector: {matchLabels: {app: b}}
  template:
    metadata: {labels: {app: b}}
    spec:
      nodeSelector: {team: batch}
      containers: [{name: b, image: b:1, resources: {requests: {cpu: 1}}}]
```

## Options

None.

## References

- [Karpenter: NodePools, limits](https://karpenter.sh/docs/concepts/nodepools/#speclimits)
- karpenter:L-1, karpenter:L-2
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.algebra.quantity import render
from unpend.model.inventory import Workload
from unpend.placement.domains import takes
from unpend.placement.needed import autoscalers_by_target
from unpend.rule import Facts, Finding, Related, Rule, placement

RESOURCES = ("cpu", "memory")


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each limit that is too low, at the limit; one for each workload that it stops."""
    limited = {f"NodePool/{p.name}": p for p in facts.inventory.node_pools if p.limits and not p.is_static}
    if not limited:
        return
    tied: dict[str, list[Workload]] = {}
    for workload in facts.inventory.workloads:
        verdict = facts.verdicts.get(workload.id)
        if workload.kind == "DaemonSet" or verdict is None or verdict.verdict not in ("fits", "conditional", "partial"):
            continue
        taking = {pool.pool for pool in verdict.pools if takes(pool)}
        if len(taking) == 1 and taking <= limited.keys():
            tied.setdefault(taking.pop(), []).append(workload)
    for name, workloads in tied.items():
        pool = limited[name]
        for resource in RESOURCES:
            limit = pool.limits.get(resource)
            if limit is None:
                continue
            needed, most = _sums(facts, workloads, resource)
            if most <= limit.milli:
                continue
            short = needed > limit.milli
            amount = render(needed if short else most, resource)
            one = len(workloads) == 1
            many = "the maximum of its autoscaler" if one else "the maxima of their autoscalers"
            of = ("its replicas" if one else "their replicas") if short else many
            who = workloads[0].id if len(workloads) == 1 else f"{len(workloads)} workloads"
            ask = "asks" if one and not short else "ask"
            verb = "runs" if len(workloads) == 1 else "run"
            yield Finding(
                limit.place,
                f"{who} {verb} in {name} only, and {of} {ask} for {amount} of {resource}: above its limit of {limit.text}.",
                related=tuple(Related("runs in this pool only", w.template.spec.place) for w in workloads[:3]),
                severity="error" if short else None,
                certainty="assumed",
                subject=placement(workloads[0].id) if short and len(workloads) == 1 else (),
                workload=workloads[0].id if len(workloads) == 1 else None,
                salient=resource,
                repair="raise the limit, or let another pool take some of the pods",
            )


def _sums(facts: Facts, workloads: list[Workload], resource: str) -> tuple[int, int]:
    """What the replicas ask for in all, needed and at the most, in thousandths."""
    autoscalers = autoscalers_by_target(facts.inventory)
    needed = most = 0
    for workload in workloads:
        amount = facts.effective(workload).requests.get(resource, 0)
        count = facts.verdicts[workload.id].replicas.needed
        autoscaler = autoscalers.get((workload.kind, workload.namespace, workload.name))
        maximum = autoscaler.maximum or 0 if autoscaler is not None else 0
        needed += amount * count
        most += amount * max(count, maximum)
    return needed, most


RULE = Rule(
    name="nodepool-limits-below-demand",
    topic="pools",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodepools"),
    rank=55,
    competes=True,
    assumes_closed=("pools",),
)
