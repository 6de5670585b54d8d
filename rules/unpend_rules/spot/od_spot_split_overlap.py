"""A split between spot and on-demand by a label whose values overlap, or that a pool does not take part in.

## What it checks

The custom label that splits pods between NodePools of spot and of on-demand nodes (each pool lists values of it, pods are
spread over the label): values that a spot pool and an on-demand pool share, and workloads that are spread over the label
and cannot use both.

## Why it matters

Each value is a share of the pods. A value that both have belongs to neither: the ratio is left to chance. A pod that one
of the pools refuses finds the values of that pool empty for ever, and its replicas stay Pending.

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
metadata: {name: spot}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a]}
        - {key: capacity-spread, operator: In, values: ["1", "2", "3", "4"]}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: od}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a]}
        - {key: capacity-spread, operator: In, values: ["1"]}
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
metadata: {name: spot}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a]}
        - {key: capacity-spread, operator: In, values: ["2", "3", "4", "5"]}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: od}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a]}
        - {key: capacity-spread, operator: In, values: ["1"]}
```

## Options

None.

## References

- [Karpenter: Scheduling, on-demand/spot ratio split](https://karpenter.sh/docs/concepts/scheduling/#on-demandspot-ratio-split)
- [aws/karpenter-provider-aws#3239](https://github.com/aws/karpenter-provider-aws/issues/3239) - karpenter:§5.6
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.karpenter import NodePool, PoolRequirement
from unpend.model.karpenter_labels import CAPACITY_TYPE
from unpend.placement.domains import takes
from unpend.placement.spreading import spreadings
from unpend.rule import Facts, Finding, Related, Rule

Entry = tuple[NodePool, PoolRequirement]


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each overlap, at the values of the later pool; one for each workload that uses one side only."""
    splits = _splits(facts)
    for key, entries in splits.items():
        for number, (pool, mine) in enumerate(entries):
            for other, theirs in entries[:number]:
                shared = sorted(set(mine.values) & set(theirs.values))
                if shared and _capacity(pool) != _capacity(other):
                    yield Finding(
                        mine.place.at("values"),
                        f"{key} {', '.join(shared)} is a value of {pool.name} and of {other.name}: pods that get it may be on "
                        "spot or on-demand, and the ratio is left to chance.",
                        related=(Related(f"the values of {other.name}", theirs.place),),
                        salient=f"{key} {other.name}",
                        repair="give each pool values of its own",
                    )
    if not splits:
        return
    for one in spreadings(facts):
        entries = splits.get(one.constraint.topology_key, [])
        if not entries or not one.is_hard or one.short is not None or one.needed < 2:
            continue
        taking = {pool.pool for pool in one.verdict.pools if takes(pool)}
        missing = [(pool, r) for pool, r in entries if f"NodePool/{pool.name}" not in taking]
        if not missing or len(missing) == len(entries):
            continue
        yield Finding(
            one.constraint.place,
            f"The pods are spread over {one.constraint.topology_key}, and {missing[0][0].name} does not take them: its values "
            "stay empty, and hold the other pools to maxSkew pods a value.",
            related=tuple(Related(f"the values of {pool.name}", r.place) for pool, r in missing[:3]),
            certainty="assumed",
            workload=one.workload.id,
            repair="let the pods use all pools of the split",
        )


def _splits(facts: Facts) -> dict[str, list[Entry]]:
    """The custom labels of which several pools of different capacity types list values."""
    found: dict[str, list[Entry]] = {}
    for pool in facts.inventory.node_pools:
        for requirement in pool.requirements:
            custom = "kubernetes.io/" not in requirement.key and "karpenter" not in requirement.key
            if custom and requirement.operator == "In" and "k8s." not in requirement.key:
                found.setdefault(requirement.key, []).append((pool, requirement))
    return {
        key: entries
        for key, entries in found.items()
        if len({_capacity(pool) for pool, _ in entries}) > 1 and any(len(r.values) > 1 for _, r in entries)
    }


def _capacity(pool: NodePool) -> frozenset[str]:
    return frozenset(v for r in pool.requirements if r.key == CAPACITY_TYPE and r.operator == "In" for v in r.values)


RULE = Rule(
    name="od-spot-split-overlap",
    topic="spot",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("nodepools",),
)
