"""An annotation of old Karpenter releases that nothing reads any more.

## What it checks

`karpenter.sh/do-not-evict` (pods) and `karpenter.sh/do-not-consolidate` (nodes) on workloads, pod templates, Nodes
and NodePools. Kyverno's Karpenter policies used to add the old ones; this rule finds what they left behind.

## Why it matters

From v1 on Karpenter ignores both: pods that were protected are evicted, nodes that were held are consolidated.

## Example

```yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations:
        karpenter.sh/do-not-evict: "true"
    spec:
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
```

## Instead

```yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations:
        karpenter.sh/do-not-disrupt: "true"
    spec:
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
```

## Options

None.

## References

- [Karpenter: v1 migration](https://karpenter.sh/v1.0/upgrading/v1-migration/) - karpenter:D-24, karpenter §1.9
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.do_not_disrupt import DO_NOT_DISRUPT, LEGACY
from unpend.model.pod import Label
from unpend.rule import Edit, Facts, Finding, Fix, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each old annotation."""
    for mark, workload in _marks(facts):
        new = (mark.place.parent or mark.place).at(DO_NOT_DISRUPT)
        edits = (Edit("remove", mark.place), Edit("add", new, mark.value))
        yield Finding(
            mark.place,
            f"Karpenter ignores {mark.key} from v1 on.",
            part="key",
            workload=workload,
            tags=("deprecated",),
            fixes=(Fix(f"Rename it to {DO_NOT_DISRUPT}", "unsafe", edits),),
            repair=f"use {DO_NOT_DISRUPT}, on the pod template or on the nodes",
        )


def _marks(facts: Facts) -> Iterator[tuple[Label, str | None]]:
    inventory = facts.inventory
    for workload in inventory.workloads:
        places = (
            (workload.annotations, workload.template.annotations)
            if workload.template_path
            else (workload.template.annotations,)
        )
        for marks in places:
            yield from ((marks[key], workload.id) for key in LEGACY if key in marks)
    for node in inventory.nodes:
        yield from ((node.annotations[key], None) for key in LEGACY if key in node.annotations)
    for pool in inventory.node_pools:
        for marks in (pool.annotations, pool.template_annotations):
            yield from ((marks[key], None) for key in LEGACY if key in marks)


RULE = Rule(
    name="do-not-evict-legacy",
    topic="disruption",
    severity="warning",
    doc=__doc__,
    check=check,
)
