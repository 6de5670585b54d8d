"""A GPU pool that starts from zero waits for its device plugin on each new node.

## What it checks

NodePools and node groups that make their first node for a pod with a device request (`nvidia.com/gpu` and the like), where a DaemonSet among
the files brings the device plugin. Node images that have the plugin built in (Bottlerocket) and EKS Auto Mode are left alone.

## Why it matters

The node is Ready before its devices are there: plugin and driver images are pulled first, which takes minutes. Karpenter counts the node as
initialized only with its devices; Cluster Autoscaler may add a second node in the meantime if the nodes lack its GPU label.

## Example

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [g5.xlarge]}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260101}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: nvidia-device-plugin, namespace: kube-system}
spec:
  selector: {matchLabels: {app: nvidia-device-plugin}}
  template:
    metadata: {labels: {app: nvidia-device-plugin}}
    spec:
      tolerations: [{operator: Exists}]
      containers:
        - {name: plugin, image: "nvcr.io/nvidia/k8s-device-plugin:v0.17.0"}
---
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
        - {name: web, image: "example.com/web:1", resources: {requests: {cpu: "1", memory: 1Gi}, limits: {nvidia.com/gpu: 1}}}
```

## Instead

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [g5.xlarge]}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: bottlerocket@v1.50.0}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
---
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
        - {name: web, image: "example.com/web:1", resources: {requests: {cpu: "1", memory: 1Gi}, limits: {nvidia.com/gpu: 1}}}
```

## Options

None.

## References

- [EKS Best Practices: AI and ML](https://docs.aws.amazon.com/eks/latest/best-practices/aiml-compute.html)
- karpenter:A-4, karpenter:M-8
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.inventory import Workload
from unpend.rule import Facts, Finding, Related, Rule
from unpend.startup.analysis import starts_in
from unpend.startup.nodes import class_of
from unpend.startup.stages import shown_range

_BUILT_IN = "Bottlerocket"
_AUTO_MODE = "eks.amazonaws.com"


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each such pool."""
    plugins = [w for w in facts.inventory.workloads if w.kind == "DaemonSet" and _is_plugin(w)]
    if not plugins:
        return
    starts = starts_in(facts)
    with_plugin = _built_in(facts)
    told: set[str] = set()
    for workload in facts.inventory.workloads:
        if workload.kind == "DaemonSet":
            continue
        start = starts.of(workload)
        for one in start.pools:
            pool, path = starts.pools[one.pool], one.path("new-node")
            devices = None if path is None else path.stage("devices")
            if pool.keeps or devices is None or pool.name in told or pool.name in with_plugin or pool.place is None:
                continue
            told.add(pool.name)
            yield Finding(
                pool.place,
                f"Every first node of {pool.name} waits for {plugins[0].id} before {', '.join(one.start.devices)} is there "
                f"({shown_range(devices.interval)}, after the node is Ready).",
                related=(
                    Related("the device plugin comes with this DaemonSet", plugins[0].place),
                    Related("a pod that waits for it", workload.template.spec.place),
                ),
                certainty="heuristic",
                salient=pool.name,
                repair="use a node image that has the plugin, or keep one node",
            )


def _is_plugin(workload: Workload) -> bool:
    spec = workload.template.spec
    return any("device-plugin" in c.image for c in (*spec.init_containers, *spec.containers))


def _built_in(facts: Facts) -> set[str]:
    """Pools whose node image brings the device plugin."""
    found = set()
    for pool in facts.inventory.node_pools:
        used = class_of(pool, facts.inventory)
        if pool.node_class.group == _AUTO_MODE or (used is not None and used.ami_family == _BUILT_IN):
            found.add(f"NodePool/{pool.name}")
    return found | {group.id for group in facts.inventory.node_groups if group.ami_family == _BUILT_IN}


RULE = Rule(
    name="scale-from-zero-gpu",
    topic="cold-start",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("pools", "daemonsets"),
    enabled=False,
    profiles=("strict",),
)
