"""Hard topology spread of one workload over nodes that Karpenter would launch (`karpenter.md` §5.3).

Karpenter launches a node for a pod only in a domain that its own count leaves open, over its own universe; on nodes
that are there kube-scheduler decides, and that counts the domains of nodes only. So there are two numbers: pods that
Karpenter surely launches for, and pods that all those nodes can hold at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

from unpend.model.karpenter_labels import HOSTNAME
from unpend.placement.counts import Placing
from unpend.placement.held_domains import held_domains
from unpend.placement.karpenter.decide import PoolAnswer
from unpend.placement.karpenter.limits import copies_per_type, may_launch
from unpend.placement.karpenter.plan import EVERY_EFFECT
from unpend.placement.karpenter.pool import ManagedPool
from unpend.placement.karpenter.requirement import Requirement
from unpend.placement.karpenter.requirements import Requirements
from unpend.placement.karpenter.universe import Giver, Universe, launched, tolerates
from unpend.placement.scheduler.topology_spread import HardConstraint
from unpend.placement.verdict import Against, Cause, Fact, Obstacle
from unpend.records import dataclass, replace

TOPOLOGY = "topology"
MOST_COMBINATIONS = 4096


@dataclass(frozen=True, slots=True)
class Count:
    """Between `at_least` and `at_most` of the needed pods can run at once; `at_most` None: nothing bounds them.

    `bound` is the same upper bound for any number of pods. `derived`: it rests on rules read from code alone.
    """

    at_least: int
    bound: int | None = None
    cause: Cause | None = None
    facts: tuple[Fact, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    derived: bool = False


@dataclass(frozen=True, slots=True)
class _Domains:
    """The domains of one constraint for one term of a pod.

    `surely` are those that count for certain, with the pool that gives each (None: a node); `perhaps` all that may.
    `launchable` has per pool what it launches. `here` are those of nodes that take the pod, `held` those of nodes that
    kube-scheduler counts. `vague`: there may be others.
    """

    surely: Mapping[str, ManagedPool | None]
    perhaps: frozenset[str]
    launchable: Sequence[tuple[PoolAnswer, Mapping[str, int]]]
    here: frozenset[str]
    held: frozenset[str]
    vague: bool
    vague_launch: bool

    @property
    def reached(self) -> frozenset[str]:
        """The domains in which some pool launches nodes."""
        return frozenset(value for _, values in self.launchable for value in values)

    @property
    def fitting(self) -> frozenset[str]:
        """The domains in which some pool surely launches nodes that take the pod."""
        taking = [(a, values) for a, values in self.launchable if a.verdict == "fits"]
        return frozenset(v for a, values in taking for v, mask in values.items() if _fits(a, mask))


def _fits(answer: PoolAnswer, mask: int) -> bool:
    """Whether nodes of a mask are launched: for the way to have the volumes that the plan goes by, or another one."""
    grid = answer.pool.grid
    if mask & answer.taken or grid is None:
        return bool(mask & answer.taken)
    return bool(grid.collapse(answer.taken) & grid.collapse(mask & answer.accepted.sure))


class Spreads:
    """The counts of one workload for all of its hard spread constraints."""

    def __init__(
        self, universe: Universe, placing: Placing, answers: Sequence[PoolAnswer], on_nodes: int, shared: frozenset[int]
    ) -> None:
        """`on_nodes` pods find room on existing nodes; `shared` are the constraints that count other pods too."""
        self.universe = universe
        self.placing = placing
        self.answers = [a for a in answers if a.verdict in ("fits", "conditional")]
        self.on_nodes = on_nodes
        self.shared = shared
        self.tolerations = placing.demand.tolerations + placing.demand.possible_tolerations

    def count(self, constraints: Sequence[HardConstraint]) -> Count:
        """All constraints together: the smallest of their counts (`T-18`)."""
        needed = self.placing.needed
        found = Count(needed)
        coarse = [c for c in constraints if c.key != HOSTNAME and c.itself]
        for number, constraint in enumerate(constraints):
            if constraint.key == HOSTNAME or not (constraint.itself or number in self.shared):
                # A new node is always a fresh domain (T-13); where nobody is counted nobody is one too many (T-16).
                continue
            one = self._one(constraint, number in self.shared)
            bound = one.bound if found.bound is None else found.bound
            if one.bound is not None and found.bound is not None:
                bound = min(one.bound, found.bound)
            worse = one if one.bound is not None and bound == one.bound else found
            found = replace(
                worse,
                bound=bound,
                at_least=min(found.at_least, one.at_least),
                facts=tuple(dict.fromkeys((*found.facts, *one.facts))),
                derived=found.derived or one.derived,
            )
        keys = tuple(dict.fromkeys(c.key for c in coarse))
        if len(keys) < len(coarse) or not self._free(keys):
            # Each constraint takes its own emptiest domain, and the choices need not go together (T-14).
            message = "which domains Karpenter chooses: it looks at each of the spread constraints alone"
            fact = Fact(TOPOLOGY, message, coarse[0].written.place)
            return replace(found, at_least=min(found.at_least, 1), facts=(*found.facts, fact))
        return found

    def _free(self, keys: Sequence[str]) -> bool:
        """Whether nodes are to be had for every pair of domains of two keys."""
        for one, other in combinations(keys, 2):
            pairs: dict[tuple[str, str], bool] = {}
            sides: list[set[str]] = [set(), set()]
            for answer in self.answers:
                if answer.pool.grid is None:
                    return False
                left, _ = launched(answer.pool, one, may_launch(answer), frozenset())
                right, _ = launched(answer.pool, other, may_launch(answer), frozenset())
                sides[0].update(left)
                sides[1].update(right)
                if len(left) * len(right) > MOST_COMBINATIONS:
                    return False
                for (a, m), (b, n) in product(left.items(), right.items()):
                    pairs[a, b] = pairs.get((a, b), False) or bool(m & n)
            if not all(pairs.get(pair) for pair in product(sides[0], sides[1])):
                return False
        return True

    def _one(self, constraint: HardConstraint, shared: bool) -> Count:
        """One constraint, for each of the pod's required terms."""
        terms = self.answers[0].asked.terms if self.answers else ()
        selector = self.answers[0].asked.selector if self.answers else ()
        counts = [
            self._of(constraint, self._domains(constraint, Requirements.of((*selector, *term))), shared)
            for term in terms or ((),)
        ]
        if len(counts) > 1 or counts[0].bound is None:
            # A pod for which the first term leaves no domain is tried with the next one: no bound.
            least = min(count.at_least for count in counts)
            return Count(least, facts=counts[0].facts if least < self.placing.needed else ())
        return counts[0]

    def _domains(self, constraint: HardConstraint, requirements: Requirements) -> _Domains:
        key = constraint.key
        wanted: Requirement | None = requirements.by_key.get(key)
        surely: dict[str, ManagedPool | None] = {}
        perhaps: set[str] = set()
        vague = False
        for giver in self._givers(constraint):
            values = {v for v in giver.values if wanted is None or wanted.has(v)}
            vague = vague or not (giver.exact and giver.sure)
            perhaps |= values
            if giver.sure and giver.exact:
                for value in sorted(values):
                    if surely.get(value) is None or tolerates(self.tolerations, giver.pool):
                        surely[value] = giver.pool
        nodes = held_domains(self.placing, key, constraint, lambda value: wanted is None or wanted.has(value))
        for value in sorted(nodes.held):
            surely.setdefault(value, None)
        perhaps |= nodes.all
        vague_launch = False
        launchable = []
        for answer in self.answers:
            if answer.pool.grid is None:
                vague_launch = True
                continue
            values_of, exact = launched(answer.pool, key, may_launch(answer), frozenset(perhaps))
            vague_launch = vague_launch or not exact
            launchable.append((answer, {v: m for v, m in values_of.items() if wanted is None or wanted.has(v)}))
        return _Domains(surely, frozenset(perhaps), launchable, nodes.here, nodes.held, vague, vague_launch)

    def _givers(self, constraint: HardConstraint) -> Iterator[Giver]:
        honours = constraint.honor_taints and self.universe.honours_policies
        usable = {answer.pool.number for answer in self.answers}
        for giver in self.universe.givers(constraint.key):
            if honours and not tolerates(self.tolerations, giver.pool):
                continue
            if self.universe.filtered and giver.pool.number not in usable:
                continue
            # Every effect counts, until the last step of relaxing adds a toleration for PreferNoSchedule (§3.5).
            soft = honours and not tolerates(self.tolerations, giver.pool, EVERY_EFFECT)
            yield replace(giver, sure=False) if soft else giver

    def _of(self, constraint: HardConstraint, domains: _Domains, shared: bool) -> Count:
        needed, skew = self.placing.needed, max(constraint.max_skew, 1)
        reached = domains.reached
        if domains.vague_launch or (domains.vague and not reached):
            return self._vague(constraint, domains)
        dead = {v: giver for v, giver in domains.surely.items() if v not in reached and v not in domains.here}
        doubtful = domains.vague or any(v not in domains.fitting for v in domains.perhaps)
        too_few = constraint.min_domains > 1 and len(domains.perhaps) < constraint.min_domains and not domains.vague
        if constraint.min_domains > 1 and not too_few and len(domains.surely) < constraint.min_domains:
            return Count(0, facts=(self._unknown(constraint),))
        if not dead and not too_few:
            if doubtful and needed > 1:
                return Count(1, facts=(self._unknown(constraint),))
            return Count(needed)
        if shared:
            message = "where the other pods are that the spread constraint counts"
            return Count(0, facts=(Fact(TOPOLOGY, message, constraint.written.place),))
        if too_few:
            return self._too_few(constraint, domains, dead, skew)
        return self._dead(constraint, domains, dead, skew)

    def _vague(self, constraint: HardConstraint, domains: _Domains) -> Count:
        """Which domains there are is not known. Where all come from one node class, all are reached (A2)."""
        needed = self.placing.needed
        givers = list(self._givers(constraint))
        classes = {giver.pool.pool.node_class for giver in givers}
        same = len({(c.group, c.kind, c.name) for c in classes}) == 1 and not any(g.exact for g in givers)
        fits = any(answer.verdict == "fits" and answer.pool.grid is not None for answer in self.answers)
        if same and fits and constraint.min_domains <= 1 and not domains.held - domains.here:
            return Count(needed)
        return Count(min(needed, 1) if fits else 0, facts=(self._unknown(constraint),))

    def _too_few(
        self, constraint: HardConstraint, domains: _Domains, dead: Mapping[str, ManagedPool | None], skew: int
    ) -> Count:
        """Fewer domains than minDomains: the minimum counts as 0 (`T-12`, S-806)."""
        count = skew * len(domains.reached | domains.here)
        message = (
            f"there are {len(domains.perhaps)} domains of {constraint.key}, fewer than minDomains "
            f"{constraint.min_domains}: each takes {skew} pod{'s' if skew != 1 else ''} at most"
        )
        place = constraint.written.place.at("minDomains")
        short = Obstacle("topologySpread", message, "karpenter:T-12", place, None, "topology")
        each, facts = self._each(constraint, dead, skew)
        least = min(self.placing.needed, each * len(domains.fitting))
        return Count(least, count, "topology", facts, (short,), derived=bool(facts))

    def _each(
        self, constraint: HardConstraint, dead: Mapping[str, ManagedPool | None], skew: int
    ) -> tuple[int, tuple[Fact, ...]]:
        """How many nodes a domain surely gets while another one stays empty, and what more hangs on.

        Where a NodePool allows the empty domain, new nodes are all aimed at it once every other one has a pod (T-14a).
        """
        if not dead or not any(self._permits(answer, constraint, dead) for answer in self.answers):
            return skew, ()
        message = (
            f"whether Karpenter launches nodes in other domains while {constraint.key}={min(dead)} is empty: "
            "that is the one that it chooses first"
        )
        return 1, (Fact("launch-choice", message, constraint.written.place),) if skew > 1 else ()

    def _dead(
        self, constraint: HardConstraint, domains: _Domains, dead: Mapping[str, ManagedPool | None], skew: int
    ) -> Count:
        """A domain that counts and that the pod cannot reach keeps the minimum at 0 (`T-15`)."""
        placing = self.placing
        needed, reached = placing.needed, domains.reached
        fixed = bool(set(dead) & domains.held)
        if fixed:
            bound = skew * len(reached | domains.here)
        else:
            bound = self.on_nodes
            for value in sorted(reached):
                most = 0
                for answer, values in domains.launchable:
                    if value in values:
                        held = copies_per_type(answer, placing.demand, placing.pod, 1 << 30, values[value])
                        most = max(most, *held.values())
                bound += skew * most
        each, choice = self._each(constraint, dead, skew)
        least = min(needed, bound, each * len(domains.fitting))
        obstacle = self._blocking(constraint, dead, len(reached), skew)
        facts: tuple[Fact, ...] = ()
        if least < needed <= skew * len(reached):
            facts = choice
        elif least < needed <= bound:
            message = (
                f"whether the nodes of the first {least} pods have room for more: Karpenter launches none for the "
                f"others while {constraint.key}={min(dead)} is empty"
            )
            facts = (Fact("existing-node", message, constraint.written.place),)
        return Count(least, bound, "topology", facts, (obstacle,), derived=True)

    @staticmethod
    def _permits(answer: PoolAnswer, constraint: HardConstraint, dead: Mapping[str, ManagedPool | None]) -> bool:
        """Whether a NodePool itself allows an empty domain, so that Karpenter may choose it."""
        asked = answer.pool.requirements.by_key.get(constraint.key)
        if asked is None:
            grid = answer.pool.grid
            return grid is not None and grid.defines(constraint.key)
        return any(asked.has(value) for value in dead)

    def _blocking(
        self, constraint: HardConstraint, dead: Mapping[str, ManagedPool | None], reached: int, skew: int
    ) -> Obstacle:
        value = min(dead, key=lambda v: (dead[v] is None, v))
        pool = dead[value]
        message = (
            f"{constraint.key}={value} counts as a domain although no node of it takes the pod: its count stays 0, and "
            f"each of the {reached} other domain{'s' if reached != 1 else ''} gets nodes for {skew} at most (maxSkew)"
        )
        against = None
        if pool is not None:
            place = pool.source.label(constraint.key)
            if not tolerates(self.tolerations, pool):
                place = pool.taints[0].place
            against = Against(pool.name, place)
        return Obstacle("topologySpread", message, "karpenter:T-15", constraint.written.place, against, "topology")

    @staticmethod
    def _unknown(constraint: HardConstraint) -> Fact:
        message = f"which domains of {constraint.key} there are, and in which of them the pod finds nodes"
        return Fact(TOPOLOGY, message, constraint.written.place)
