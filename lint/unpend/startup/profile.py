"""Cold-start profiles: figures as data, laid over each other, each with its source and condition."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from unpend.records import dataclass, field, replace
from unpend.startup.stages import ZERO, Interval

BUILTIN = ("eks-karpenter", "eks-cluster-autoscaler", "generic", "fixed-nodes")
UNKNOWN_FAMILY = "unknown"


class ProfileError(ValueError):
    """A profile that cannot be used; `problems` holds a path and a message each."""

    def __init__(self, problems: tuple[tuple[str, str], ...]) -> None:
        super().__init__("; ".join(f"{path}: {message}" if path else message for path, message in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a profile: an interval in seconds, who says so, and when it holds."""

    interval: Interval
    source: str = ""
    condition: str = ""
    samples: int = 0


@dataclass(frozen=True, slots=True)
class Rate:
    """Bytes a second: `best` is the highest."""

    best: float
    typical: float
    worst: float

    def seconds(self, size: Interval) -> Interval:
        """How long an amount of bytes takes: the smallest at the highest rate at best."""
        return Interval.of(size.best / self.best, size.typical / self.typical, size.worst / self.worst)


@dataclass(frozen=True, slots=True)
class Profile:
    """Everything that a start is computed from. `images` are compressed bytes by reference or pattern."""

    name: str
    new_nodes: bool
    default_runtime: str
    stages: Mapping[str, Figure]
    runtimes: Mapping[str, Figure]
    handlers: Mapping[str, str]
    levers: Mapping[str, Figure]
    size: Figure
    bandwidth: Rate
    unpack: Rate
    rate_source: str = ""
    images: Mapping[str, float] = field(default_factory=dict)

    def figure(self, name: str) -> Figure:
        """The figure of a stage; nothing at all for one that the profile does not have."""
        return self.stages.get(name) or _NO_FIGURE

    def family(self, handler: str) -> str | None:
        """The runtime family of a handler, by the longest pattern that matches; None when no pattern does."""
        found = [pattern for pattern in self.handlers if fnmatchcase(handler, pattern)]
        return self.handlers[max(found, key=lambda pattern: (len(pattern), pattern))] if found else None

    def runtime(self, family: str | None) -> Figure:
        """The start of a runtime family; the range of all of them for one that is not known."""
        return self.runtimes.get(family or UNKNOWN_FAMILY) or self.runtimes.get(UNKNOWN_FAMILY) or _NO_FIGURE


_NO_FIGURE = Figure(ZERO)


@lru_cache(maxsize=8)
def builtin(name: str) -> Profile:
    """A profile that unpend ships. Raises KeyError for a name that none has."""
    if name not in BUILTIN:
        raise KeyError(name)
    return profile_of(builtin_data(name))


def builtin_data(name: str) -> dict[str, Any]:
    """The data of a profile that unpend ships."""
    from unpend_schemas import load_json

    data: dict[str, Any] = load_json(f"startup/{name}.json")
    return data


def profile_of(data: Mapping[str, Any], base: Profile | None = None) -> Profile:
    """The profile that data means, laid over the one it extends (`base` where it names none).

    Raises ProfileError for data that breaks the published schema.
    """
    parent = data.get("extends")
    below = builtin(parent) if isinstance(parent, str) and parent in BUILTIN else base
    try:
        return _first(data) if below is None else _over(data, below)
    except ProfileError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ProfileError(problems_of(data) or (("", f"cannot be used: {error}"),)) from error


def problems_of(data: Any) -> tuple[tuple[str, str], ...]:
    """What is wrong with the data of a profile by its schema, and where bounds are out of order."""
    from jsonschema import Draft202012Validator

    from unpend_schemas import load_json

    errors = Draft202012Validator(load_json("startup-profile.schema.json")).iter_errors(data)
    found = [(".".join(map(str, error.absolute_path)), error.message) for error in errors]
    if not found:
        found = list(_out_of_order(data))
    return tuple(sorted(found))


def _out_of_order(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = []
    for group in ("stages", "runtimes", "levers", "image"):
        for name, entry in (data.get(group) or {}).items():
            values = [entry["best"], entry["typical"], entry["worst"]]
            falling = group == "image" and name != "size"
            if values != sorted(values, reverse=falling):
                order = "best >= typical >= worst" if falling else "best <= typical <= worst"
                found.append((f"{group}.{name}", f"{order} does not hold"))
    return found


def _first(data: Mapping[str, Any]) -> Profile:
    image = data["image"]
    return Profile(
        name=data["name"],
        new_nodes=data.get("newNodes", True),
        default_runtime=data.get("defaultRuntime", "runc"),
        stages=_figures(data.get("stages")),
        runtimes=_figures(data.get("runtimes")),
        handlers=dict(data.get("handlers") or {}),
        levers=_figures(data.get("levers")),
        size=_figure(image["size"]),
        bandwidth=_rate(image["bandwidth"]),
        unpack=_rate(image["unpack"]),
        rate_source=image["bandwidth"].get("source", ""),
        images=dict(data.get("images") or {}),
    )


def _over(data: Mapping[str, Any], base: Profile) -> Profile:
    image = data.get("image") or {}
    stages = _figures(data.get("stages"))
    kept = base.stages
    if image and "image-pull" not in stages:  # a bandwidth of one's own is nearer than a figure of the base
        kept = {name: figure for name, figure in kept.items() if name != "image-pull"}
    return replace(
        base,
        name=data.get("name") or base.name,
        new_nodes=data.get("newNodes", base.new_nodes),
        default_runtime=data.get("defaultRuntime", base.default_runtime),
        stages={**kept, **stages},
        runtimes={**base.runtimes, **_figures(data.get("runtimes"))},
        handlers={**base.handlers, **(data.get("handlers") or {})},
        levers={**base.levers, **_figures(data.get("levers"))},
        size=_figure(image["size"]) if "size" in image else base.size,
        bandwidth=_rate(image["bandwidth"]) if "bandwidth" in image else base.bandwidth,
        unpack=_rate(image["unpack"]) if "unpack" in image else base.unpack,
        rate_source=image["bandwidth"].get("source", "") if "bandwidth" in image else base.rate_source,
        images={**base.images, **(data.get("images") or {})},
    )


def _figures(data: Mapping[str, Any] | None) -> dict[str, Figure]:
    return {name: _figure(entry) for name, entry in (data or {}).items()}


def _figure(entry: Mapping[str, Any]) -> Figure:
    source = entry.get("source", "")
    date = entry.get("date", "")
    interval = Interval(float(entry["best"]), float(entry["typical"]), float(entry["worst"]))
    said = f"{source} ({date})" if source and date else source
    return Figure(interval, said, entry.get("condition", ""), int(entry.get("samples", 0)))


def _rate(entry: Mapping[str, Any]) -> Rate:
    rate = Rate(float(entry["best"]), float(entry["typical"]), float(entry["worst"]))
    if not rate.best >= rate.typical >= rate.worst > 0:
        raise ProfileError((("image", "best >= typical >= worst > 0 does not hold"),))
    return rate
