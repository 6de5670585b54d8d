"""One pod against one NodePool: Karpenter and kube-scheduler put together (DESIGN tables P0 to P12)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Literal

from unpend.algebra import values as true_values
from unpend.algebra.selectors import matches
from unpend.algebra.taints import FILTERING_EFFECTS, untolerated
from unpend.algebra.values import ValueSet
from unpend.model.karpenter_labels import AWS_DOMAIN, in_domain, normalized
from unpend.model.pod import EffectivePod, PodAffinityTerm
from unpend.placement.demand import Demand
from unpend.placement.karpenter.asked import Asked, asked_of
from unpend.placement.karpenter.managed import ManagedPools
from unpend.placement.karpenter.plan import Plan, Planner
from unpend.placement.karpenter.pool import AWS_GROUP, ManagedPool
from unpend.placement.karpenter.requirements import Requirements
from unpend.placement.karpenter.space import PoolSpace, label_of_any_node
from unpend.placement.karpenter.volumes import ways_of
from unpend.placement.scheduler import filters, node_affinity, node_ports, taint_toleration, volume_binding
from unpend.placement.space import Masks
from unpend.placement.verdict import Cause, Certainty, Fact, Obstacle, Verdict
from unpend.records import dataclass, field, replace

Others = Literal["yes", "possible", "no"]
"""Whether a pool can have nodes for another reason than this pod (F)."""

AWS_RESOURCES = frozenset(
    {
        "cpu",
        "memory",
        "ephemeral-storage",
        "pods",
        "vpc.amazonaws.com/pod-eni",
        "vpc.amazonaws.com/efa",
        "vpc.amazonaws.com/PrivateIPv4Address",
        "nvidia.com/gpu",
        "amd.com/gpu",
        "aws.amazon.com/neuron",
        "aws.amazon.com/neuroncore",
        "habana.ai/gaudi",
    }
)
"""The resources that AWS nodes can have, as Karpenter knows them (`I-6`)."""

EXISTING_NODE = "existing-node"
NO_PLAN = Plan((), (), False)


@dataclass(slots=True)
class PoolAnswer:
    """What both deciders say of one pod and one pool.

    `accepted` are the pairs of type and offering that kube-scheduler takes, over all nodes that the pool could make;
    `taken` the launchable ones that it takes. `needs_others` is set when the verdict hangs on nodes for other pods.
    `first` is the number of the attempt in which the pool surely launches something, None when it does not.
    """

    pool: ManagedPool
    asked: Asked
    demand: Demand
    verdict: Verdict
    cause: Cause | None
    plan: Plan = NO_PLAN
    accepted: Masks = Masks(0, 0)
    taken: int = 0
    needs_others: bool = False
    first: int | None = None
    facts: tuple[Fact, ...] = ()
    assumptions: tuple[str, ...] = ()
    certainty: Certainty = "proved"
    settled: tuple[Obstacle, ...] = field(default=())

    def with_others(self, others: Others) -> PoolAnswer:
        """The answer once it is known whether the pool has nodes for other pods (P6 to P9)."""
        if not self.needs_others:
            return self
        launches = self.first is not None
        if others == "no":
            if launches:
                return replace(self, verdict="loop", cause="scheduler-refuses", facts=())
            return replace(self, verdict="never", cause="autoscaler-refuses", facts=())
        fact = Fact(
            EXISTING_NODE,
            f"whether {self.pool.name} has nodes for other pods: it launches none for this one",
            self.pool.pool.place,
        )
        return replace(self, verdict="conditional", cause="existing-node", facts=(fact,))


_BY_CONTROLLERS = ("hash", "job-name", "controller-uid", "pod-name", "index", "completion-index")
"""How the keys end that controllers put on pods beside the labels of the template."""


class Decider:
    """All NodePools of one run."""

    def __init__(self, pools: ManagedPools) -> None:
        self.pools = pools
        self.settings = pools.settings
        self.planner = Planner(pools.strict)
        self._rooms: dict[object, Masks] = {}

    @cached_property
    def respects(self) -> bool:
        """Whether preferences are held until they have to be given up (`karpenter.md` §3.4)."""
        return self.settings.karpenter.preference_policy == "Respect"

    def asked(self, demand: Demand, pod: EffectivePod, dropped: frozenset[int] = frozenset()) -> Asked:
        """What a pod asks of Karpenter."""
        return asked_of(
            demand,
            pod,
            well_known=self.pools.well_known,
            version=self.pools.version,
            respects=self.respects,
            relaxes_taints=self.pools.relaxes_taints,
            hard="yes",
            volumes=ways_of(demand.volumes, self.settings.karpenter.options.get("unsupportedProvisioners", ())),
            ignores_claims=self.settings.karpenter.ignore_dra_requests,
            dropped=dropped,
            nobody=self._nobody,
        )

    def _nobody(self, term: PodAffinityTerm) -> bool:
        """Whether surely no pod of the cluster matches a term, in whatever namespace it is."""
        if term.selector is None:
            return True
        expressions = term.selector.expressions
        if self.settings.world.workloads != "closed" or any(e.key.endswith(_BY_CONTROLLERS) for e in expressions):
            return False
        return not any(matches(expressions, labels) for labels in self._labels_of_pods)

    @cached_property
    def _labels_of_pods(self) -> tuple[dict[str, str], ...]:
        inventory = self.pools.inventory
        templates = [*(w.template for w in inventory.workloads), *(pod.template for pod in inventory.bound_pods)]
        return tuple({key: label.value for key, label in one.labels.items()} for one in templates)

    def answers(self, demand: Demand, pod: EffectivePod) -> tuple[PoolAnswer, ...]:
        """One answer per pool, in the order in which they are tried."""
        asked = self.asked(demand, pod)
        return tuple(self.answer(pool, asked, demand) for pool in self.pools.pools)

    def answer(self, pool: ManagedPool, asked: Asked, demand: Demand) -> PoolAnswer:
        """One pod against one pool. What hangs on nodes for other pods is left open (`needs_others`)."""
        found = PoolAnswer(pool, asked, demand, "never", None)
        if pool.unusable is not None:
            found.cause = pool.unusable.cause
            found.settled = (pool.unusable,)
        elif untolerated(demand.tolerations + demand.possible_tolerations, pool.taints, FILTERING_EFFECTS):
            # Both refuse it, whatever else there is.
            found.cause = "taint"
        else:
            self._answer(found)
        _lean(found)
        return found

    def _answer(self, found: PoolAnswer) -> None:
        pool, asked, demand = found.pool, found.asked, found.demand
        refused = _refused_by_any_shape(pool, demand)
        if pool.doubts or pool.space is None or pool.grid is None:
            found.cause = refused
            if refused is None:
                found.verdict, found.cause, found.facts = "conditional", "unknown-fact", pool.doubts
            return
        found.plan = self.planner.plan(pool, asked)
        found.first = _first(found.plan, pool)
        if refused is None:
            found.accepted = self._ask(demand, pool.space)
        self._compose(found, refused)

    def _ask(self, demand: Demand, space: PoolSpace) -> Masks:
        """The shapes that kube-scheduler takes: what `filters.ask` says, with one look at all resources together."""
        masks = node_affinity.accepts(demand, space).both(taint_toleration.accepts(demand, space))
        if demand.node_name:
            return Masks(0, 0)
        if demand.ports:
            masks = masks.both(node_ports.accepts(demand, space))
        if masks.possible:
            masks = masks.both(self._room(demand, space))
        if demand.volumes and masks.possible:
            masks = masks.both(filters.accepts_volumes(demand, space))
            masks = volume_binding.settled(demand, masks, space)
        if demand.claims:
            return Masks(0, masks.possible)
        return Masks(masks.possible, masks.possible) if masks.sure == masks.possible else masks

    def _room(self, demand: Demand, space: PoolSpace) -> Masks:
        if space.devices:
            return space.room(demand.requests)
        key = (id(space.low), id(space.high), id(space.grid), tuple(demand.requests.items()))
        found = self._rooms.get(key)
        if found is None:
            found = self._rooms[key] = space.room(demand.requests)
        return found

    @staticmethod
    def _settle(found: PoolAnswer, verdict: Verdict, cause: Cause | None, *facts: Fact) -> None:
        found.verdict, found.cause, found.facts = verdict, cause, facts

    def _compose(self, found: PoolAnswer, refused: Cause | None) -> None:
        """The tables, from P4 on."""
        pool, plan = found.pool, found.plan
        unknown = next((launch.unknown for launch in plan.launches if launch.unknown), None)
        no_node = not found.accepted.possible and (refused is not None or not (unknown or pool.unknown))
        if no_node and plan.possible and self._takes_what_it_mints(found):
            self._compare(found)
        elif no_node and found.first is not None:
            self._settle(found, "loop", "scheduler-refuses")
        elif no_node:
            self._settle(found, "never", refused)
        elif unknown and found.first is None:
            self._settle(found, "conditional", "unknown-fact", _unknown_type(unknown, pool))
        elif not plan.possible:
            found.needs_others = True
        else:
            self._compare(found)

    def _takes_what_it_mints(self, found: PoolAnswer) -> bool:
        """Whether a pod is taken for labels that its own requirements put on the node that is launched (§2.7).

        A custom key that the pool does not name gets a random number from `Exists` and `NotIn` taken together.
        """
        named = found.pool.requirements.by_key
        mints = any(r.complement and r.key not in named for launch in found.plan.launches for r in launch.requirements)
        return mints and self._taken(found)[1] != 0

    def _compare(self, found: PoolAnswer) -> None:
        """Nodes that may be launched against what kube-scheduler says of them (P8 to P12)."""
        pool, launched = found.pool, found.plan.possible
        taken_sure, found.taken = self._taken(found)
        if not found.taken:
            found.needs_others = True
        elif found.first is not None and not launched & ~taken_sure:
            self._settle(found, "fits", None)
        elif found.first is not None and launched & ~found.taken:
            message = f"which of its instance types {pool.name} launches"
            self._settle(
                found, "conditional", "launch-choice", Fact("launch-choice", message, pool.source.requirements())
            )
        else:
            self._settle(found, "conditional", "unknown-fact", *_facts(found, taken_sure))

    def _taken(self, found: PoolAnswer) -> tuple[int, int]:
        """The launchable pairs that kube-scheduler surely, and possibly, takes, with the labels that they get."""
        pool, demand = found.pool, found.demand
        assert pool.space is not None
        everything = found.plan.possible
        if not everything & ~found.accepted.sure:
            return everything, everything
        sure = everything
        possible = 0
        for launch in found.plan.launches:
            if not launch.possible & ~found.accepted.sure:
                possible |= launch.possible
                continue
            space = pool.space.narrowed(launch.requirements, _launched(pool, launch.requirements))
            masks = self._ask(demand, space)
            sure &= ~(launch.possible & ~masks.sure)
            possible |= launch.possible & masks.possible
        return sure, possible


def _lean(found: PoolAnswer) -> None:
    """Note the assumptions that an answer leans on, and how certain it is."""
    pool = found.pool
    if found.verdict in ("fits", "loop", "conditional") and found.plan.possible:
        assumptions = list(pool.assumptions)
        if pool.grid is not None and not any(launch.sure & pool.grid.sold for launch in found.plan.launches):
            assumptions.append("A3")
        if pool.node_class is not None and pool.node_class.ami_terms and pool.node_class.alias is None:
            assumptions.append("A4")
        found.assumptions = tuple(assumptions)
        found.certainty = "catalog"
    elif pool.unusable is not None:
        found.certainty = "catalog" if pool.unusable.semantics in ("karpenter:§7.4", "karpenter:L-4") else "proved"
    elif found.verdict == "never" and found.cause in (None, "resources", "limits"):
        found.certainty = "catalog"


def _first(plan: Plan, pool: ManagedPool) -> int | None:
    """The attempt in which a pool surely launches something (A⊓ is not empty), None when in none."""
    for launch in plan.launches:
        if launch.depends or not launch.sure:
            continue
        if launch.sure & pool.exist or (pool.candidates and all(launch.sure & c for c in pool.candidates)):
            return launch.attempt.index
    return None


def _launched(pool: ManagedPool, requirements: Requirements) -> dict[str, ValueSet]:
    """The labels of a node that is launched for these requirements, beside those of type and offering."""
    assert pool.space is not None
    assert pool.grid is not None
    labels = dict(pool.space.labels.custom)
    for requirement in requirements:
        key = requirement.key
        if key in labels or not (key in pool.well_known or pool.grid.defines(key)):
            label = pool.pool.template_labels.get(key)
            labels[key] = true_values.one_of([label.value]) if label is not None else requirement.launched()
    return labels


def _refused_by_any_shape(pool: ManagedPool, demand: Demand) -> Cause | None:
    """Why kube-scheduler refuses every node of a pool whatever its type: a taint, or a label that they all share."""
    if untolerated(demand.tolerations + demand.possible_tolerations, pool.staying_taints, FILTERING_EFFECTS):
        return "taint"
    if pool.pool.node_class.group == AWS_GROUP and any(
        name not in AWS_RESOURCES and not pool.added.get(name) for name in demand.requests
    ):
        return "resources"
    for alternative in demand.alternatives:
        if not alternative.broken and all(could_have(pool, key, w) for key, w in alternative.folded.items()):
            return None
    return "labels"


def fewest_changes(pool: ManagedPool, demand: Demand) -> int:
    """A lower bound of the changes after which kube-scheduler takes a pod: taints, and labels that all nodes share."""
    taints = untolerated(demand.tolerations + demand.possible_tolerations, pool.staying_taints, FILTERING_EFFECTS)
    labels = min(
        (
            sum(not could_have(pool, key, wanted) for key, wanted in alternative.folded.items())
            for alternative in demand.alternatives
            if not alternative.broken
        ),
        default=1,
    )
    return len(taints) + labels


def could_have(pool: ManagedPool, key: str, wanted: ValueSet) -> bool:
    """Whether some node of a pool could have a label in a set."""
    if wanted.is_impossible:
        return False
    if pool.space is not None:
        index = pool.space.labels
        if key in index.custom or not index.of_grid(key):
            return index.unlisted(key, index.custom.get(key)).overlaps(wanted)
        return True
    requirement = pool.requirements.by_key.get(normalized(key))
    if requirement is not None:
        return label_of_any_node(requirement).overlaps(wanted)
    if in_domain(key, AWS_DOMAIN) and pool.pool.node_class.group not in (AWS_GROUP, ""):
        return wanted.admits_absent
    return True


def _unknown_type(what: str, pool: ManagedPool) -> Fact:
    name = pool.catalog.name if pool.catalog is not None else ""
    return Fact(
        "instance-types", f"whether there is {what}: the {name} catalogue does not know it", pool.source.requirements()
    )


def _facts(found: PoolAnswer, taken_sure: int) -> Iterator[Fact]:
    """What decides where neither yes nor no is certain (P12)."""
    place = found.demand.spec_place
    depends = {name for launch in found.plan.launches for name in launch.depends}
    for name in sorted(depends):
        yield Fact(name, _DEPENDS.get(name, name), place)
    if not depends and found.first is None:
        if found.pool.exist == 0:
            yield Fact("zones", f"in which zones {found.pool.name} has subnets", found.pool.pool.node_class.place)
        else:
            yield Fact("limits", f"whether the limits of {found.pool.name} leave room", found.pool.pool.place)
    if found.plan.possible & ~taken_sure:
        yield Fact(
            "node-labels", f"which labels and DaemonSets the nodes of {found.pool.name} get", found.pool.pool.place
        )


_DEPENDS = {
    "topology": "on which nodes the pods run that its spread or affinity rules count",
    "extended-resource-toleration": (
        "whether the control plane adds tolerations for extended resources (ExtendedResourceToleration)"
    ),
    "volume": "whether its volumes can be bound, and where",
}
