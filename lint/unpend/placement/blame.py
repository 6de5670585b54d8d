"""Which one obstacle explains a refusal best: the rule that knows its kind speaks of it, all others stay silent.

The pool that is nearest to taking the pod (the cheapest repair) is the one its author most likely meant; the verdict
has its cause from that pool, and the first obstacle of that cause there is the one to name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from unpend.model.inventory import Workload
from unpend.placement.given import FactsLike
from unpend.placement.verdict import Obstacle, PoolVerdict, WorkloadVerdict
from unpend.records import dataclass

REFUSED = ("never", "loop")


@dataclass(frozen=True, slots=True)
class Blame:
    """The obstacle to name, the pool it belongs to, and how the other pools refuse."""

    obstacle: Obstacle
    pool: PoolVerdict
    others: tuple[PoolVerdict, ...]

    def elsewhere(self) -> str:
        """One clause about the other pools, such as `; the other 3 pools refuse by label (2) and taint (1)`."""
        counts: dict[str, int] = {}
        for pool in self.others:
            constraint = pool.obstacles[0].constraint
            kind = _WORDS.get(constraint, constraint)
            counts[kind] = counts.get(kind, 0) + 1
        if not counts:
            return ""
        noun = "pool refuses" if len(self.others) == 1 else f"{len(self.others)} pools refuse"
        kinds = [f"{kind} ({n})" if len(counts) > 1 else kind for kind, n in counts.items()]
        listed = kinds[0] if len(kinds) == 1 else f"{', '.join(kinds[:-1])} and {kinds[-1]}"
        return f"; the other {noun} by {listed}"


_WORDS: Mapping[str, str] = {
    "nodeSelector": "label",
    "nodeAffinity": "label",
    "toleration": "taint",
    "resources": "size",
    "hostPort": "host port",
    "nodeName": "node name",
    "unschedulable": "cordon",
    "topologySpread": "spread",
    "podAffinity": "pod affinity",
    "podAntiAffinity": "pod anti-affinity",
    "volume": "volume",
    "limits": "limit",
    "pool": "pool",
}


def blame(verdict: WorkloadVerdict) -> Blame | None:
    """The obstacle that explains a `never` or `loop` best; None for every other verdict, or where no pool was asked.

    In an open world a pod that all given pools refuse is `conditional` for that reason alone; it is explained too, and
    rules say with `assumes_closed` that their word is then a hint.
    """
    if not (verdict.verdict in REFUSED or _only_others_may(verdict)) or verdict.cause == "rejected":
        return None
    refusing = [pool for pool in verdict.pools if pool.obstacles]
    if not refusing:
        return None
    nearest = verdict.nearest.pool if verdict.nearest else None
    pool = next((p for p in refusing if p.pool == nearest), refusing[0])
    obstacle = next((o for o in pool.obstacles if o.cause == verdict.cause), pool.obstacles[0])
    return Blame(obstacle, pool, tuple(p for p in refusing if p is not pool))


def blamed(facts: FactsLike, *constraints: str) -> Iterator[tuple[Workload, WorkloadVerdict, Blame]]:
    """Every workload whose refusal an obstacle of one of these constraints explains best."""
    for workload in facts.inventory.workloads:
        verdict = facts.verdicts.get(workload.id)
        found = blame(verdict) if verdict else None
        if verdict is not None and found is not None and found.obstacle.constraint in constraints:
            yield workload, verdict, found


def _only_others_may(verdict: WorkloadVerdict) -> bool:
    if verdict.verdict != "conditional" or any(fact.name != "other-pools" for fact in verdict.facts):
        return False
    return bool(verdict.pools) and all(pool.verdict in REFUSED for pool in verdict.pools)


def without_label(obstacle: Obstacle | None) -> str | None:
    """What to do about a label that Karpenter does not let pods ask for (`P-2`); None for every other obstacle."""
    if obstacle is None or obstacle.semantics != "karpenter:P-2" or obstacle.place is None:
        return None
    written = obstacle.place.value
    key = written.get("key") if isinstance(written, dict) else obstacle.place.step
    return f"do not select by {key}; select by a label that the NodePool sets or lists in its requirements"
