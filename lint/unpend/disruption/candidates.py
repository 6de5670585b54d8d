"""Per node: may Karpenter disrupt it, and what keeps it from doing so (`karpenter.md` §9.2).

Every node is asked twice: for the *graceful* class (consolidation, emptiness) and the *eventual* class (drift), which
overrides pods once the NodeClaim has a `terminationGracePeriod`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, Literal

from unpend.algebra.selectors import matches
from unpend.algebra.taints import tolerates
from unpend.disruption.budgets import REASONS, budgets_of
from unpend.disruption.do_not_disrupt import DO_NOT_DISRUPT, protection
from unpend.disruption.pdb import coverage, healthy_needed, is_zero_by_form, needs_scale
from unpend.model.inventory import BoundPod, Inventory, Node, PodDisruptionBudget
from unpend.model.karpenter import NodePool
from unpend.model.karpenter_fields import condition
from unpend.model.karpenter_labels import INITIALIZED, NODE_POOL
from unpend.model.pod import Taint
from unpend.records import dataclass, field
from unpend.settings import Settings
from unpend.source.place import Place

DisruptionClass = Literal["graceful", "eventual"]
CLASSES: tuple[DisruptionClass, ...] = ("graceful", "eventual")
DISRUPTED = Taint("karpenter.sh/disrupted", "", "NoSchedule")
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

_FINISHED = frozenset({"Succeeded", "Failed"})
_MIRROR = "kubernetes.io/config.mirror"
_SCALED_OWNERS = frozenset({"ReplicaSet", "StatefulSet", "ReplicationController", "Deployment"})


@dataclass(frozen=True, slots=True)
class Blocker:
    """One reason why a node stays, with the rule id it rests on (`karpenter:D-7`) and the place that says so."""

    kind: str
    message: str
    semantics: str
    place: Place | None = field(default=None, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape."""
        return {
            "kind": self.kind,
            "message": self.message,
            "semantics": self.semantics,
            "path": str(self.place) if self.place else None,
        }


@dataclass(frozen=True, slots=True)
class NodeDisruption:
    """Whether a node may be disrupted in one class. `node` is the name of the NodeClaim where there is no node yet."""

    node: str
    pool: str | None
    disruption_class: DisruptionClass
    candidate: bool
    blockers: tuple[Blocker, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape."""
        return {
            "node": self.node,
            "pool": self.pool,
            "disruptionClass": self.disruption_class,
            "candidate": self.candidate,
            "blockers": [blocker.to_dict() for blocker in self.blockers],
        }


@dataclass(frozen=True, slots=True)
class Claim:
    """A NodeClaim, as far as disruption looks at it."""

    name: str
    node: str
    pool: str
    has_grace: bool
    terminating: bool
    instance_terminating: bool
    place: Place


@dataclass(frozen=True, slots=True)
class PoolDisruption:
    """How many nodes of a pool may go now: for all reasons at once, and by reason; None is no limit (`B-3`)."""

    pool: str
    nodes: int
    allowed_disruptions: int | None
    by_reason: Mapping[str, int | None]

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape."""
        return {
            "pool": self.pool,
            "nodes": self.nodes,
            "allowedDisruptions": self.allowed_disruptions,
            "byReason": dict(self.by_reason),
        }


@dataclass(frozen=True, slots=True)
class DisruptionReport:
    """What `unpend.disruption` answers: every node in both classes, every pool."""

    nodes: tuple[NodeDisruption, ...]
    pools: tuple[PoolDisruption, ...]

    def node(self, name: str, disruption_class: DisruptionClass = "graceful") -> NodeDisruption | None:
        """The answer for one node."""
        return next((n for n in self.nodes if n.node == name and n.disruption_class == disruption_class), None)

    def pool(self, name: str) -> PoolDisruption | None:
        """The answer for one pool."""
        return next((p for p in self.pools if p.pool == name), None)

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape."""
        return {"nodes": [n.to_dict() for n in self.nodes], "pools": [p.to_dict() for p in self.pools]}


def disruption_report(inventory: Inventory, settings: Settings) -> DisruptionReport:
    """Nodes and pools of a snapshot: Nodes, NodeClaims, bound pods and PodDisruptionBudgets of the objects."""
    return _Snapshot(inventory, settings).report()


class _Snapshot:
    """The objects of one moment, indexed."""

    def __init__(self, inventory: Inventory, settings: Settings) -> None:
        self.inventory = inventory
        self.settings = settings
        self.now = settings.now or EPOCH
        self.pools = {pool.name: pool for pool in inventory.node_pools}
        self.claims = tuple(claims_of(inventory))
        self.claim_of = {claim.node: claim for claim in self.claims if claim.node}
        self.pods: dict[str, list[BoundPod]] = {}
        for pod in inventory.bound_pods:
            self.pods.setdefault(pod.node_name, []).append(pod)
        rulings = coverage(inventory).rulings()
        self.expected = {id(r.budget): r.expected for r in rulings}
        self.allowances = {pool.name: self._pool(pool) for pool in inventory.node_pools}

    def report(self) -> DisruptionReport:
        """All answers, nodes in reading order, then claims without a node."""
        found: list[NodeDisruption] = []
        names = set()
        for node in self.inventory.nodes:
            names.add(node.name)
            claim = self.claim_of.get(node.name)
            for asked in CLASSES:
                found.append(self._node(node, claim, asked))
        for claim in self.claims:
            if claim.node not in names:
                blocker = Blocker("no-node", "the NodeClaim has no node yet", "karpenter:D-1", claim.place)
                name = claim.node or claim.name
                found.extend(NodeDisruption(name, claim.pool or None, asked, False, (blocker,)) for asked in CLASSES)
        return DisruptionReport(tuple(found), tuple(self.allowances.values()))

    def _node(self, node: Node, claim: Claim | None, asked: DisruptionClass) -> NodeDisruption:
        label = node.labels.get(NODE_POOL)
        pool = self.pools.get(label.value) if label else None
        blockers = [*self._node_blockers(node, claim), *self._pool_blockers(node, pool, asked)]
        forced = asked == "eventual" and claim is not None and claim.has_grace
        for blocker in self._pod_blockers(node.name):
            # Drift starts in spite of pods, and ends them when the grace period of the node is over.
            if not forced:
                blockers.append(blocker)
        return NodeDisruption(node.name, label.value if label else None, asked, not blockers, tuple(blockers))

    def _node_blockers(self, node: Node, claim: Claim | None) -> Iterable[Blocker]:
        if claim is None:
            yield Blocker("not-managed", "no NodeClaim stands for it: Karpenter did not make it", "karpenter:D-1")
        elif not is_initialized(node):
            yield Blocker("not-initialized", "the node is not initialized", "karpenter:D-2", node.place)
        if is_terminating(node.place) or (claim is not None and claim.terminating):
            yield Blocker("terminating", "it is going away already", "karpenter:D-3", node.place)
        mark = node.annotations.get(DO_NOT_DISRUPT)
        if mark is not None and mark.value == "true":
            yield Blocker("do-not-disrupt-node", f"the node carries {DO_NOT_DISRUPT}", "karpenter:D-5", mark.place)

    def _pool_blockers(self, node: Node, pool: NodePool | None, asked: DisruptionClass) -> Iterable[Blocker]:
        label = node.labels.get(NODE_POOL)
        if label is None:
            yield Blocker("no-pool-label", f"the node has no label {NODE_POOL}", "karpenter:D-6", node.place)
        elif pool is None:
            yield Blocker("pool-missing", f"there is no NodePool {label.value}", "karpenter:D-6", label.place)
        else:
            limits = self.allowances[pool.name].by_reason
            reasons = ("Drifted",) if asked == "eventual" else ("Empty", "Underutilized")
            if all(limits[reason] == 0 for reason in reasons):
                where = pool.disruption.place or pool.place
                yield Blocker("budget", f"the budgets of {pool.name} allow none now", "karpenter:D-11", where)

    def _pod_blockers(self, node: str) -> Iterable[Blocker]:
        for pod in self.pods.get(node, ()):
            if pod.phase in _FINISHED or pod.terminating:
                continue
            mark = pod.template.annotations.get(DO_NOT_DISRUPT)
            if mark is not None and self._is_active(mark.value, pod):
                message = f"pod {pod.template.namespace}/{pod.name} carries {DO_NOT_DISRUPT}"
                yield Blocker("do-not-disrupt-pod", message, "karpenter:D-7", mark.place)
            elif not is_mirror(pod) and not any(tolerates(t, DISRUPTED) for t in pod.template.spec.tolerations):
                yield from self._budget_blockers(pod)

    def _is_active(self, value: str, pod: BoundPod) -> bool:
        found = protection(value, self.settings.karpenter.version)
        if found.kind != "duration":
            return found.kind == "always"
        started = moment(pod.place.at("status", "startTime").value)
        return started is None or self.settings.now is None or self.now < started + timedelta(seconds=found.seconds)

    def _budget_blockers(self, pod: BoundPod) -> Iterable[Blocker]:
        covering = [b for b in self.inventory.disruption_budgets if covers_pod(b, pod)]
        who = f"pod {pod.template.namespace}/{pod.name}"
        if len(covering) > 1:
            names = " and ".join(b.name for b in covering)
            yield Blocker("pdb-overlapping", f"{names} both cover {who}", "karpenter:D-9", covering[0].place)
        elif covering and not self._lets_go(covering[0], pod):
            message = f"PodDisruptionBudget {covering[0].name} allows no eviction of {who}"
            yield Blocker("pdb", message, "karpenter:D-8", covering[0].place)

    def _lets_go(self, budget: PodDisruptionBudget, pod: BoundPod) -> bool:
        if budget.unhealthy_policy == "AlwaysAllow" and not is_ready(pod):
            return True
        status = budget.place.at("status", "disruptionsAllowed").value
        if isinstance(status, int) and not isinstance(status, bool):
            return status > 0
        return self._allowed(budget) > 0

    def _allowed(self, budget: PodDisruptionBudget) -> int:
        """What the disruption controller would write into the status, reckoned from the pods of the snapshot."""
        if is_zero_by_form(budget):
            return 0
        pods = [p for p in self.inventory.bound_pods if p.phase not in _FINISHED and covers_pod(budget, p)]
        healthy = sum(is_ready(p) and not p.terminating for p in pods)
        if needs_scale(budget) and not all(p.owner_kind in _SCALED_OWNERS for p in pods):
            return 0
        # Pods that are not bound yet are expected too.
        expected = max(len(pods), self.expected.get(id(budget), 0))
        return max(healthy - healthy_needed(budget, expected), 0)

    def _pool(self, pool: NodePool) -> PoolDisruption:
        """The allowance of a pool: its initialized nodes count, those that are going or not ready are taken off."""
        budgets = budgets_of(pool)
        total = busy = 0
        for node in self.inventory.nodes:
            label = node.labels.get(NODE_POOL)
            claim = self.claim_of.get(node.name)
            if label is None or label.value != pool.name or claim is None or not is_initialized(node):
                continue
            if claim.instance_terminating:
                continue
            total += 1
            ready, _ = condition(node.place.value, "Ready")
            busy += ready is not True or claim.terminating or is_terminating(node.place)
        by_reason: dict[str, int | None] = {}
        for reason in REASONS:
            allowed = budgets.allowed(reason, total, self.now)
            by_reason[reason] = None if allowed is None else max(allowed - busy, 0)
        limits = [limit for limit in by_reason.values() if limit is not None]
        return PoolDisruption(pool.name, total, min(limits, default=None), by_reason)


def claims_of(inventory: Inventory) -> Iterable[Claim]:
    """The NodeClaims among the objects."""
    for item in (*inventory.others, *inventory.unread_capacity):
        if item.kind != "NodeClaim":
            continue
        data = item.object.data
        metadata = data.get("metadata")
        labels = metadata.get("labels") if isinstance(metadata, dict) else None
        spec = data.get("spec")
        status = data.get("status")
        node = status.get("nodeName") if isinstance(status, dict) else None
        pool = labels.get(NODE_POOL) if isinstance(labels, dict) else None
        yield Claim(
            item.name,
            node if isinstance(node, str) else "",
            pool if isinstance(pool, str) else "",
            isinstance(spec, dict) and spec.get("terminationGracePeriod") is not None,
            is_terminating(item.place),
            condition(data, "InstanceTerminating")[0] is True,
            item.place,
        )


def covers_pod(budget: PodDisruptionBudget, pod: BoundPod) -> bool:
    """Whether a budget covers a pod (`D-30`)."""
    if budget.selector is None or budget.namespace != pod.template.namespace:
        return False
    return matches(budget.selector.expressions, {key: label.value for key, label in pod.template.labels.items()})


def is_initialized(node: Node) -> bool:
    """Whether Karpenter took the node into service."""
    label = node.labels.get(INITIALIZED)
    return label is not None and label.value == "true"


def is_terminating(place: Place) -> bool:
    """Whether an object is being deleted."""
    return place.at("metadata", "deletionTimestamp").value is not None


def is_mirror(pod: BoundPod) -> bool:
    """Whether a pod is static: the kubelet runs it by itself, and nobody can evict it."""
    return pod.owner_kind == "Node" or _MIRROR in pod.template.annotations


def is_ready(pod: BoundPod) -> bool:
    """Whether a pod is ready; one without a status of readiness counts as ready."""
    ready, _ = condition(pod.place.value, "Ready")
    return ready is not False


def moment(value: Any) -> datetime | None:
    """A time stamp of the API."""
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value.replace("Z", "+00:00"))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=timezone.utc)
