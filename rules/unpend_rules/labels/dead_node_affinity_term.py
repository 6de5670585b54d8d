"""One of several required node affinity terms can never match, so a fallback does not exist.

## What it checks

The terms of a required node affinity are alternatives. The rule reports a term that contradicts itself or `nodeSelector`,
or that is empty, while another term of the same pod is fine; and, where all pools are known, a term whose labels no pool
has.

## Why it matters

The pod runs, so nobody notices that the way out the author counted on is not there, until the other term fails. Karpenter
also takes the terms in order: a dead first term costs a scheduling attempt each time.

## Example

```yaml
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeSelector: {disk: ssd}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchExpressions: [{key: team, operator: In, values: [shop]}]
          - matchExpressions: [{key: disk, operator: In, values: [hdd]}]
  containers: [{name: web, image: web:1}]
```

## Instead

```yaml
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchExpressions: [{key: team, operator: In, values: [shop]}]
          - matchExpressions: [{key: disk, operator: In, values: [ssd, hdd]}]
  containers: [{name: web, image: web:1}]
```

## Options

None.

## References

- [Node affinity](https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#node-affinity)
- scheduler:P-503, scheduler:P-505, scheduler:P-506, scheduler:P-514, karpenter:X-2
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.contradictions import dead_alternatives
from unpend.placement.demand import demand_of
from unpend.placement.facts import label_supply_of
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding a dead term, where at least one other term of the pod is alive."""
    supply = label_supply_of(facts)
    for workload in facts.inventory.workloads:
        required = workload.template.spec.affinity.required
        if required is None or len(required) < 2:
            continue
        demand = demand_of(facts.effective(workload))
        dead = {id(alternative): why for alternative, why in dead_alternatives(demand)}
        unmatched = [a for a in demand.alternatives if id(a) not in dead and supply.surely_unmatched(a)]
        if len(dead) + len(unmatched) == len(demand.alternatives):
            continue  # Nothing is left: the placement rules speak of the pod as a whole.
        for alternative in demand.alternatives:
            why = dead.get(id(alternative))
            if why is not None:
                yield Finding(
                    why.place,
                    f"This term never matches a node: {why.message}; only the other terms count.",
                    related=tuple(Related(text, place) for text, place in why.others),
                    workload=workload.id,
                    tags=("unnecessary",),
                    assumes_closed=(),
                )
            elif alternative in unmatched and alternative.term is not None:
                texts = " and ".join(w.text for w in alternative.written if w.kind == "nodeAffinity")
                yield Finding(
                    alternative.term,
                    f"This term never matches a node: no pool has {texts}; only the other terms count.",
                    workload=workload.id,
                    tags=("unnecessary",),
                    assumes_closed=("pools",),
                )


RULE = Rule(
    name="dead-node-affinity-term",
    topic="labels",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads",),
    assumes_closed=("pools",),
    when=("node-selection",),
)
