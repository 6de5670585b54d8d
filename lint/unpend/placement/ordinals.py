"""StatefulSets whose pods do not all have the same volumes: each ordinal is where its volume is (S-1043, S-1611)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unpend.model.pod import EffectivePod
from unpend.placement.claims import Share
from unpend.placement.conflict import conflict
from unpend.placement.demand import Demand, with_volumes
from unpend.placement.scheduler.volume_binding import spelled
from unpend.placement.space import Space
from unpend.placement.verdict import Against, Obstacle


def is_ordered(pod_management: str) -> bool:
    """Whether an ordinal is made only when all lower ones are ready."""
    return pod_management != "Parallel"


def share_ids(workload: str, shares: Sequence[Share]) -> tuple[str, ...]:
    """A name for each share, as long as they are counted apart."""
    return tuple(f"{workload}\x00{number}" for number in range(len(shares)))


def whose(share: str) -> str:
    """The id of the workload that a share belongs to."""
    return share.partition("\x00")[0]


def placeable(shares: Sequence[Share], most: Sequence[int], ordered: bool) -> int:
    """How many pods can run when so many of each share can: in order, the first that cannot run holds up all later."""
    if not ordered:
        return sum(min(share.count, n) for share, n in zip(shares, most, strict=True))
    used = [0] * len(shares)
    total = 0
    for ordinal in sorted(ordinal for share in shares for ordinal in share.ordinals):
        number = next(n for n, share in enumerate(shares) if ordinal in share.ordinals)
        used[number] += 1
        if used[number] > most[number]:
            break
        total += 1
    return total


def obstacles_of(
    demand: Demand, shares: Sequence[Share], most: Sequence[int], found: Mapping[int, Sequence[Obstacle]], space: Space
) -> tuple[Obstacle, ...]:
    """What keeps the shares that fall short: the rules about other pods, and where their volumes are."""
    told: dict[Obstacle, None] = {}
    for number, share in enumerate(shares):
        if most[number] >= share.count:
            continue
        alone = conflict(with_volumes(demand, share.volumes), space)
        for obstacle in (*alone, *(() if alone else (*found.get(number, ()), *_where(share)))):
            told.setdefault(obstacle)
    return tuple(told)


def _where(share: Share) -> list[Obstacle]:
    """Where the volumes of some ordinals are."""
    pods = ", ".join(str(ordinal) for ordinal in sorted(share.ordinals))
    found = []
    for mount in share.volumes:
        for rule in mount.rules:
            written = [w for alternative in rule.alternatives for w in alternative.written]
            if rule.kind == "bound" and mount.bound_to is not None and written:
                message = f"the volumes {mount.volume!r} of ordinals {pods} are reached only where "
                against = Against(f"PersistentVolume/{mount.bound_to.name}", written[0].place)
                text = message + spelled(rule.alternatives)
                found.append(Obstacle("volume", text, "scheduler:S-1043", mount.place, against, "volume"))
    return found


def together_obstacles(pod: EffectivePod, most: int, needed: int, shares: Sequence[Share]) -> tuple[Obstacle, ...]:
    """Why the ordinals cannot all run although each can: rules about other pods, and where the volumes are."""
    spec = pod.spec
    message = f"{most} of {needed} ordinals can run at once where their volumes are"
    found = [
        Obstacle("topologySpread", message, "scheduler:S-812", constraint.place, None, "topology")
        for constraint in spec.spread
        if constraint.when_unsatisfiable == "DoNotSchedule"
    ]
    found += [
        Obstacle("podAntiAffinity", message, "scheduler:S-923", term.place, None, "affinity")
        for term in spec.affinity.anti_required
    ]
    if not found:
        found.append(Obstacle("resources", message, "scheduler:P-721", spec.place, None, "resources"))
    return (*found, *(obstacle for share in shares for obstacle in _where(share)))
