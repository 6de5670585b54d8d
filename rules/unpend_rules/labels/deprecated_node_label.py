"""A node label that Kubernetes or Karpenter replaced.

## What it checks

`nodeSelector`, required and preferred node affinity, topology keys and the labels that pools and PersistentVolumes ask
for are compared with the list of replaced keys: `beta.kubernetes.io/arch`, `beta.kubernetes.io/os`,
`beta.kubernetes.io/instance-type`, `failure-domain.beta.kubernetes.io/zone` and `/region`, `kubernetes.io/role`,
`karpenter.sh/provisioner-name`.

## Why it matters

Most nodes still carry the beta labels, set by kubelet and cloud controllers for compatibility, but nobody promises it.
Autoscalers plan with templates that may lack them; Karpenter renames them in selectors, but *not* in the `topologyKey` of
a spread constraint or pod affinity, which then has no domains at all.

## Example

```yaml
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeSelector:
    beta.kubernetes.io/arch: amd64
  containers: [{name: web, image: web:1}]
```

## Instead

```yaml
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeSelector:
    kubernetes.io/arch: amd64
  containers: [{name: web, image: web:1}]
```

## Options

None.

## References

- [Well-Known Labels, Annotations and Taints](https://kubernetes.io/docs/reference/labels-annotations-taints/)
- scheduler:P-518, karpenter:T-5
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.inventory import Workload
from unpend.model.node_labels import OLDER
from unpend.rule import Edit, Facts, Finding, Fix, Rule, placement
from unpend.source.place import Place

REPLACED = {
    **OLDER,
    "kubernetes.io/role": "a label of your own",
    "karpenter.sh/provisioner-name": "karpenter.sh/nodepool",
}


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding a place that names a replaced key."""
    for workload in facts.inventory.workloads:
        for key, place, is_topology in keys_of(workload):
            new = REPLACED.get(key)
            if new is None:
                continue
            more = "; Karpenter finds no domains under the old key" if is_topology else ""
            obstacle = _is_obstacle(facts, workload, key)
            if obstacle:
                more += ", and no pool carries the old one any more"
            yield Finding(
                place,
                f"{key} is replaced by {new}{more}.",
                severity="error" if obstacle else None,
                part="key" if place.step == key else "value",
                workload=workload.id,
                tags=("deprecated",),
                subject=placement(workload.id) if obstacle else (),
                repair=f"use {new}",
                fixes=_fixes(place, key, new),
            )


def _fixes(place: Place, key: str, new: str) -> tuple[Fix, ...]:
    """The new key in place of the old one; nothing where the new one is written beside it."""
    title = f"Use {new}"
    if place.step != key:
        return (Fix(title, "safe", (Edit("set", place, new),)),)
    beside = (place.parent or place).at(new)
    if beside.value is not None:
        return ()
    return (Fix(title, "safe", (Edit("remove", place), Edit("add", beside, place.value))),)


def keys_of(workload: Workload) -> Iterator[tuple[str, Place, bool]]:
    """Every label key of nodes that a workload names: the key, its place, and whether it is a topology key."""
    spec = workload.template.spec
    for label in spec.node_selector:
        yield label.key, label.place, False
    terms = [*(spec.affinity.required or ()), *(p.term for p in spec.affinity.preferred)]
    for term in terms:
        for expression in term.expressions:
            yield expression.key, expression.place.at("key"), False
    for constraint in spec.spread:
        yield constraint.topology_key, constraint.place.at("topologyKey"), True
    affinity = spec.affinity
    for pod_term in (
        *affinity.pod_required,
        *affinity.anti_required,
        *affinity.pod_preferred,
        *affinity.anti_preferred,
    ):
        inner = pod_term.place if pod_term.weight is None else pod_term.place.at("podAffinityTerm")
        yield pod_term.topology_key, inner.at("topologyKey"), True


def _is_obstacle(facts: Facts, workload: Workload, key: str) -> bool:
    """Whether the old key is what keeps the pod from being placed: then this finding explains the verdict."""
    verdict = facts.verdicts.get(workload.id)
    if verdict is None or verdict.verdict not in ("never", "loop"):
        return False
    return any(
        o.place is not None and (o.place.step == key or o.place.at("key").value == key) for o in verdict.conflict
    )


RULE = Rule(
    name="deprecated-node-label",
    topic="labels",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads",),
    rank=15,
    competes=True,
)
