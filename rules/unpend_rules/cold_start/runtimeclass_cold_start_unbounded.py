"""Pods may land on a new node before the runtime of their RuntimeClass is installed there.

## What it checks

RuntimeClasses of gVisor, Kata, Firecracker or WASM whose runtime a DaemonSet among the files installs, used by a workload that a NodePool without
startup taints takes. Where the runtime is part of the node image there is no such DaemonSet, and nothing is said.

## Why it matters

The pod is bound as soon as the node is Ready. Until the installer has run, its sandbox fails with `no runtime for "…" is configured`, again and
again with growing pauses: nothing bounds how long it takes. With a startup taint that the installer removes, the pod waits once.

## Example

```yaml
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: kata}
handler: kata-qemu
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: kata-deploy, namespace: kube-system}
spec:
  selector: {matchLabels: {app: kata-deploy}}
  template:
    metadata: {labels: {app: kata-deploy}}
    spec:
      tolerations: [{operator: Exists}]
      containers:
        - {name: kata, image: "quay.io/kata-containers/kata-deploy:3.9", args: [--remove-taint=example.com/kata-not-ready]}
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
      runtimeClassName: kata
      containers:
        - {name: web, image: "example.com/web:1", resources: {requests: {cpu: "1", memory: 1Gi}}}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260101}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
```

## Instead

```yaml
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: kata}
handler: kata-qemu
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: kata-deploy, namespace: kube-system}
spec:
  selector: {matchLabels: {app: kata-deploy}}
  template:
    metadata: {labels: {app: kata-deploy}}
    spec:
      tolerations: [{operator: Exists}]
      containers:
        - {name: kata, image: "quay.io/kata-containers/kata-deploy:3.9", args: [--remove-taint=example.com/kata-not-ready]}
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
      runtimeClassName: kata
      containers:
        - {name: web, image: "example.com/web:1", resources: {requests: {cpu: "1", memory: 1Gi}}}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      startupTaints: [{key: example.com/kata-not-ready, effect: NoSchedule}]
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260101}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
```

## Options

None.

## References

- [Kubernetes: RuntimeClass](https://kubernetes.io/docs/concepts/containers/runtime-class/)
- [Karpenter: NodePools, startup taints](https://karpenter.sh/docs/concepts/nodepools/#spectemplatespecstartuptaints), karpenter:A-4
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Related, Rule
from unpend.startup.analysis import starts_in

_INSTALLERS = {
    "kata": ("kata-deploy",),
    "firecracker": ("kata-deploy", "firecracker"),
    "gvisor": ("gvisor", "runsc"),
    "wasm-aot": ("kwasm", "runtime-class-manager", "spin", "wasm"),
    "wasm-interpreted": ("kwasm", "runtime-class-manager", "wamr", "wasm"),
}
"""Words in the images of DaemonSets that install a runtime, by runtime family."""


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each RuntimeClass and pool."""
    if not facts.inventory.runtime_classes:
        return
    starts = starts_in(facts)
    told: set[tuple[str, str]] = set()
    for workload in facts.inventory.workloads:
        used = facts.inventory.runtime_classes.get(workload.template.spec.runtime_class or "")
        if used is None or workload.kind == "DaemonSet":
            continue
        start = starts.of(workload)
        installer = _installer(facts, _INSTALLERS.get(start.family or "", ()))
        if installer is None:
            continue
        for pool in (starts.pools[one.pool] for one in start.pools):
            if not pool.name.startswith("NodePool/") or not pool.makes or pool.startup_taints or pool.place is None:
                continue
            if (used.name, pool.name) in told:
                continue
            told.add((used.name, pool.name))
            yield Finding(
                used.place.at("handler"),
                f"{pool.name} has no startup taint that holds pods of RuntimeClass {used.name} back until {installer} has installed "
                f"{used.handler}: on a new node they fail until then.",
                related=(
                    Related(
                        "its nodes are open to pods as soon as they are Ready",
                        pool.place.at("spec", "template", "spec"),
                    ),
                ),
                certainty="heuristic",
                salient=pool.name,
                repair="give the pool a startup taint that the installer removes, or have the runtime in the node image",
            )


def _installer(facts: Facts, words: tuple[str, ...]) -> str | None:
    for workload in facts.inventory.workloads:
        if workload.kind == "DaemonSet":
            spec = workload.template.spec
            images = " ".join(c.image for c in (*spec.init_containers, *spec.containers))
            if any(word in images for word in words):
                return workload.id
    return None


RULE = Rule(
    name="runtimeclass-cold-start-unbounded",
    topic="cold-start",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("classes", "nodepools", "daemonsets"),
    enabled=False,
    profiles=("strict",),
)
