"""The paths of one pod on one pool: warm node with cached image, warm node with pull, new node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.containers import is_extended
from unpend.model.inventory import Inventory
from unpend.model.pod import Container, EffectivePod
from unpend.records import dataclass
from unpend.startup.images import Sizes, size_of
from unpend.startup.nodes import PoolStart
from unpend.startup.probes import probes_in, ready_after, started_after, together, waits
from unpend.startup.profile import Figure, Profile
from unpend.startup.stages import ZERO, Interval, Path, Stage, total


@dataclass(frozen=True, slots=True)
class ImageStart:
    """One image of a pod: size (compressed bytes, None when not known), pull, and whether each start asks for it."""

    reference: str
    size: Interval | None
    pull: Interval
    always: bool


@dataclass(frozen=True, slots=True)
class PodStart:
    """What of a start belongs to the pod alone, under one profile."""

    family: str | None
    handler: str
    images: tuple[ImageStart, ...]
    scheduling: Stage
    check: Stage
    pull: Stage
    runtime: Stage
    init: Stage
    application: Stage
    devices: tuple[str, ...]

    @property
    def after_bind(self) -> tuple[Stage, ...]:
        """What comes after the image on every path; stages that the pod does not have are left out."""
        return (self.runtime, *([self.init] if self.init.interval != ZERO else []), self.application)


def pod_start(pod: EffectivePod, inventory: Inventory, profile: Profile, sizes: Sizes) -> PodStart:
    """The part of a start that belongs to the pod."""
    family, handler = runtime_of(pod, inventory, profile)
    spec = pod.spec
    datas = [_data(c) for c in (*spec.init_containers, *spec.containers)]
    images = tuple(_images(datas, profile, sizes))
    check = profile.figure("image-check")
    asked = sum(1 for image in images if image.always)
    known = [image for image in images if image.size is not None]
    measured = "image-pull" in profile.stages
    pulled = total(image.pull + check.interval for image in images)
    said = profile.figure("image-pull").source if measured else profile.rate_source
    runtime = profile.runtime(family)
    return PodStart(
        family,
        handler,
        images,
        _stage("scheduling", profile.figure("scheduling")),
        Stage(
            "image-pull", check.interval.times(asked), check.source, f"{_counted(asked, 'image')} of pullPolicy Always"
        ),
        Stage(
            "image-pull",
            pulled,
            said,
            f"{_counted(len(images), 'image')} one after the other, "
            + ("as measured" if measured else f"the size of {len(known)} of them known"),
        ),
        _stage("runtime", runtime),
        _init(spec.init_containers, profile),
        _application(spec.containers, spec.init_containers, profile),
        tuple(sorted(name for name, amount in pod.requests.items() if amount > 0 and is_extended(name))),
    )


def runtime_of(pod: EffectivePod, inventory: Inventory, profile: Profile) -> tuple[str | None, str]:
    """The runtime family of a pod (None for a handler that no table knows), and the handler."""
    name = pod.spec.runtime_class
    if not name:
        return profile.default_runtime, ""
    known = inventory.runtime_classes.get(name)
    handler = known.handler if known is not None and known.handler else name
    return profile.family(handler), handler


def paths_of(start: PodStart, pool: PoolStart, profile: Profile, makes: bool) -> tuple[Path, ...]:
    """The paths on a pool; without that of a new node where none is made."""
    check = (start.check,) if start.check.interval != ZERO else ()
    pull = (start.pull,) if start.images else ()
    rest = start.after_bind
    found = [
        Path("cached", (start.scheduling, *check, *rest)),
        Path("pull", (start.scheduling, *pull, *rest)),
    ]
    if makes and profile.new_nodes:
        found.append(Path("new-node", (*node_stages(start, pool, profile), start.scheduling, *pull, *rest)))
    return tuple(found)


def node_stages(start: PodStart, pool: PoolStart, profile: Profile) -> tuple[Stage, ...]:
    """What a new node adds in front, in order."""
    slower = {one.stage: one.message for one in pool.slower}

    def extra(name: str) -> list[Stage]:
        figure = profile.figure(name)
        return [Stage(name, figure.interval, figure.source, slower[name])] if name in slower else []

    found = [_stage(name, profile.figure(name)) for name in ("detection", "decision", "cloud-api", "boot")]
    found += [*extra("user-data"), *extra("windows"), *extra("metal"), *extra("snapshot-volume")]
    found += [_stage("kubelet", profile.figure("kubelet")), _stage("network", profile.figure("network"))]
    taints = len(pool.startup_taints)
    if taints:
        one = profile.figure("startup-taint")
        # Agents start together; at worst their images wait for each other.
        interval = Interval(one.interval.best, one.interval.typical, one.interval.worst * taints)
        found.append(
            Stage("startup-taints", interval, one.source, f"{_counted(taints, 'startup taint')}; {one.condition}")
        )
    if start.devices:
        figure = profile.figure("device-plugin")
        found.append(
            Stage("devices", figure.interval, figure.source, f"{', '.join(start.devices)}; {figure.condition}")
        )
    if pool.daemonsets:
        one = profile.figure("daemonset")
        found.append(
            Stage(
                "daemonsets",
                one.interval.times(pool.daemonsets),
                one.source,
                f"{_counted(pool.daemonsets, 'DaemonSet')}; {one.condition}",
            )
        )
    return tuple(found)


def _stage(name: str, figure: Figure) -> Stage:
    return Stage(name, figure.interval, figure.source, figure.condition)


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _data(container: Container) -> tuple[Container, Mapping[str, Any]]:
    data = container.place.value
    return container, data if isinstance(data, Mapping) else {}


def _images(datas: list[tuple[Container, Mapping[str, Any]]], profile: Profile, sizes: Sizes) -> Iterator[ImageStart]:
    seen: dict[str, bool] = {}
    for container, data in datas:
        if container.image:
            seen[container.image] = seen.get(container.image, False) or is_always(container.image, data)
    for reference, always in seen.items():
        size = size_of(reference, sizes)
        measured = profile.stages.get("image-pull")
        if measured is not None:
            pull = measured.interval
        else:
            amount = size or profile.size.interval
            pull = profile.bandwidth.seconds(amount) + profile.unpack.seconds(amount)
        yield ImageStart(reference, size, pull, always)


def is_always(reference: str, data: Mapping[str, Any]) -> bool:
    """Whether the registry is asked at each start: pullPolicy Always, or by default for `latest`."""
    policy = data.get("imagePullPolicy")
    if policy:
        return bool(policy == "Always")
    name, at, _ = reference.partition("@")
    last = name.rpartition("/")[2]
    return not at and (":" not in last or last.endswith(":latest"))


def _init(containers: tuple[Container, ...], profile: Profile) -> Stage:
    """Init containers one after the other; a sidecar holds up the next one until its startup probe answers."""
    found = []
    waiting = 0
    for container, data in map(_data, containers):
        if container.role == "sidecar":
            found.append(started_after(probes_in(data, container.place), profile.figure("sidecar").interval))
        elif waits(data):
            waiting += 1
            found.append(profile.figure("waiting-init").interval)
        else:
            found.append(profile.figure("init-container").interval)
    condition = f"{_counted(len(found), 'container')} one after the other" if found else ""
    if waiting:
        condition += f", {waiting} in a loop that waits for something else"
    return Stage("init", total(found), profile.figure("init-container").source, condition)


def _application(containers: tuple[Container, ...], inits: tuple[Container, ...], profile: Profile) -> Stage:
    own = profile.figure("application")
    ready = []
    bounded = probed = False
    for container, data in map(_data, containers):
        probes = probes_in(data, container.place)
        bounded = bounded or probes.startup is not None
        probed = probed or probes.readiness is not None
        ready.append(ready_after(probes, own.interval))
    for container, data in map(_data, inits):
        probes = probes_in(data, container.place)
        if container.role == "sidecar" and probes.readiness is not None:
            ready.append(ready_after(probes, profile.figure("sidecar").interval))
    if bounded:
        condition = "at worst all that the startup probe allows"
    elif probed:
        condition = f"seen by the readiness probe; nothing bounds it: {own.condition}"
    else:
        condition = f"no probe tells when it can serve: {own.condition}"
    return Stage("application", together(ready), own.source, condition)
