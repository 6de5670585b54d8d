"""A large image is pulled on each node that does not have it, and nothing shortens that.

## What it checks

Images whose size is known (files under `images` in the config, a profile, `status.images` of Nodes) and at least `megabytes`: no pool that
takes the workload pulls lazily (its node class sets up SOCI, stargz, Nydus or OverlayBD) or has a disk made from a snapshot, and no DaemonSet
holds the image on the nodes. Images of unknown size are left alone.

It may disagree with kube-score (`container-image-pull-policy`) and Polaris (`pullPolicyNotAlways`), which want the
policy Always for the sake of fresh images; this rule counts the time of a start. With kube-linter (`latest-tag`) it
agrees, for another reason.

## Why it matters

The first pod on a node waits for the whole image: 1 GB takes 8 s at 1 Gbit/s and 80 s at 100 Mbit/s, and then has to be unpacked.
Other linters ask for `imagePullPolicy: Always`; with a large image that only costs the question to the registry, since layers that are there
are not pulled again.

## Example

```yaml
apiVersion: v1
kind: Node
metadata: {name: worker-1, labels: {kubernetes.io/hostname: worker-1}}
status:
  allocatable: {cpu: "8", memory: 32Gi, pods: "110"}
  images:
    - {names: ["example.com/web:1"], sizeBytes: 3200000000}
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
        - {name: web, image: "example.com/web:1", resources: {requests: {cpu: "1", memory: 1Gi}}}
```

## Instead

```yaml
apiVersion: v1
kind: Node
metadata: {name: worker-1, labels: {kubernetes.io/hostname: worker-1}}
status:
  allocatable: {cpu: "8", memory: 32Gi, pods: "110"}
  images:
    - {names: ["example.com/web:1"], sizeBytes: 3200000000}
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
        - {name: web, image: "example.com/web:1", resources: {requests: {cpu: "1", memory: 1Gi}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: prepull, namespace: shop}
spec:
  selector: {matchLabels: {app: prepull}}
  template:
    metadata: {labels: {app: prepull}}
    spec:
      containers:
        - {name: web, image: "example.com/web:1", command: [sleep, infinity]}
```

## Options

- `megabytes` (1000): the least compressed size that is reported, in millions of bytes.

## References

- [EKS Best Practices: AI and ML, start time](https://docs.aws.amazon.com/eks/latest/best-practices/aiml-performance.html)
- [SOCI snapshotter](https://github.com/awslabs/soci-snapshotter)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.inventory import Workload
from unpend.rule import Facts, Finding, Option, Rule
from unpend.source.place import Place
from unpend.startup.analysis import starts_in
from unpend.startup.nodes import PoolStart
from unpend.startup.stages import shown_range


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each large image of a workload."""
    starts = starts_in(facts)
    if not starts.sizes(starts.profile("generic")):
        return
    pulled = _on_every_node(facts)
    for workload in facts.inventory.workloads:
        if workload.kind == "DaemonSet":
            continue
        start = starts.of(workload)
        if not start.pools or any(_helped(starts.pools[pool.pool]) for pool in start.pools):
            continue
        for image in start.pools[0].start.images:
            if image.size is None or image.size.best < options["megabytes"] * 1e6 or image.reference in pulled:
                continue
            yield Finding(
                _place(workload, image.reference),
                f"{image.reference} has {image.size.typical / 1e9:.1f} GB: a node that does not have it pulls for "
                f"{shown_range(image.pull)}, and no pool here pulls lazily or has it on its disk.",
                certainty="heuristic",
                workload=workload.id,
                salient=image.reference,
                repair="make the image smaller, pull it lazily (SOCI, stargz), or have it on the disk of new nodes",
            )


def _helped(pool: PoolStart) -> bool:
    return pool.lazy or pool.snapshot


def _on_every_node(facts: Facts) -> set[str]:
    found: set[str] = set()
    for workload in facts.inventory.workloads:
        if workload.kind == "DaemonSet":
            spec = workload.template.spec
            found |= {c.image for c in (*spec.init_containers, *spec.containers)}
    return found


def _place(workload: Workload, image: str) -> Place:
    spec = workload.template.spec
    for container in (*spec.init_containers, *spec.containers):
        if container.image == image:
            return container.place.at("image")
    return spec.place


RULE = Rule(
    name="image-pull-path-slow",
    topic="cold-start",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    options=(Option("megabytes", 1000, "the least compressed size that is reported, in millions of bytes", 1),),
    enabled=False,
    profiles=("strict",),
)
