"""Topology rules on NodePools: whether one pod can be first on a pool, then how many replicas can run (§5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from unpend.algebra import values as true_values
from unpend.model.inventory import Inventory
from unpend.model.karpenter_labels import HOSTNAME
from unpend.model.pod import EffectivePod, PodAffinityTerm, SpreadConstraint
from unpend.placement.company import stands_alone
from unpend.placement.counts import Placing, tied_together
from unpend.placement.demand import Demand
from unpend.placement.fixed import FixedNodes
from unpend.placement.karpenter.cells import TooManyCellsError, topology_keys
from unpend.placement.karpenter.decide import NO_PLAN, PoolAnswer, could_have
from unpend.placement.karpenter.inverse import held_off
from unpend.placement.karpenter.limits import copies_per_type, may_launch
from unpend.placement.karpenter.managed import ManagedPools
from unpend.placement.karpenter.ordinals import in_order
from unpend.placement.karpenter.spread import TOPOLOGY, Count, Spreads
from unpend.placement.karpenter.universe import Universe, launched
from unpend.placement.replicas.fixed import Replicas
from unpend.placement.replicas.scenes import Wanted, controller_labels
from unpend.placement.scheduler.inter_pod_affinity import Namespaces, PodTerms
from unpend.placement.scheduler.topology_spread import HardConstraint, hard_constraints
from unpend.placement.verdict import Against, Cause, Fact, Obstacle
from unpend.records import dataclass, field, replace
from unpend.settings import Settings

MOST_STEPS = 2_000
"""Steps for one group of workloads on NodePools, where settings do not say fewer."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What topology rules leave of the replicas of one workload; `at_most` None: they do not bound them.

    `stuck`: an unlucky order leaves fewer. `rollout` and `maximum` are bounds for those numbers, None: not bounded.
    """

    at_least: int
    at_most: int | None
    cause: Cause | None = None
    facts: tuple[Fact, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    stuck: bool | None = False
    contention: tuple[tuple[str, ...], ...] = ()
    rollout: int | None = None
    maximum: int | None = None
    derived: bool = field(default=False)


@dataclass(slots=True)
class Topology:
    """The topology rules of all workloads of one run over its NodePools."""

    pools: ManagedPools
    inventory: Inventory
    settings: Settings
    universe: Universe = field(init=False)
    namespaces: Namespaces = field(init=False)

    def __post_init__(self) -> None:
        self.universe = Universe(self.pools, self.inventory.nodes)
        self.namespaces = {name: dict(found.labels) for name, found in self.inventory.namespaces.items()}

    # One pod, the first of its workload, on one pool

    def first(self, answer: PoolAnswer, demand: Demand, pod: EffectivePod) -> PoolAnswer:
        """The answer of a pool to the first pod with its topology rules: the keys have to be known."""
        if answer.pool.grid is None or not (answer.needs_others or answer.verdict in ("fits", "conditional")):
            return answer
        for rule, needs_label in _rules(pod):
            found = self._lacks(answer, demand, rule, needs_label)
            if found is not None:
                return found
            if answer.needs_others and answer.first is not None and answer.first < answer.asked.attempts[-1].index:
                # The domain is drawn at random (T-14): where it has none of the types, more of the pod is relaxed.
                message = f"which domain of {rule.topology_key} Karpenter draws, and so what it launches in the end"
                fact = Fact("launch-choice", message, rule.place.at("topologyKey"))
                return replace(answer, verdict="conditional", cause="launch-choice", facts=(fact,), needs_others=False)
        return answer

    def _lacks(
        self, answer: PoolAnswer, demand: Demand, rule: SpreadConstraint | PodAffinityTerm, needs_label: bool
    ) -> PoolAnswer | None:
        """The answer of a pool that has no domain of a key: its nodes never have the label, or Karpenter knows none."""
        key, pool = rule.topology_key, answer.pool
        known = frozenset(v for giver in self.universe.givers(key) for v in giver.values) | self.universe.on_nodes(key)
        values, exact = launched(pool, key, answer.taken or answer.accepted.possible, known)
        if values or not exact:
            return None
        constraint, cause = _words(rule, needs_label)
        place = rule.place.at("topologyKey")
        against = Against(pool.name, pool.source.requirements())
        if needs_label and not could_have(pool, key, true_values.exists()):
            message = f"nodes of {pool.name} have no label {key}, which the pod is placed by (topologyKey)"
            obstacle = Obstacle(constraint, message, "scheduler:P-808", place, against, cause)
            return _refused(answer, obstacle, cause, others=False)
        message = (
            f"no NodePool gives values for {key}, so Karpenter knows no domain of it and launches no node of "
            f"{pool.name} for the pod (unsatisfiable topology constraint)"
        )
        obstacle = Obstacle(
            constraint, message, "karpenter:T-44" if not needs_label else "karpenter:T-5", place, against
        )
        return _refused(answer, replace(obstacle, cause="autoscaler-refuses"), None, others=True)

    # All replicas of all workloads

    def count(
        self,
        placings: Sequence[Placing],
        fixed: FixedNodes,
        answers: Mapping[str, Sequence[PoolAnswer]],
        on_nodes: Mapping[str, int],
    ) -> Mapping[str, Tally]:
        """What topology rules leave of every workload that has one, or that one looks at."""
        rows = {p.workload.id: _constraints(p) for p in placings if p.pod.spec.spread}
        ruled = [p for p in placings if rows.get(p.workload.id) or topology_keys(p.pod) or _by_host(p.pod)]
        if not ruled:
            return {}
        found = self._by_affinity(placings, fixed, answers)
        for workload, fact in held_off(placings, answers, self.universe, self.namespaces) if found else ():
            known = found.get(workload, Tally(0, None))
            found[workload] = replace(known, at_least=0, facts=(*known.facts, fact), derived=True)
        peers = _Peers(placings, self.inventory)
        for placing in ruled:
            constraints = rows.get(placing.workload.id, ())
            if not constraints or all(c.key == HOSTNAME for c in constraints):
                continue
            workload = placing.workload.id
            shared = frozenset(n for n, c in enumerate(constraints) if peers.counted(c, placing))
            spreads = Spreads(self.universe, placing, answers[workload], on_nodes.get(workload, 0), shared)
            if placing.shares:
                one = in_order(placing, constraints, bool(shared), self.universe)
            else:
                one = spreads.count(constraints)
            tally = found.get(workload)
            alone = tally is None or stands_alone(placing, self.inventory)
            found[workload] = _both(tally, one, placing, alone)
        return found

    def _by_affinity(
        self, placings: Sequence[Placing], fixed: FixedNodes, answers: Mapping[str, Sequence[PoolAnswer]]
    ) -> dict[str, Tally]:
        looking = [p for p in placings if topology_keys(p.pod) or p.pod.spec.affinity.pod_required]
        if not looking and not any(
            t.topology_key != HOSTNAME
            for held in fixed.bound
            for o in held
            if o.pod is not None
            for t in o.pod.template.spec.affinity.anti_required
        ):
            return {}
        tied = tied_together([_without_spread(p) for p in placings], fixed, self.inventory)
        together = [p for p in placings if p.workload.id in tied]
        shared = {p.workload.id for p in together if p.shares}
        from unpend.placement.karpenter.census import PoolCensus

        settings = replace(self.settings, step_budget=min(self.settings.step_budget, MOST_STEPS))
        wanted = [Wanted(p.workload, p.pod, p.demand, p.needed, p.surge, p.maximum) for p in together]
        try:
            census = PoolCensus(wanted, fixed, self.inventory, settings, answers, self.universe)
            result = census.result()
        except TooManyCellsError:
            return {p.workload.id: Tally(0, None, facts=(_where(p),)) for p in looking}
        found: dict[str, Tally] = {}
        vague = bool(census.vague)
        exact = not any(not cell.vague for cell in census.cells) and not fixed.nodes
        for index, placing in enumerate(together):
            one = result.counts[placing.workload.id]
            tally = _tally(placing, one, result.groups_of(placing.workload.id))
            if shared:
                tally = replace(tally, at_least=0, at_most=None, facts=(_where(placing),))
            elif vague and one.at_most:
                unsure = 0 if not exact else tally.at_least
                bound = None if index in census.vague or not exact else tally.at_most
                tally = replace(tally, at_least=unsure, at_most=bound, rollout=None, maximum=None)
                if unsure < placing.needed:
                    tally = replace(tally, facts=(*tally.facts, _where(placing)), cause=None)
            tally = self._on_one_node(tally, placing, answers[placing.workload.id])
            found[placing.workload.id] = self._beside_daemons(tally, placing)
        return found

    def _beside_daemons(self, tally: Tally, placing: Placing) -> Tally:
        """Pods that want those of a DaemonSet: only nodes that are there have them (`T-31`, `T-35`)."""
        required = placing.pod.spec.affinity.pod_required
        if not required:
            return tally
        own = PodTerms.of(placing.pod.spec.affinity, placing.pod.namespace, controller_labels(placing.workload))
        for workload in self.inventory.workloads:
            if workload.kind != "DaemonSet":
                continue
            daemon = PodTerms(workload.namespace, controller_labels(workload))
            if own.meant_by_all(daemon, self.namespaces):
                message = f"whether there are nodes with a pod of {workload.id}: no node has one when it is launched"
                return Tally(0, None, facts=(Fact("existing-node", message, required[0].place),))
        return tally

    def _on_one_node(self, tally: Tally, placing: Placing, answers: Sequence[PoolAnswer]) -> Tally:
        """Pods that have to share a node: as many as the largest takes (`T-35`, S-918)."""
        if not any(t.topology_key == HOSTNAME for t in placing.pod.spec.affinity.pod_required):
            return tally
        own = PodTerms.of(placing.pod.spec.affinity, placing.pod.namespace, controller_labels(placing.workload))
        itself = own.meant_by_all(own, self.namespaces)
        taking = [a for a in answers if a.verdict in ("fits", "conditional")]
        alone = itself and tally.at_most is not None and not self.inventory.nodes
        if not alone or any(a.pool.grid is None for a in taking) or not taking:
            return replace(
                tally, at_least=min(tally.at_least, 1 if itself else 0), facts=(*tally.facts, _where(placing))
            )
        most, least = 0, placing.needed
        for answer in taking:
            mask = may_launch(answer)
            most = max(most, *copies_per_type(answer, placing.demand, placing.pod, 1 << 30, mask).values())
            if answer.verdict == "fits":
                own_least = copies_per_type(answer, placing.demand, placing.pod, 1 << 30, mask, surely=True)
                least = min(least, *own_least.values())
        if not _only_itself(placing):
            return replace(tally, at_least=min(tally.at_least, 1), facts=(*tally.facts, _where(placing)))
        bound = min(most, tally.at_most if tally.at_most is not None else most)
        facts = tally.facts
        if least < placing.needed <= bound:
            what = "which instance type is launched: all pods have to share one node"
            facts = (*facts, Fact("launch-choice", what, placing.pod.spec.affinity.pod_required[0].place))
        if bound >= placing.needed:
            return replace(tally, at_least=min(tally.at_least, least), facts=facts)
        place = placing.pod.spec.affinity.pod_required[0].place
        message = f"the {placing.needed} pods have to share one node, and no node takes more than {bound} of them"
        obstacle = Obstacle("podAffinity", message, "karpenter:T-35", place, None, "affinity")
        return replace(
            tally, at_least=min(least, bound), at_most=bound, cause="affinity", obstacles=(obstacle,), rollout=bound
        )


def _rules(pod: EffectivePod) -> Iterator[tuple[SpreadConstraint | PodAffinityTerm, bool]]:
    """Every rule with a topology key other than the name of the host, and whether nodes need the label for it."""
    affinity = pod.spec.affinity
    for constraint in pod.spec.spread:
        if constraint.when_unsatisfiable == "DoNotSchedule" and constraint.topology_key != HOSTNAME:
            yield constraint, True
    for term in affinity.pod_required:
        if term.topology_key != HOSTNAME:
            yield term, True
    for term in affinity.anti_required:
        if term.topology_key != HOSTNAME:
            yield term, False


def has_rules(pod: EffectivePod) -> bool:
    """Whether a pod has a hard topology rule by another key than the name of the host."""
    return next(_rules(pod), None) is not None


def _words(rule: SpreadConstraint | PodAffinityTerm, needs_label: bool) -> tuple[str, Cause]:
    if isinstance(rule, SpreadConstraint):
        return "topologySpread", "topology"
    return ("podAffinity" if needs_label else "podAntiAffinity"), "affinity"


def _refused(answer: PoolAnswer, obstacle: Obstacle, cause: Cause | None, *, others: bool) -> PoolAnswer:
    return replace(
        answer,
        verdict="never",
        cause=cause,
        plan=NO_PLAN,
        taken=0,
        needs_others=others,
        first=None,
        facts=(),
        settled=(obstacle,),
    )


def _by_host(pod: EffectivePod) -> bool:
    return any(term.topology_key == HOSTNAME for term in pod.spec.affinity.pod_required)


def _constraints(placing: Placing) -> tuple[HardConstraint, ...]:
    return hard_constraints(placing.pod.spec, controller_labels(placing.workload))


def _without_spread(placing: Placing) -> Placing:
    if not placing.pod.spec.spread:
        return placing
    from unpend.placement.karpenter.cells import for_cells

    return replace(placing, pod=for_cells(placing.pod))


def _only_itself(placing: Placing) -> bool:
    """Whether the only required terms of a pod are by host, and mean its own workload."""
    return len(placing.pod.spec.affinity.pod_required) == 1


def _where(placing: Placing) -> Fact:
    message = "on which nodes the pods run that its spread or affinity rules count"
    return Fact(TOPOLOGY, message, placing.demand.spec_place)


def _tally(placing: Placing, one: Replicas, contention: tuple[tuple[str, ...], ...]) -> Tally:
    return Tally(
        one.at_least,
        one.at_most,
        one.cause,
        one.facts,
        one.obstacles,
        one.stuck,
        contention,
        one.rollout if one.rollout is not None and one.rollout < placing.needed + placing.surge else None,
        one.maximum if one.maximum is not None and one.maximum < placing.maximum else None,
    )


def _both(known: Tally | None, count: Count, placing: Placing, alone: bool) -> Tally:
    """Spread and affinity together. Where both go by one key, Karpenter's choices may miss each other (`T-14`)."""
    bound = count.bound
    rollout = None
    if bound is not None and not count.derived and not _tells_revisions_apart(placing):
        rollout = bound if placing.surge and bound < placing.needed + placing.surge else None
    maximum = bound if bound is not None and bound < placing.maximum else None
    most = None if bound is None else min(bound, placing.needed)
    spread = Tally(
        count.at_least, most, count.cause, count.facts, count.obstacles, False, (), rollout, maximum, count.derived
    )
    if known is None:
        return spread
    facts = tuple(dict.fromkeys((*known.facts, *spread.facts)))
    affinity = placing.pod.spec.affinity
    bounds = [tally for tally in (known, spread) if tally.at_most is not None]
    least = min(known.at_least, spread.at_least)
    apart = [term for term in affinity.anti_required if term.topology_key != HOSTNAME]
    if affinity.pod_required or (apart and not alone):
        least = min(least, 1)
        what = "which domain Karpenter chooses: it looks for one by spread and one by affinity, each alone"
        facts = (*facts, Fact(TOPOLOGY, what, placing.demand.spec_place))
    lowest = min(bounds, key=lambda tally: tally.at_most or 0, default=known)
    return replace(
        lowest,
        at_least=least,
        facts=facts,
        stuck=known.stuck,
        contention=known.contention,
        rollout=min((t.rollout for t in (known, spread) if t.rollout is not None), default=None),
        maximum=min((t.maximum for t in (known, spread) if t.maximum is not None), default=None),
        derived=lowest.derived,
    )


def _tells_revisions_apart(placing: Placing) -> bool:
    """Whether a spread constraint may count the pods of a new revision by themselves (S-817)."""
    return any(constraint.match_label_keys for constraint in placing.pod.spec.spread)


class _Peers:
    """Who else is counted by a spread constraint."""

    def __init__(self, placings: Sequence[Placing], inventory: Inventory) -> None:
        self.by_namespace: dict[str, list[Placing]] = {}
        for placing in placings:
            self.by_namespace.setdefault(placing.pod.namespace, []).append(placing)
        self.bound: dict[str, list[dict[str, str]]] = {}
        for pod in inventory.bound_pods:
            labels = {key: label.value for key, label in pod.template.labels.items()}
            self.bound.setdefault(pod.template.namespace, []).append(labels)
        for workload in inventory.workloads:
            if workload.kind == "DaemonSet":
                self.bound.setdefault(workload.namespace, []).append(controller_labels(workload))

    def counted(self, constraint: HardConstraint, placing: Placing) -> bool:
        """Whether pods that are not of the workload, or that run already, are counted."""
        namespace = placing.pod.namespace
        if constraint.selector is None:
            # An empty selector: Karpenter counts every pod of the namespace (T-16).
            own = constraint.written.selector is not None
            return own and (len(self.by_namespace[namespace]) > 1 or bool(self.bound.get(namespace)))
        if any(constraint.counts(labels) for labels in self.bound.get(namespace, ())):
            return True
        return any(
            other is not placing and constraint.counts(controller_labels(other.workload))
            for other in self.by_namespace[namespace]
        )
