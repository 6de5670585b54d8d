"""The fewest changes after which both deciders take a pod on nodes of a NodePool, verified by asking both again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from unpend.algebra.quantity import render
from unpend.model.karpenter_labels import normalized
from unpend.model.pod import EffectivePod
from unpend.placement.demand import Alternative, Demand, Written, alternative_from
from unpend.placement.karpenter.asked import soft_constraints
from unpend.placement.karpenter.decide import Decider, PoolAnswer, fewest_changes
from unpend.placement.karpenter.pool import ManagedPool
from unpend.placement.repair import MOST_CHANGES, repaired
from unpend.placement.verdict import Change, Repair
from unpend.records import replace

_MOST_TRIED = 120


class _State(NamedTuple):
    """A pod after some changes; `dropped` are numbers of preferences that are gone."""

    demand: Demand
    dropped: frozenset[int]
    changes: tuple[Change, ...]


_Step = Callable[[Decider, ManagedPool, _State, EffectivePod], Iterator[_State]]


def nearest_pool(decider: Decider, answers: tuple[PoolAnswer, ...], pod: EffectivePod) -> Repair | None:
    """The cheapest repair over all pools that can be used; of equal ones that of the pool that is tried first."""
    best: Repair | None = None
    for answer in answers:
        if answer.pool.space is None or answer.pool.unusable is not None or answer.pool.pool.is_static:
            continue
        most = MOST_CHANGES if best is None else len(best.changes) - 1
        if most < 1:
            break
        if fewest_changes(answer.pool, answer.demand) > most:
            continue
        found = _nearest(decider, answer, pod, most)
        if found is not None and len(found.changes) <= most:
            best = found
    return best


def _nearest(decider: Decider, answer: PoolAnswer, pod: EffectivePod, most: int) -> Repair | None:
    """The cheapest repair for one pool with at most this many changes."""
    pool = answer.pool
    assert pool.space is not None
    start = _State(answer.demand, frozenset(), ())
    if not answer.accepted.possible:
        first = repaired(answer.demand, pool.space)
        if first is None or len(first[0].changes) > most:
            return None
        start = _State(first[1], frozenset(), first[0].changes)
    waiting = [start]
    tried = 0
    while waiting:
        state = waiting.pop(0)
        if state.changes and _taken(decider, pool, state, pod):
            return Repair(pool.name, state.changes)
        tried += 1
        if len(state.changes) < most and tried + len(waiting) < _MOST_TRIED:
            waiting.extend(_steps(decider, pool, state, pod))
    return None


def _taken(decider: Decider, pool: ManagedPool, state: _State, pod: EffectivePod) -> bool:
    asked = decider.asked(state.demand, pod, state.dropped)
    return decider.answer(pool, asked, state.demand).verdict == "fits"


def _steps(decider: Decider, pool: ManagedPool, state: _State, pod: EffectivePod) -> Iterator[_State]:
    """The pod after one more change that may make Karpenter launch a node, the most likely one first."""
    steps: tuple[_Step, ...] = (_without_refused, _with_other_order, _without_preference, _without_clash, _smaller)
    for step in steps:
        yield from step(decider, pool, state, pod)


def _without_refused(decider: Decider, pool: ManagedPool, state: _State, pod: EffectivePod) -> Iterator[_State]:
    """Without the constraint for which Karpenter does not look at the pod at all."""
    refused = decider.asked(state.demand, pod, state.dropped).refused
    if refused is None:
        return
    for alternative in state.demand.alternatives:
        for written in alternative.written:
            if written.place == refused.place:
                yield _dropped(state, written)
                return


def _with_other_order(decider: Decider, pool: ManagedPool, state: _State, pod: EffectivePod) -> Iterator[_State]:
    """With another required term last: it alone is tried without the preferences (`X-1`)."""
    alternatives = state.demand.alternatives
    for number, alternative in enumerate(alternatives):
        if len(alternatives) > 1 and number < len(alternatives) - 1:
            order = (*(a for a in alternatives if a is not alternative), alternative)
            change = Change(
                f"put term {number + 1} of the required node affinity last: Karpenter gives up the other terms before "
                "any preference, and tries only the last one without them",
                alternative.term,
            )
            yield _State(replace(state.demand, alternatives=order), state.dropped, (*state.changes, change))
    for number, alternative in enumerate(alternatives):
        if number > 0:
            order = (alternative, *(a for a in alternatives if a is not alternative))
            change = Change(f"put term {number + 1} of the required node affinity first", alternative.term)
            yield _State(replace(state.demand, alternatives=order), state.dropped, (*state.changes, change))


def _without_preference(decider: Decider, pool: ManagedPool, state: _State, pod: EffectivePod) -> Iterator[_State]:
    for number, soft in enumerate(soft_constraints(pod)):
        if number not in state.dropped:
            change = Change(f"drop {soft.what}: Karpenter holds it as if it were required", soft.place)
            yield _State(state.demand, state.dropped | {number}, (*state.changes, change))


def _without_clash(decider: Decider, pool: ManagedPool, state: _State, pod: EffectivePod) -> Iterator[_State]:
    """Without a constraint on a label of which Karpenter sees no value in the pool."""
    plan = decider.planner.plan(pool, decider.asked(state.demand, pod, state.dropped))
    for refusal in plan.refusals[-1:]:
        if refusal.clash is None:
            continue
        for alternative in state.demand.alternatives:
            for written in alternative.written:
                if normalized(written.key) == refusal.clash.key:
                    yield _dropped(state, written)


def _smaller(decider: Decider, pool: ManagedPool, state: _State, pod: EffectivePod) -> Iterator[_State]:
    """With one request cut down to what the types have left beside the DaemonSets that Karpenter counts."""
    plan = decider.planner.plan(pool, decider.asked(state.demand, pod, state.dropped))
    if not plan.refusals or plan.refusals[-1].stage != "types" or pool.planned is None or pool.grid is None:
        return
    types = pool.grid.collapse(plan.refusals[-1].labels)
    for resource, units in state.demand.requests.items():
        milli = units if resource == "cpu" else units * 1000
        most = pool.planned.largest(resource, types)[0]
        if 0 < most < milli:
            requests = {**state.demand.requests, resource: most if resource == "cpu" else most // 1000}
            places = state.demand.request_places.get(resource, ())
            change = Change(
                f"lower the {resource} request from {render(milli, resource)} to at most {render(most, resource)}",
                places[0] if places else state.demand.spec_place,
            )
            yield _State(replace(state.demand, requests=requests), state.dropped, (*state.changes, change))


def _dropped(state: _State, written: Written) -> _State:
    """Without one constraint, in every alternative that has it."""
    alternatives = tuple(_less(a, written) for a in state.demand.alternatives)
    where = "nodeSelector" if written.kind == "nodeSelector" else "the required node affinity"
    change = Change(f"drop {written.text} from {where}", written.place)
    return _State(replace(state.demand, alternatives=alternatives), state.dropped, (*state.changes, change))


def _less(alternative: Alternative, written: Written) -> Alternative:
    kept = [w for w in alternative.written if w != written]
    if len(kept) == len(alternative.written):
        return alternative
    return alternative_from(kept, alternative.names, alternative.broken, alternative.term)
