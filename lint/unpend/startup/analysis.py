"""All starts of an inventory: per workload the pools that take it, per pool the paths and what would shorten them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from unpend.model.inventory import Inventory, Workload
from unpend.model.pod import EffectivePod
from unpend.placement.verdict import Cause, PoolVerdict, Verdict, WorkloadVerdict, place_to_dict
from unpend.records import dataclass, field
from unpend.settings import Settings
from unpend.source.place import Place
from unpend.startup.budget import Budget, budget_of
from unpend.startup.images import Sizes, node_images
from unpend.startup.levers import Lever, levers_of
from unpend.startup.nodes import PoolStart, pool_key, pool_starts
from unpend.startup.paths import PodStart, paths_of, pod_start, runtime_of
from unpend.startup.profile import BUILTIN, Profile, builtin, profile_of
from unpend.startup.stages import Interval, Path

Admit = Callable[[Workload], EffectivePod]

_NO_PATH: dict[Verdict, str] = {
    "never": "no pool takes it: there is no path, and no faster start helps",
    "loop": "nodes are made for it in vain: there is no path, and no faster start helps",
    "skipped": "nothing to place",
}


@dataclass(frozen=True, slots=True)
class PoolPaths:
    """The paths of a workload on one pool, with the levers of each; `why_no_node` is empty where one is made."""

    pool: str
    verdict: Verdict
    cause: Cause | None
    profile: str
    paths: tuple[Path, ...]
    start: PodStart = field(compare=False, repr=False)
    levers: tuple[Lever, ...] = ()
    why_no_node: str = ""

    @property
    def longest(self) -> Path:
        """The longest path that can happen."""
        return max(self.paths, key=lambda path: path.total.typical)

    def path(self, kind: str) -> Path | None:
        """The path of a kind, None where there is none."""
        return next((path for path in self.paths if path.kind == kind), None)

    def levers_on(self, path: Path) -> tuple[Lever, ...]:
        """The levers of one path."""
        return tuple(lever for lever in self.levers if lever.path is path)

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape."""
        return {
            "pool": self.pool,
            "verdict": self.verdict,
            "cause": self.cause,
            "profile": self.profile,
            "newNode": self.path("new-node") is not None,
            "reason": self.why_no_node or None,
            "paths": [path.to_dict() for path in self.paths],
            "levers": [lever.to_dict() for lever in self.levers],
        }


@dataclass(frozen=True, slots=True)
class ColdStart:
    """All paths of one workload; `reason` says why there is none."""

    workload: str
    cluster: str
    verdict: Verdict
    cause: Cause | None
    runtime_class: str | None
    handler: str
    family: str | None
    pools: tuple[PoolPaths, ...]
    budget: Budget | None = None
    reason: str = ""
    place: Place | None = field(default=None, compare=False)

    @property
    def slowest(self) -> PoolPaths | None:
        """The pool with the longest path."""
        return max(self.pools, key=lambda pool: pool.longest.total.typical, default=None)

    @property
    def over_budget(self) -> bool | None:
        """Whether the longest path typically takes more than the budget; None without budget or path."""
        slowest = self.slowest
        if self.budget is None or slowest is None:
            return None
        return slowest.longest.total.typical > self.budget.seconds

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape."""
        budget = self.budget
        return {
            "workload": self.workload,
            "cluster": self.cluster,
            "verdict": self.verdict,
            "cause": self.cause,
            "runtimeClass": self.runtime_class,
            "handler": self.handler or None,
            "runtime": self.family,
            "reason": self.reason or None,
            "budget": None
            if budget is None
            else {"seconds": budget.seconds, "origin": budget.origin, "exceeded": self.over_budget},
            "at": place_to_dict(self.place),
            "images": [
                {
                    "image": i.reference,
                    "bytes": None if i.size is None else _bytes(i.size),
                    "pullPolicyAlways": i.always,
                }
                for i in (self.pools[0].start.images if self.pools else ())
            ],
            "pools": [pool.to_dict() for pool in self.pools],
        }


def _bytes(size: Interval) -> dict[str, int]:
    return {"best": round(size.best), "typical": round(size.typical), "worst": round(size.worst)}


class Starts:
    """The starts of one inventory; each workload is worked out when it is asked for."""

    def __init__(
        self, inventory: Inventory, settings: Settings, verdicts: Mapping[str, WorkloadVerdict], admit: Admit
    ) -> None:
        self._inventory = inventory
        self._settings = settings
        self._verdicts = verdicts
        self._admit = admit
        self._own: Mapping[str, Any] = settings.startup.get("data") or {}
        self._profiles: dict[str, Profile] = {}
        self._sizes: dict[str, Sizes] = {}
        self._known: dict[str, ColdStart] = {}
        self.pools: dict[str, PoolStart] = pool_starts(inventory, verdicts)

    def profile(self, base: str) -> Profile:
        """The profile of a pool: the one that was asked for, else the built-in one `base`, with one's own over it."""
        named = self._settings.startup.get("profile")
        if isinstance(named, str) and named in BUILTIN and not self._own:
            base = named
        if base not in self._profiles:
            self._profiles[base] = profile_of(self._own, builtin(base)) if self._own else builtin(base)
        return self._profiles[base]

    def sizes(self, profile: Profile) -> Sizes:
        """Known sizes of images: of the nodes, then of the profile, then of the files of the config."""
        if profile.name not in self._sizes:
            found: dict[str, Interval] = dict(node_images(n.place.object.data for n in self._inventory.nodes))
            found |= {ref: Interval(size, size, size) for ref, size in profile.images.items()}
            found |= self._settings.startup.get("sizes") or {}
            self._sizes[profile.name] = found
        return self._sizes[profile.name]

    def all(self, workloads: Iterable[Workload] | None = None) -> tuple[ColdStart, ...]:
        """The starts of workloads (all but DaemonSets when none are named), in the order of the inventory."""
        chosen = self._inventory.workloads if workloads is None else workloads
        return tuple(self.of(workload) for workload in chosen if workload.kind != "DaemonSet")

    def of(self, workload: Workload) -> ColdStart:
        """The start of one workload."""
        known = self._known.get(workload.id)
        if known is None:
            known = self._known[workload.id] = self._make(workload)
        return known

    def _make(self, workload: Workload) -> ColdStart:
        verdict = self._verdicts[workload.id]
        pod = self._admit(workload)
        family, handler = runtime_of(pod, self._inventory, self.profile("generic"))
        pools: dict[str, PoolPaths] = {}
        if verdict.verdict not in _NO_PATH:
            starts: dict[str, PodStart] = {}
            for one in verdict.pools:
                key = pool_key(one)
                takes = one.verdict in ("fits", "conditional")
                if takes and key in self.pools and (key not in pools or one.verdict == "fits"):
                    pools[key] = self._on(one, self.pools[key], pod, starts)
        reason = _NO_PATH.get(verdict.verdict, "")
        if not reason and not pools:
            reason = "no pool among the files takes it"
        return ColdStart(
            workload.id,
            self._settings.cluster,
            verdict.verdict,
            verdict.cause,
            pod.spec.runtime_class,
            handler,
            family,
            tuple(pools.values()),
            budget_of(workload, self._settings),
            reason,
            workload.place,
        )

    def _on(self, verdict: PoolVerdict, pool: PoolStart, pod: EffectivePod, starts: dict[str, PodStart]) -> PoolPaths:
        profile = self.profile(pool.base)
        start = starts.get(pool.base)
        if start is None:
            start = starts[pool.base] = pod_start(pod, self._inventory, profile, self.sizes(profile))
        why = _why_no_node(verdict, pool)
        paths = paths_of(start, pool, profile, not why)
        if not why and not profile.new_nodes:
            why = f"profile {profile.name} has no new nodes"
        levers = tuple(lever for path in paths for lever in levers_of(path, start, pool, profile))
        return PoolPaths(pool.name, verdict.verdict, verdict.cause, profile.name, paths, start, levers, why)


def _why_no_node(verdict: PoolVerdict, pool: PoolStart) -> str:
    """Why no node is made for the pod, empty where one is."""
    if verdict.cause == "existing-node":
        return "no node is made for it: it waits for one that is there for other pods"
    if pool.why_not:
        return pool.why_not
    if verdict.autoscaler is None:
        return "no autoscaler adds nodes"
    if verdict.autoscaler_says == "no":
        return "the autoscaler makes no node for it"
    return ""


class KnownFacts(Protocol):
    """What rules have: inventory, settings, verdicts, effective pods, and a place to keep what was worked out."""

    inventory: Inventory
    settings: Settings

    @property
    def verdicts(self) -> Mapping[str, WorkloadVerdict]:
        """The verdict of every workload by its id."""

    def effective(self, workload: Workload) -> EffectivePod:
        """The pod of a workload after admission."""

    def memo(self, name: Any, compute: Callable[[], Any]) -> Any:
        """The value kept under a name."""


def starts_in(facts: KnownFacts) -> Starts:
    """The starts of what rules are asked about, worked out once."""
    found: Starts = facts.memo(
        "startup", lambda: Starts(facts.inventory, facts.settings, facts.verdicts, facts.effective)
    )
    return found


def starts_of(
    inventory: Inventory, settings: Settings, verdicts: Mapping[str, WorkloadVerdict], admit: Admit
) -> Starts:
    """The starts of one inventory, for callers that keep verdicts and effective pods."""
    return Starts(inventory, settings, verdicts, admit)
