"""Why Karpenter launches nothing for a pod, in the words of its events (`karpenter.md` §3.6), with both places."""

from __future__ import annotations

from collections.abc import Iterable

from unpend.algebra.quantity import render
from unpend.model.karpenter_labels import normalized
from unpend.model.pod import EffectivePod
from unpend.placement.demand import Demand
from unpend.placement.karpenter.asked import Asked, preferred_in_order
from unpend.placement.karpenter.grid import Grid
from unpend.placement.karpenter.plan import Plan, Refusal
from unpend.placement.karpenter.pool import ManagedPool
from unpend.placement.scheduler.node_resources import PODS
from unpend.placement.scheduler.taint_toleration import nearest_toleration, spelled
from unpend.placement.verdict import Against, Obstacle
from unpend.source.place import Place


def refusals(pool: ManagedPool, plan: Plan, asked: Asked, demand: Demand, pod: EffectivePod) -> tuple[Obstacle, ...]:
    """Why a pool launches nothing: the error of the last attempt, which is the one that the event shows."""
    if asked.refused is not None:
        return (asked.refused,)
    if not plan.refusals or plan.launches:
        return ()
    return tuple(_described(pool, plan.refusals[-1], asked, demand, pod))


def _described(
    pool: ManagedPool, refusal: Refusal, asked: Asked, demand: Demand, pod: EffectivePod
) -> Iterable[Obstacle]:
    if refusal.stage == "taints":
        for taint in refusal.taints:
            near = nearest_toleration(demand.tolerations, taint)
            why = " and no toleration of the pod covers it" if near is None else f"; toleration {near[1] + 1} {near[3]}"
            yield Obstacle(
                "toleration",
                f"{pool.name} has the taint {spelled(taint)}{why} "
                f"(did not tolerate taint (taint={_as_event(taint.key, taint.value, taint.effect)}))",
                "karpenter:A-1",
                demand.tolerations_place if near is None else near[0].place,
                Against(pool.name, taint.place),
                "taint",
                taint,
            )
    elif refusal.stage in ("requirements", "volumes"):
        yield _clashing(pool, refusal, demand, pod)
    elif refusal.stage == "types":
        yield _no_type(pool, refusal, asked, demand)
    elif refusal.stage in ("min-values", "creation"):
        place = next((r.place for r in pool.pool.requirements if r.min_values is not None), pool.pool.place)
        yield Obstacle(
            "pool",
            refusal.detail,
            "karpenter:§2.8",
            demand.spec_place,
            Against(pool.name, place.at("minValues")),
            "autoscaler-refuses",
        )
    elif refusal.stage == "topology":
        yield Obstacle(
            "topologySpread",
            f"a topology rule of the pod cannot be met by a new node of {pool.name} "
            "(unsatisfiable topology constraint)",
            "karpenter:X-1",
            demand.spec_place,
            Against(pool.name, pool.pool.place),
            "topology",
        )
    else:
        yield Obstacle(
            "pool",
            f"{pool.name} is static: it keeps its number of nodes and launches none for a pod",
            "karpenter:S-1",
            demand.spec_place,
            Against(pool.name, pool.pool.place.at("spec", "replicas")),
            "autoscaler-refuses",
        )


def _as_event(key: str, value: str, effect: str) -> str:
    return f"{key}={value}:{effect}" if value else f"{key}:{effect}"


def _clashing(pool: ManagedPool, refusal: Refusal, demand: Demand, pod: EffectivePod) -> Obstacle:
    clash = refusal.clash
    assert clash is not None
    kind, place = "volume", None
    words = "incompatible volume requirements"
    if refusal.stage == "requirements":
        words = "incompatible requirements"
        kind, place = _asking(clash.key, demand, pod, refusal.attempt.term)
    return Obstacle(
        kind,
        f"{pool.name} cannot meet what the pod asks of the label {clash.key} ({words}, {clash})",
        "karpenter:§2.5" if kind != "volume" else "karpenter:V-14",
        place or demand.spec_place,
        Against(pool.name, pool.source.label(clash.key)),
        "labels" if kind != "volume" else "volume",
    )


def _asking(key: str, demand: Demand, pod: EffectivePod, term: int) -> tuple[str, Place | None]:
    """Where a pod asks for a label: nodeSelector, the required term that was tried, or a preference."""
    if demand.alternatives:
        for written in demand.alternatives[min(term, len(demand.alternatives) - 1)].written:
            if normalized(written.key) == key:
                return written.kind, written.place
    for preferred in preferred_in_order(pod):
        for expression in preferred.term.expressions:
            if normalized(expression.key) == key:
                return "nodeAffinity", expression.place
    return "nodeAffinity", demand.affinity


def _no_type(pool: ManagedPool, refusal: Refusal, asked: Asked, demand: Demand) -> Obstacle:
    grid = pool.grid
    assert grid is not None
    fits = refusal.fit & refusal.ports & grid.all
    if not refusal.labels:
        where = next((w for a in demand.alternatives for w in a.written), None)
        return Obstacle(
            where.kind if where else "nodeAffinity",
            f"no instance type of {pool.name} has the labels and offerings that the pod asks for "
            "(no instance type met all requirements)",
            "karpenter:§7.3",
            where.place if where else demand.spec_place,
            Against(pool.name, pool.source.requirements()),
            "labels",
        )
    if refusal.labels & refusal.fit and not refusal.labels & refusal.ports:
        port, use = next((p, u) for p in asked.ports for u, _ in pool.planned_ports if u.port.host_port == p.host_port)
        return Obstacle(
            "hostPort",
            f"host port {port.host_port}/{port.protocol} is taken on every node of {pool.name} by {use.owner} "
            "(no instance type has enough resources)",
            "karpenter:I-4",
            port.place,
            Against(use.owner, use.port.place),
            "ports",
        )
    words = "no instance type has enough resources"
    if fits & pool.base.possible:
        words = (
            "no instance type which met the scheduling requirements and had enough resources, had a required offering"
        )
    resource, most = _scarce(grid, pool, asked, refusal.labels)
    places = demand.request_places.get(resource, ())
    wanted = asked.requests.get(resource, 0)
    hint = ""
    if resource == "cpu" and wanted >= 1_000_000_000:
        hint = "; was m (thousandths) meant instead of M (millions)?"
    asks = f"the pod asks for {render(wanted, resource)} of {resource}"
    left = f"at most {render(max(most, 0), resource)}"
    if resource == PODS and most <= 0:
        asks, left = "every pod needs a pod slot", "none"
    return Obstacle(
        "resources",
        f"{asks}; the instance types of {pool.name} that meet its requirements have {left} left beside DaemonSets "
        f"({words}{hint})",
        "karpenter:I-5",
        places[0] if places else demand.spec_place,
        Against(pool.name, pool.source.requirements()),
        "resources",
    )


def _scarce(grid: Grid, pool: ManagedPool, asked: Asked, labels: int) -> tuple[str, int]:
    """The resource that stops the pod: one that no type has enough of, else the one that the fewest types have."""
    resources = pool.planned
    assert resources is not None
    types = grid.collapse(labels)
    counted = [
        (((resources.fits(name, amount).sure & types).bit_count()), name) for name, amount in asked.requests.items()
    ]
    name = min(counted, default=(0, "cpu"))[1]
    return name, resources.largest(name, types)[0]
