"""`minValues` asks for more different values than the instance types have.

## What it checks

Each requirement with `minValues` in a NodePool: the number of listed values, and the number of different values that the instance
types left by all requirements carry for the key. A label of your own counts 0, since no instance type carries it. Then each pod
that narrows such a key: what is left of it must still have so many values. With `minValuesPolicy: BestEffort` the rule speaks at
`info`, since Karpenter then lowers the number.

## Why it matters

Karpenter says "minValues requirement is not met for label(s)" and launches nothing: for no pod at all, or for the pods that narrow
the key, such as a pod that pins the instance type on a pool that wants several.

## Example

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: spot}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m5, m6i], minValues: 3}
```

## Instead

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: spot}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m5, m6i, m7i], minValues: 3}
```

## Options

None.

## References

- [Karpenter: NodePools, minValues](https://karpenter.sh/docs/concepts/nodepools/#min-values)
- [kubernetes-sigs/karpenter#2999](https://github.com/kubernetes-sigs/karpenter/issues/2999)
- karpenter §2.8, karpenter:N-4
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.facts import managed_pools_of
from unpend.placement.karpenter.manifest_problems import manifest_problems
from unpend.placement.karpenter.pool_facts import is_legal, short_of_values
from unpend.placement.verdict import PoolVerdict
from unpend.rule import Facts, Finding, Rule, against, illegal, unplaced


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each `minValues` of a pool that cannot be met, then for each pod that makes one so."""
    problems = facts.memo("karpenter-problems", lambda: manifest_problems(facts.inventory))
    for told in problems.get("min-values", ()):
        yield illegal(told.problem, owns=told.owns)
    yield from _pools(facts)
    if any(r.min_values is not None for pool in facts.inventory.node_pools for r in pool.requirements):
        yield from _pods(facts)


def _pools(facts: Facts) -> Iterator[Finding]:
    best_effort = facts.settings.karpenter.min_values_policy == "BestEffort"
    pools = managed_pools_of(facts)
    for found in pools.pools:
        if not is_legal(found):
            continue
        for short in short_of_values(found, pools):
            key, wanted = short.requirement.key, short.requirement.min_values
            if short.custom:
                why = f"no instance type carries {key}, a label of your own, so it counts 0"
            else:
                why = f"the instance types that its requirements leave have {short.carried} of {key}"
            yield Finding(
                short.requirement.place.at("minValues"),
                f"{found.name} wants at least {wanted} different values, but {why}: "
                + ("Karpenter lowers the number (BestEffort)." if best_effort else "it launches nothing."),
                severity="info" if best_effort else None,
                certainty="proved" if short.custom else "catalog",
                repair="drop minValues from this requirement"
                if short.custom
                else f"lower minValues to {short.carried} or allow more",
            )


def _pods(facts: Facts) -> Iterator[Finding]:
    for workload in facts.inventory.workloads:
        verdict = facts.verdicts.get(workload.id)
        if verdict is None or verdict.verdict in ("fits", "skipped", "partial"):
            continue
        for pool in verdict.pools:
            obstacle = next((o for o in pool.obstacles if o.semantics == "karpenter:§2.8"), None)
            if obstacle is None or _of_the_pool(pool):
                continue
            yield unplaced(
                verdict,
                obstacle.place or workload.template.spec.place,
                f"{obstacle.message[0].upper()}{obstacle.message[1:]}.",
                against(obstacle, f"of {pool.pool}"),
                severity="error" if verdict.verdict in ("never", "loop") else "warning",
                salient=pool.pool,
                assumes_closed=("pools",),
            )
            break


def _of_the_pool(pool: PoolVerdict) -> bool:
    """Whether the pool can make no node for any pod: then the finding on the pool says so."""
    return pool.cause == "pool-unusable"


RULE = Rule(
    name="min-values-unsatisfiable",
    topic="pools",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("nodepools",),
    rank=45,
    competes=True,
)
