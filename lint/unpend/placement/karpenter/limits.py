"""How many pods the limits of a NodePool leave room for: an upper bound (`L-1`, `L-2`)."""

from __future__ import annotations

from math import gcd

from unpend.algebra.selectors import matches
from unpend.model.karpenter_labels import HOSTNAME
from unpend.model.pod import EffectivePod
from unpend.placement.demand import Demand
from unpend.placement.karpenter.decide import PoolAnswer

_MOST_STEPS = 4096


def most_pods(answer: PoolAnswer, demand: Demand, pod: EffectivePod, needed: int) -> int | None:
    """The most pods that the nodes within the limits can hold; None where the limits do not bound the pods needed.

    The sum of the capacities of all nodes stays within every limit. Nothing else runs on them: a true upper bound.
    """
    pool, grid = answer.pool, answer.pool.grid
    if grid is None or pool.space is None or not pool.pool.limits or pool.unknown:
        return None
    mask = may_launch(answer)
    types = grid.collapse(mask)
    capacity = grid.shapes.capacity
    if all(
        types & ~capacity.levels(name, limit.milli // needed + 1)[1] if name in capacity.names else name != "nodes"
        for name, limit in pool.pool.limits.items()
    ):
        # Even one pod a node leaves room.
        return None
    per_type = copies_per_type(answer, demand, pod, needed, mask)
    bounds = []
    for name, limit in pool.pool.limits.items():
        if name == "nodes":
            sizes = {1000: max(per_type.values(), default=0)}
        else:
            sizes = {}
            for number, copies in per_type.items():
                size = grid.shapes.capacity.amount(name, number)[0]
                sizes[size] = max(sizes.get(size, 0), copies)
        bound = _most(sizes, limit.milli, needed)
        if bound is not None:
            bounds.append(bound)
    return min(bounds, default=None)


def may_launch(answer: PoolAnswer) -> int:
    """The pairs that a pool launches for the pod, or has for others where it launches none.

    The plan goes by the first way to have the volumes, the first required term and all preferences; a pod that finds no
    domain so is tried without (§6.2, X-1).
    """
    asked = answer.asked
    if len(asked.volumes.ways) > 1 or len(asked.terms) > 1 or asked.soft:
        return answer.taken | answer.accepted.possible
    return answer.taken or answer.accepted.possible


def copies_per_type(
    answer: PoolAnswer, demand: Demand, pod: EffectivePod, needed: int, mask: int, *, surely: bool = False
) -> dict[int, int]:
    """Per instance type in a mask: how many of the pods (cut off at `needed`) a node holds at most, or surely."""
    pool, grid = answer.pool, answer.pool.grid
    assert grid is not None
    assert pool.space is not None
    alone = bool(demand.ports) or _apart(pod)
    requests = {**{n: a if n == "cpu" else a * 1000 for n, a in demand.requests.items()}, "pods": 1000}
    found = {}
    types = grid.collapse(mask)
    while types:
        lowest = types & -types
        number = lowest.bit_length() - 1
        types ^= lowest
        copies = 1 if alone else needed
        for name, amount in requests.items():
            # The highest possible amount: memory may turn out to be more than configured.
            free = pool.space.low.amount(name, number)[0] if surely else pool.space.high.amount(name, number)[1]
            copies = min(copies, free // amount)
        found[number] = max(copies, 1)
    return found


def _apart(pod: EffectivePod) -> bool:
    """Whether two pods of the workload never share a node."""
    labels = pod.labels
    for term in pod.spec.affinity.anti_required:
        plain = not (term.namespaces or term.namespace_selector or term.match_label_keys or term.mismatch_label_keys)
        alone = plain and term.topology_key == HOSTNAME and term.selector is not None
        if alone and term.selector is not None and matches(term.selector.expressions, labels):
            return True
    return False


def _most(sizes: dict[int, int], limit: int, needed: int) -> int | None:
    """The most pods in nodes whose sizes sum up to the limit at most; None when they are no fewer than needed."""
    if not sizes or any(size <= 0 for size in sizes):
        return None
    if any(limit // size * copies >= needed for size, copies in sizes.items()):
        return None
    packed = _packed(sizes, limit, needed)
    ratio = max(copies * limit // size for size, copies in sizes.items())
    bound = ratio if packed is None else min(packed, ratio)
    return bound if bound < needed else None


def _packed(sizes: dict[int, int], limit: int, needed: int) -> int | None:
    """The exact maximum, cut off at `needed`; None where the sizes have no large common divisor."""
    step = gcd(*sizes)
    if limit // step > _MOST_STEPS:
        return None
    room = limit // step
    most = [0] * (room + 1)
    for used in range(1, room + 1):
        best = most[used - 1]
        for size, copies in sizes.items():
            units = size // step
            if units <= used and most[used - units] + copies > best:
                best = most[used - units] + copies
        if best >= needed:
            return needed
        most[used] = best
    return most[room]
