"""A pod is pinned to one node by name.

## What it checks

`spec.nodeName` in a template, `kubernetes.io/hostname` in `nodeSelector` or as the only value of a required expression, and
`matchFields` on `metadata.name`. DaemonSets are exempt, and so are selectors on the nodes that are given when the pools hold
fixed nodes only.

## Why it matters

`nodeName` goes past the scheduler: no check of size, taints or spread, and the pod fails instead of waiting. A node that an
autoscaler starts has another name, so nothing ever comes for a pod that is pinned to one.

## Example

```yaml
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeName: worker-1
  containers: [{name: web, image: web:1}]
```

## Instead

Ask for a label that a group of nodes carries.

```yaml
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeSelector: {pool: general}
  containers: [{name: web, image: web:1}]
```

## Options

None.

## References

- [Assigning Pods to Nodes: nodeName](https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodename)
- scheduler:A-303, scheduler:P-511, scheduler:P-512, karpenter:P-2, karpenter:P-3
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.algebra.taints import untolerated
from unpend.model.inventory import Workload
from unpend.model.node_labels import HOSTNAME
from unpend.model.pod import PodTemplate
from unpend.rule import Facts, Finding, Related, Rule
from unpend.source.place import Place


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each place that names a single node."""
    names = {node.name for node in facts.inventory.nodes}
    hosts = {n.labels[HOSTNAME].value for n in facts.inventory.nodes if HOSTNAME in n.labels}
    for workload in facts.inventory.workloads:
        if workload.kind == "DaemonSet":
            continue
        if workload.template.spec.node_name:
            yield _evicted(facts, workload) or _named(workload.template, workload.id)
        for name, place in _pins(workload):
            if name not in hosts | names:
                yield Finding(
                    place,
                    f"Only a node named {name!r} can take this pod; a node that an autoscaler starts has another name.",
                    workload=workload.id,
                    repair="ask for a label that a group of nodes carries",
                )

    for pod in facts.inventory.bound_pods:
        # A dump of a cluster has the name of the node that the scheduler chose; a manifest has what its author wrote.
        if not pod.place.at("metadata", "uid").value and not pod.place.at("status").value:
            yield _named(pod.template, None)


def _evicted(facts: Facts, workload: Workload) -> Finding | None:
    """A pod pinned to a node whose NoExecute taint it does not tolerate: it is evicted and made again, for ever."""
    spec = workload.template.spec
    node = next((n for n in facts.inventory.nodes if n.name == spec.node_name), None)
    pod = facts.effective(workload)
    taints = untolerated(pod.spec.tolerations, node.taints, ("NoExecute",)) if node is not None else ()
    if not taints or workload.kind == "Pod":
        return None
    taint = taints[0]
    return Finding(
        spec.place.at("nodeName"),
        f"nodeName {spec.node_name!r} goes past the scheduler, and the taint {taint.key} (NoExecute) of that node evicts the "
        f"pod: the {workload.kind} makes it again, and so on for ever.",
        related=(Related(f"the taint of Node/{spec.node_name}", taint.place),),
        workload=workload.id,
        repair="ask for a label that a group of nodes carries, and tolerate its taints",
    )


def _named(template: PodTemplate, workload: str | None) -> Finding:
    return Finding(
        template.spec.place.at("nodeName"),
        f"nodeName {template.spec.node_name!r} goes past the scheduler: nothing checks size, taints or spread, and the pod "
        "fails where it does not fit.",
        workload=workload,
        repair="ask for a label that a group of nodes carries",
    )


def _pins(workload: Workload) -> Iterator[tuple[str, Place]]:
    spec = workload.template.spec
    for label in spec.node_selector:
        if label.key == HOSTNAME:
            yield label.value, label.place
    terms = spec.affinity.required or ()
    if len(terms) != 1:
        return
    for expression in (*terms[0].expressions, *terms[0].fields):
        if (
            expression.key in (HOSTNAME, "metadata.name")
            and expression.operator == "In"
            and len(expression.values) == 1
        ):
            yield expression.values[0], expression.place


RULE = Rule(
    name="node-name-pinned",
    topic="labels",
    severity="warning",
    doc=__doc__,
    check=check,
)
