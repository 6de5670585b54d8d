"""What would shorten a path, and by how much at most. Trade-offs are facts with a source, never advice."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from unpend.records import dataclass
from unpend.startup.nodes import PoolStart
from unpend.startup.paths import PodStart
from unpend.startup.profile import UNKNOWN_FAMILY, Profile
from unpend.startup.stages import NODE_STAGES, Path


@dataclass(frozen=True, slots=True)
class TradeOff:
    """A fact about a lever: who says so, and under which condition."""

    fact: str
    source: str
    condition: str

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape."""
        return {"fact": self.fact, "source": self.source, "condition": self.condition}


@dataclass(frozen=True, slots=True)
class Lever:
    """One change: what it typically saves of a path and what it saves at most, in seconds.

    `most` compares the worst case of what it replaces with the best case of what comes instead: nothing saves more.
    """

    name: str
    title: str
    typical: float
    most: float
    path: Path
    trade_offs: tuple[TradeOff, ...] = ()

    @property
    def share(self) -> float:
        """Which part of the typical path it typically saves, 0 to 1."""
        whole = self.path.total.typical
        return self.typical / whole if whole else 0.0

    @property
    def most_share(self) -> float:
        """Which part of the path it saves at most: when all else is at its best."""
        rest = max(0.0, self.path.total.best - self.most)
        return self.most / (self.most + rest) if self.most else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape."""
        return {
            "lever": self.name,
            "title": self.title,
            "path": self.path.kind,
            "typical": round(self.typical, 3),
            "most": round(self.most, 3),
            "share": round(self.share, 4),
            "tradeOffs": [one.to_dict() for one in self.trade_offs],
        }


@lru_cache(maxsize=1)
def trade_offs() -> dict[str, tuple[TradeOff, ...]]:
    """All facts by lever."""
    from unpend_schemas import load_json

    found: dict[str, tuple[TradeOff, ...]] = {}
    for entry in load_json("startup/trade-offs.json")["tradeOffs"]:
        one = TradeOff(entry["fact"], entry["source"], entry["condition"])
        found[entry["lever"]] = (*found.get(entry["lever"], ()), one)
    return found


def levers_of(path: Path, start: PodStart, pool: PoolStart, profile: Profile) -> tuple[Lever, ...]:
    """What would shorten a path, the largest typical saving first; what cannot apply is left out."""
    facts = trade_offs()
    found = [
        Lever(name, title, min(typical, path.total.typical), min(most, path.total.worst), path, facts.get(name, ()))
        for name, title, typical, most in (
            *_runtime(path, start, profile),
            *_images(path, start, pool, profile),
            *_nodes(path, pool),
        )
        if most > 0
    ]
    return tuple(sorted(found, key=lambda lever: (-lever.typical, -lever.most, lever.name)))


_Found = Iterator[tuple[str, str, float, float]]


def _runtime(path: Path, start: PodStart, profile: Profile) -> _Found:
    now = start.runtime.interval
    others = {f: v.interval for f, v in profile.runtimes.items() if f not in (start.family, UNKNOWN_FAMILY)}
    if not others:
        return
    family = min(others, key=lambda name: (others[name].typical, others[name].worst, name))
    then = others[family]
    yield (
        "runtime",
        f"another runtime (the fastest: {family})",
        max(0.0, now.typical - then.typical),
        max(0.0, now.worst - then.best),
    )


def _images(path: Path, start: PodStart, pool: PoolStart, profile: Profile) -> _Found:
    stage = path.stage("image-pull")
    if path.kind == "cached" or stage is None:
        return
    pull = stage.interval
    smaller = profile.levers.get("smaller-image")
    if smaller is not None and "image-pull" not in profile.stages:
        left = smaller.interval
        yield "smaller-image", "smaller images", pull.typical * (1 - left.typical), pull.worst * (1 - left.best)
    lazy = profile.levers.get("lazy-pull")
    if lazy is not None and not pool.lazy:
        saved = lazy.interval
        yield "lazy-pull", "lazy pulling (SOCI, stargz)", min(pull.typical, saved.typical), min(pull.worst, saved.worst)
    check = start.check.interval
    where = "images on the disk of new nodes" if path.kind == "new-node" else "pulling before the pod comes"
    yield "pre-pull", where, max(0.0, pull.typical - check.typical), max(0.0, pull.worst - check.best)


def _nodes(path: Path, pool: PoolStart) -> _Found:
    if path.kind != "new-node":
        return
    node = path.part(NODE_STAGES)
    yield "placeholder", "room kept free (placeholders, CapacityBuffer)", node.typical, node.worst
    taints = path.part(("startup-taints",))
    if taints.worst:
        yield "startup-taints", "fewer startup taints, or agents on the disk", taints.typical, taints.worst
    if pool.stoppable:
        machine = path.part(("cloud-api", "boot", "windows", "metal", "user-data"))
        yield "warm-pool", "a warm pool of stopped instances", machine.typical, machine.worst
