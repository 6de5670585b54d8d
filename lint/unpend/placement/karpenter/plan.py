"""What Karpenter would launch for a pod from one pool: the planned view (`karpenter.md` §7.2 to §7.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from unpend.algebra.taints import untolerated
from unpend.catalog.index import Fit
from unpend.model.karpenter_labels import CAPACITY_TYPE
from unpend.model.pod import Taint, Toleration
from unpend.placement.karpenter.asked import Asked, Attempt
from unpend.placement.karpenter.grid import Grid, admitted
from unpend.placement.karpenter.host_ports import conflict as ports_conflict
from unpend.placement.karpenter.min_values import short_of_min_values
from unpend.placement.karpenter.pool import ManagedPool
from unpend.placement.karpenter.requirements import Clash, Requirements
from unpend.placement.space import Masks
from unpend.records import dataclass, field, replace

EVERY_EFFECT = ("NoSchedule", "PreferNoSchedule", "NoExecute")
FILTERING = ("NoSchedule", "NoExecute")

Stage = Literal["taints", "requirements", "types", "min-values", "creation", "topology", "static", "volumes"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an attempt gives nothing: the first check that fails."""

    stage: Stage
    attempt: Attempt
    taints: tuple[Taint, ...] = ()
    clash: Clash | None = None
    labels: int = 0
    fit: int = 0
    ports: int = 0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Launch:
    """Nodes that an attempt may bring: the requirements of the NodeClaim, and the pairs of type and offering.

    `sure` are pairs that are options for certain if they exist. `unknown` says what is asked for that the catalogue
    does not know. `depends` names what else decides.
    """

    attempt: Attempt
    requirements: Requirements
    sure: int
    possible: int
    unknown: str | None = None
    depends: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """All that one pool may launch for a pod. `decided` says that the last launch is certain to be reached."""

    launches: tuple[Launch, ...]
    refusals: tuple[Refusal, ...]
    decided: bool

    @property
    def possible(self) -> int:
        """Every pair that may be launched."""
        if len(self.launches) == 1:
            return self.launches[0].possible
        mask = 0
        for launch in self.launches:
            mask |= launch.possible
        return mask


@dataclass(slots=True)
class Planner:
    """Plans of one run; answers that pods share are kept."""

    strict: bool = True
    _labels: dict[object, tuple[Clash | None, Requirements, Masks, str | None]] = field(default_factory=dict)
    _fits: dict[object, Fit] = field(default_factory=dict)

    def plan(self, pool: ManagedPool, asked: Asked) -> Plan:
        """What a pool would launch; nothing when Karpenter refuses the pod unseen."""
        grid = pool.grid
        if grid is None or asked.refused is not None:
            return Plan((), (), False)
        launches: list[Launch] = []
        refusals: list[Refusal] = []
        for attempt in asked.attempts:
            answer = self._try(pool, grid, asked, attempt)
            if isinstance(answer, Refusal):
                refusals.append(answer)
                continue
            launches.append(answer)
            if answer.sure and not answer.depends:
                return Plan(tuple(launches), tuple(refusals), True)
        return Plan(tuple(launches), tuple(refusals), False)

    def _try(self, pool: ManagedPool, grid: Grid, asked: Asked, attempt: Attempt) -> Launch | Refusal:
        if pool.pool.is_static:
            return Refusal("static", attempt)
        depends: list[str] = []
        left = self._untolerated(pool, asked, attempt)
        if left:
            if self._untolerated(pool, asked, attempt, asked.possible_tolerations):
                return Refusal("taints", attempt, taints=left)
            depends.append("extended-resource-toleration")
        if asked.volumes.known == "unknown":
            depends.append("volume")
        clash, requirements, masks, unknown = self._requirements(pool, grid, attempt.requirements)
        if clash is not None:
            return Refusal("requirements", attempt, clash=clash)
        if asked.volumes.ways:
            clash, requirements, masks, unknown = self._volumes(pool, grid, asked, attempt)
            if clash is not None:
                return Refusal("volumes", attempt, clash=clash)
        if attempt.held == "no":
            return Refusal("topology", attempt)
        if attempt.held == "unknown":
            depends.append("topology")
        launch = Launch(attempt, requirements, masks.sure, masks.possible, unknown, tuple(depends))
        return self._types(pool, grid, asked, launch)

    def _types(self, pool: ManagedPool, grid: Grid, asked: Asked, launch: Launch) -> Launch | Refusal:
        """What resources, host ports and `minValues` leave of the types that have the labels."""
        fit, ports = self._fit(pool, grid, asked), self._ports(pool, grid, asked)
        possible = launch.possible & fit.possible & ports
        sure = launch.sure & fit.sure & ports
        if not possible and launch.unknown is None:
            return Refusal("types", launch.attempt, labels=launch.possible, fit=fit.possible, ports=ports)
        if any(r.min_values is not None for r in launch.requirements):
            refusal = self._min_values(pool, grid, launch.attempt, launch.requirements, possible)
            if refusal is not None and launch.unknown is None:
                return refusal
            short = self._min_values(pool, grid, launch.attempt, launch.requirements, sure)
            if refusal is not None or short is not None:
                sure = 0
        # Equal masks are kept once: there are thousands of these.
        return replace(launch, sure=possible if sure == possible else sure, possible=possible)

    @staticmethod
    def _untolerated(
        pool: ManagedPool, asked: Asked, attempt: Attempt, more: tuple[Toleration, ...] = ()
    ) -> tuple[Taint, ...]:
        effects = FILTERING if attempt.tolerates_preferred else EVERY_EFFECT
        return untolerated(asked.tolerations + more, pool.taints, effects)

    def _requirements(
        self, pool: ManagedPool, grid: Grid, asked: Requirements
    ) -> tuple[Clash | None, Requirements, Masks, str | None]:
        key = (pool.number, asked.token)
        found = self._labels.get(key)
        if found is None:
            found = self._labels[key] = self._narrow(pool, grid, asked)
        return found

    def _volumes(
        self, pool: ManagedPool, grid: Grid, asked: Asked, attempt: Attempt
    ) -> tuple[Clash | None, Requirements, Masks, str | None]:
        """The first way to have the volumes that leaves something; where all clash, the clash of the last (V-14)."""
        found = last = self._requirements(pool, grid, attempt.requirements)
        for way in asked.volumes.ways:
            clash = found[1].incompatibility(way, pool.well_known)
            if clash is not None:
                last = (clash, *found[1:])
                continue
            last = self._requirements(pool, grid, attempt.requirements.narrowed(way))
            if last[0] is None and last[2].possible:
                return last
        return last

    @staticmethod
    def _narrow(
        pool: ManagedPool, grid: Grid, asked: Requirements
    ) -> tuple[Clash | None, Requirements, Masks, str | None]:
        template = pool.requirements
        clash = template.incompatibility(asked, pool.well_known)
        if clash is not None:
            return clash, template, Masks(0, 0), None
        together = template.narrowed(asked)
        masks = pool.base
        unknown = dict(pool.unknown)
        for key in asked.by_key:
            requirement = together.by_key[key]
            if requirement != template.by_key.get(key):
                masks = masks.both(grid.planned(requirement))
            if pool.catalog is not None:
                text = pool.catalog.unknown(key, admitted(requirement))
                if text is None:
                    unknown.pop(key, None)
                else:
                    unknown[key] = text
        return None, together, masks, next(iter(unknown.values()), None)

    def _fit(self, pool: ManagedPool, grid: Grid, asked: Asked) -> Fit:
        resources = pool.planned
        assert resources is not None
        key = (id(resources), id(grid), tuple(sorted(asked.requests.items())))
        found = self._fits.get(key)
        if found is None:
            # Memory as configured: what was learnt from earlier nodes may be more (A7).
            types = resources.takes(asked.requests).sure
            mask = grid.spread(types)
            for number, group in enumerate(grid.groups):
                if group.resources is not None:
                    here = group.possible << number * grid.width
                    own = group.resources.takes(asked.requests).sure << number * grid.width
                    mask = mask & ~here | own & here
            found = self._fits[key] = Fit(mask, mask)
        return found

    @staticmethod
    def _ports(pool: ManagedPool, grid: Grid, asked: Asked) -> int:
        mask = grid.all
        for port in asked.ports:
            for use, types in pool.planned_ports:
                if ports_conflict(port, use.port):
                    mask &= ~grid.spread(types)
        return mask

    def _min_values(
        self, pool: ManagedPool, grid: Grid, attempt: Attempt, requirements: Requirements, mask: int
    ) -> Refusal | None:
        if self.strict:
            short = short_of_min_values(pool, grid, mask)
            if short is not None:
                return Refusal("min-values", attempt, detail=short.message)
        for requirement in requirements:
            wanted = requirement.min_values
            if wanted is None:
                continue
            left: Mapping[str, object] | frozenset[str] = requirement.values
            if requirement.key == CAPACITY_TYPE:
                left = frozenset(g.capacity_type for g, _ in grid.groups_of(mask) if requirement.has(g.capacity_type))
            elif requirement.complement:
                continue
            if len(left) < wanted:
                return Refusal(
                    "creation",
                    attempt,
                    detail=f"{pool.name} wants at least {wanted} values of {requirement.key}, but with what the pod "
                    f"asks for only {len(left)} {'is' if len(left) == 1 else 'are'} left: every NodeClaim is refused "
                    "when it is created (minValues)",
                )
        return None
