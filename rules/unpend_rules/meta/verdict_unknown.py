"""Whether the pods can be placed depends on a fact that is not given.

## What it checks

Workloads whose verdict is `conditional`: neither "fits" nor "stays Pending" can be proved, and one fact decides. The finding
names that fact, so that it can be given: a pool file, an entry of the configuration, an object of another repository.

## Why it matters

Silence would read as "fits". With `--fail-on-unknown` a run fails on such workloads.

## Example

```yaml
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}
status:
  allocatable: {cpu: "4", memory: 16Gi, pods: "58"}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  schedulerName: batch-scheduler
  containers: [{name: web, image: web:1}]
```

## Instead

Give the fact that is named; here, leave the pod to the default scheduler, whose rules are known.

```yaml
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}
status:
  allocatable: {cpu: "4", memory: 16Gi, pods: "58"}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: web, image: web:1}]
```

## Options

None.

## References

- [Configure multiple schedulers](https://kubernetes.io/docs/tasks/extend-kubernetes/configure-multiple-schedulers/)
- [Kubernetes scheduler](https://kubernetes.io/docs/concepts/scheduling-eviction/kube-scheduler/)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Related, Rule, unplaced


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload with a conditional verdict, at the value that makes it so where there is one."""
    for workload in facts.inventory.workloads:
        verdict = facts.verdicts.get(workload.id)
        if verdict is None or verdict.verdict != "conditional":
            continue
        own = next((f.place for f in verdict.facts if f.place and f.place.object is workload.object), None)
        elsewhere = [f for f in verdict.facts if f.place and f.place.object is not workload.object]
        reasons = "; ".join(dict.fromkeys(f.message for f in verdict.facts)) or f"the cause is {verdict.cause}"
        yield unplaced(
            verdict,
            own or workload.template.spec.place,
            f"Whether these pods can be placed depends on what the files do not say: {reasons}.",
            tuple(Related(f.message, f.place) for f in elsewhere if f.place),
            salient=",".join(f.name for f in verdict.facts),
        )


RULE = Rule(
    name="verdict-unknown",
    topic="meta",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    rank=950,
    competes=True,
)
