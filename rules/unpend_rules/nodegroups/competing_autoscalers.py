"""Two controllers answer the same event of nodes or pods.

## What it checks

The images of known controllers among the workloads: Cluster Autoscaler beside Karpenter, AWS Node Termination Handler beside
Karpenter. Cluster Autoscaler with 0 replicas, as during a migration, is not running and not reported.

hardeneks (`check_any_cluster_autoscaler_exists`) asks a running account whether there is an autoscaler at all; this
rule reads files, and asks whether there are two for the same nodes.

## Why it matters

Karpenter and Cluster Autoscaler both add a node for one pending pod, and one of the two is removed again minutes later. Karpenter reads
the interruption queue itself: a termination handler beside it cordons and drains nodes behind its back.

## Example

```yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: cluster-autoscaler, namespace: kube-system}
spec:
  selector: {matchLabels: {app: cluster-autoscaler}}
  template:
    metadata: {labels: {app: cluster-autoscaler}}
    spec:
      containers:
        - name: cluster-autoscaler
          image: registry.k8s.io/autoscaling/cluster-autoscaler:v1.34.0
          resources: {requests: {cpu: 100m, memory: 600Mi}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: karpenter, namespace: kube-system}
spec:
  selector: {matchLabels: {app: karpenter}}
  template:
    metadata: {labels: {app: karpenter}}
    spec:
      containers:
        - name: controller
          image: public.ecr.aws/karpenter/controller:1.14.0
          resources: {requests: {cpu: 100m, memory: 600Mi}}
```

## Instead

```yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: karpenter, namespace: kube-system}
spec:
  selector: {matchLabels: {app: karpenter}}
  template:
    metadata: {labels: {app: karpenter}}
    spec:
      containers:
        - name: controller
          image: public.ecr.aws/karpenter/controller:1.14.0
          resources: {requests: {cpu: 100m, memory: 600Mi}}
```

## Options

None.

## References

- [Amazon EKS best practices: Karpenter](https://docs.aws.amazon.com/eks/latest/best-practices/karpenter.html)
- [Karpenter: migrating from Cluster Autoscaler](https://karpenter.sh/docs/getting-started/migrating-from-cas/)
- autoscaler §8 (9), karpenter §10
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.inventory import Workload
from unpend.rule import Facts, Finding, Related, Rule

_RIVALS = (
    ("Cluster Autoscaler", "both add a node for the same pending pod, and one of the two goes again"),
    (
        "AWS Node Termination Handler",
        "Karpenter reads the interruption queue itself, and the handler drains behind its back",
    ),
)


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each controller that works against Karpenter."""
    found: dict[str, Workload] = {}
    for workload in facts.inventory.workloads:
        name = _controller(workload)
        if name and workload.replicas != 0:
            found.setdefault(name, workload)
    karpenter = found.get("Karpenter")
    if karpenter is None:
        return
    for name, why in _RIVALS:
        rival = found.get(name)
        if rival is not None:
            yield Finding(
                rival.template.spec.containers[0].place,
                f"{name} runs beside Karpenter: {why}.",
                related=(Related("Karpenter", karpenter.template.spec.containers[0].place),),
                certainty="heuristic",
                workload=rival.id,
                salient=name,
                repair=f"scale {name} to 0, or take its nodes out of the reach of Karpenter",
            )


def _controller(workload: Workload) -> str:
    for container in workload.template.spec.containers:
        parts = container.image.partition("@")[0].split("/")
        name = parts[-1].partition(":")[0]
        if name == "cluster-autoscaler":
            return "Cluster Autoscaler"
        if "node-termination-handler" in name:
            return "AWS Node Termination Handler"
        if name == "karpenter" or (name == "controller" and "karpenter" in parts[:-1]):
            return "Karpenter"
    return ""


RULE = Rule(
    name="competing-autoscalers",
    topic="nodegroups",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads",),
)
