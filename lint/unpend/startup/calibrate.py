"""Measured stages: a dump of a cluster (`kubectl get pods,nodes,events,nodeclaims -o json`) split at its time stamps.

Each stage is what lies between two moments that the dump has; a stage of which a moment is missing is not measured.
Most moments are whole seconds, so that a stage of less than a second is measured as zero or one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timezone
from typing import Any

from unpend.records import dataclass, field
from unpend.startup.profile import Profile
from unpend.startup.stages import Interval

MEASURABLE: dict[str, str] = {
    "detection": "pod created to FailedScheduling",
    "decision": "FailedScheduling to a NodeClaim, or to TriggeredScaleUp",
    "cloud-api": "NodeClaim created to Launched",
    "boot": "Launched to the Node object (the start of the kubelet is in it)",
    "kubelet": "Node object to Registered",
    "network": "Registered to the node Ready",
    "startup-taint": "node Ready to Initialized, where the NodeClaim has startup taints",
    "scheduling": "pod created (or its new node initialized) to PodScheduled",
    "image-pull": "Pulling to Pulled, one image",
    "runtime": "PodScheduled to the first Pulling or Pulled, and the last Pulled to started",
    "init-container": "start to end of one init container",
    "application": "container started to pod Ready, without restarts",
}
"""Every stage that a dump can tell, with the moments between which it lies."""

_TOOK = re.compile(r"\bin ((?:\d+(?:\.\d+)?(?:ms|s|m|h))+)(?=[ .(]|$)")
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_IMAGE = re.compile(r'image "([^"]+)"')


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of one stage: all samples in seconds, rising."""

    stage: str
    samples: tuple[float, ...]

    @property
    def p50(self) -> float:
        """The median, a sample itself (nearest rank)."""
        return _rank(self.samples, 0.5)

    @property
    def p95(self) -> float:
        """The 95th percentile, a sample itself (nearest rank)."""
        return _rank(self.samples, 0.95)

    @property
    def interval(self) -> Interval:
        """The smallest sample, p50 and p95."""
        return Interval(self.samples[0], self.p50, self.p95)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The measured stages by name, runtimes by family, and what the dump had nothing about."""

    stages: Mapping[str, Measured]
    runtimes: Mapping[str, Measured]
    missing: tuple[str, ...]
    pods: int

    def profile(self, name: str, extends: str | None, date: str) -> dict[str, Any]:
        """The data of a profile with what was measured; all else is that of the profile that it extends."""
        data: dict[str, Any] = {"name": name}
        if extends:
            data["extends"] = extends
        data |= {
            "date": date,
            "stages": {stage: _entry(found, date) for stage, found in self.stages.items()},
            "runtimes": {family: _entry(found, date) for family, found in self.runtimes.items()},
            "notMeasured": list(self.missing),
        }
        return {key: value for key, value in data.items() if value != {}}


def _entry(found: Measured, date: str) -> dict[str, Any]:
    interval = found.interval.to_dict()
    what = MEASURABLE.get(found.stage, "")
    entry = {**interval, "source": "measured by unpend calibrate", "date": date, "condition": what}
    return {**entry, "samples": len(found.samples)}


def _rank(samples: tuple[float, ...], share: float) -> float:
    return samples[max(0, math.ceil(share * len(samples)) - 1)]


def moment(value: Any) -> float | None:
    """A time stamp of the API (or a date that a YAML reader made of it) as seconds, None for anything else."""
    if isinstance(value, datetime):
        found = value
    elif isinstance(value, str) and value:
        try:
            found = datetime.fromisoformat(_six_digits(value.replace("Z", "+00:00")))
        except ValueError:
            return None
    else:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=timezone.utc)).timestamp()


def _six_digits(text: str) -> str:
    """Fractions of seconds as older Pythons read them: six digits."""
    return re.sub(r"\.(\d+)", lambda m: "." + (m[1] + "000000")[:6], text, count=1)


def calibrate(objects: Iterable[Mapping[str, Any]], profile: Profile) -> Calibration:
    """What the objects of a dump (plain data) tell; `profile` gives the family of a handler."""
    dump = _Dump()
    for one in objects:
        dump.add(one)
    samples: dict[str, list[float]] = {}
    runtimes: dict[str, list[float]] = {}
    pods = 0
    for pod in dump.pods.values():
        pods += 1
        for stage, seconds in _of_pod(pod, dump):
            samples.setdefault(stage, []).append(seconds)
        runtime = _runtime(pod, dump)
        if runtime is not None:
            family = _family(pod, dump, profile)
            runtimes.setdefault(family, []).append(runtime)
    for claim in dump.claims.values():
        for stage, seconds in _of_claim(claim, dump):
            samples.setdefault(stage, []).append(seconds)
    stages = {s: Measured(s, tuple(sorted(samples[s]))) for s in MEASURABLE if samples.get(s)}
    found = {f: Measured("runtime", tuple(sorted(v))) for f, v in sorted(runtimes.items())}
    missing = tuple(s for s in MEASURABLE if s not in stages and not (s == "runtime" and found))
    return Calibration(stages, found, missing, pods)


@dataclass(slots=True)
class _Dump:
    """The objects by what they are looked up with; the events of a pod in the order of time."""

    pods: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    nodes: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    claims: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    handlers: dict[str, str] = field(default_factory=dict)
    events: dict[str, list[tuple[float, Mapping[str, Any]]]] = field(default_factory=dict)

    def add(self, one: Mapping[str, Any]) -> None:
        """Sort one object in."""
        kind = one.get("kind")
        meta = _map(one.get("metadata"))
        name = str(meta.get("name"))
        if kind == "Pod":
            self.pods[f"{meta.get('namespace')}/{name}"] = one
        elif kind == "Node":
            self.nodes[name] = one
        elif kind == "NodeClaim":
            self.claims[name] = one
        elif kind == "RuntimeClass":
            self.handlers[name] = str(one.get("handler") or name)
        elif kind == "Event":
            about = _map(one.get("involvedObject")) or _map(one.get("regarding"))
            at = _event_time(one)
            if about.get("kind") == "Pod" and at is not None:
                key = f"{about.get('namespace')}/{about.get('name')}"
                self.events.setdefault(key, []).append((at, one))

    def of(self, pod: Mapping[str, Any], *reasons: str) -> list[tuple[float, Mapping[str, Any]]]:
        """The events of a pod with one of the reasons, in the order of time."""
        meta = _map(pod.get("metadata"))
        found = self.events.get(f"{meta.get('namespace')}/{meta.get('name')}", [])
        return sorted((e for e in found if e[1].get("reason") in reasons), key=lambda e: e[0])

    def claim_of(self, node: str) -> Mapping[str, Any] | None:
        """The NodeClaim of a node."""
        return next((c for c in self.claims.values() if node and _map(c.get("status")).get("nodeName") == node), None)


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _event_time(event: Mapping[str, Any]) -> float | None:
    """When an event was first met: the exact time where there is one."""
    for key in ("eventTime", "firstTimestamp", "deprecatedFirstTimestamp"):
        found = moment(event.get(key))
        if found is not None:
            return found
    return moment(_map(event.get("metadata")).get("creationTimestamp"))


def _condition(one: Mapping[str, Any], kind: str) -> float | None:
    """Since when a condition is true."""
    listed = _map(one.get("status")).get("conditions")
    for entry in listed if isinstance(listed, list) else ():
        if _map(entry).get("type") == kind and _map(entry).get("status") in ("True", True):
            return moment(_map(entry).get("lastTransitionTime"))
    return None


def _created(one: Mapping[str, Any]) -> float | None:
    return moment(_map(one.get("metadata")).get("creationTimestamp"))


_Samples = Iterator[tuple[str, float]]


def _between(stage: str, start: float | None, end: float | None) -> _Samples:
    """The time between two moments; nothing where one is missing or they are out of order."""
    if start is not None and end is not None and end >= start:
        yield stage, end - start


def _of_pod(pod: Mapping[str, Any], dump: _Dump) -> _Samples:
    created, scheduled = _created(pod), _condition(pod, "PodScheduled")
    refused = next((at for at, _ in dump.of(pod, "FailedScheduling")), None)
    claim = dump.claim_of(str(_map(pod.get("spec")).get("nodeName") or ""))
    made = None if claim is None else _created(claim)
    triggered = next((at for at, _ in dump.of(pod, "TriggeredScaleUp")), None)
    yield from _between("detection", created, refused)
    yield from _between("decision", refused, triggered if made is None else made)
    free = _free_to_bind(pod, claim, refused, dump)
    if free is not None and scheduled is not None:  # kube-scheduler may bind before Karpenter says "initialized"
        yield "scheduling", max(0.0, scheduled - free)
    yield from (("image-pull", seconds) for seconds in _pulls(pod, dump))
    status, spec = _map(pod.get("status")), _map(pod.get("spec"))
    sidecars = {_map(c).get("name") for c in _list(spec, "initContainers") if _map(c).get("restartPolicy") == "Always"}
    for entry in _list(status, "initContainerStatuses"):
        done = _map(_map(_map(entry).get("state")).get("terminated"))
        if _map(entry).get("name") not in sidecars and not _map(entry).get("restartCount"):
            yield from _between("init-container", moment(done.get("startedAt")), moment(done.get("finishedAt")))
    containers = [_map(entry) for entry in _list(status, "containerStatuses")]
    started = [moment(_map(_map(c.get("state")).get("running")).get("startedAt")) for c in containers]
    known = [at for at in started if at is not None]
    if known and len(known) == len(containers) and not any(c.get("restartCount") for c in containers):
        yield from _between("application", max(known), _condition(pod, "Ready"))


def _free_to_bind(
    pod: Mapping[str, Any], claim: Mapping[str, Any] | None, refused: float | None, dump: _Dump
) -> float | None:
    """Since when a node could take the pod: its creation, or the moment when its new node was initialized.

    None where it waited for something that the dump does not tell. Events are gone after an hour, so that none of them
    proves nothing: only a node that is older than the pod does.
    """
    created = _created(pod)
    if created is None:
        return None
    if claim is not None:
        initialized = _condition(claim, "Initialized")
        if initialized is None:
            return None
        if initialized >= created:
            return initialized
        return created if refused is None else None
    node = dump.nodes.get(str(_map(pod.get("spec")).get("nodeName") or ""))
    born = None if node is None else _created(node)
    return created if refused is None and born is not None and born < created else None


def _list(owner: Mapping[str, Any], key: str) -> list[Any]:
    value = owner.get(key)
    return value if isinstance(value, list) else []


def _pulls(pod: Mapping[str, Any], dump: _Dump) -> Iterator[float]:
    """How long each image of a pod took: as the kubelet says it, else between its two events."""
    waiting: dict[str, float] = {}
    for at, event in dump.of(pod, "Pulling", "Pulled"):
        message = str(event.get("message") or event.get("note") or "")
        image = (_IMAGE.search(message) or _NO_IMAGE)[0]
        if event.get("reason") == "Pulling":
            waiting.setdefault(image, at)
            continue
        if "already present" in message:
            continue
        took = _TOOK.search(message)
        begun = waiting.pop(image, None)
        if took is not None:
            yield sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(took[1]))
        elif begun is not None and at >= begun:
            yield at - begun


_NO_IMAGE = ("",)


def _runtime(pod: Mapping[str, Any], dump: _Dump) -> float | None:
    """Sandbox and containers of a pod: what of the time from binding to running is no pull and no init container."""
    scheduled = _condition(pod, "PodScheduled")
    pulling = dump.of(pod, "Pulling", "Pulled")
    pulled = dump.of(pod, "Pulled")
    started = dump.of(pod, "Started")
    if scheduled is None or not pulled or not started or _list(_map(pod.get("spec")), "initContainers"):
        return None
    before, after = pulling[0][0] - scheduled, started[-1][0] - pulled[-1][0]
    return before + after if before >= 0 and after >= 0 else None


def _family(pod: Mapping[str, Any], dump: _Dump, profile: Profile) -> str:
    name = _map(pod.get("spec")).get("runtimeClassName")
    if not name:
        return profile.default_runtime
    handler = dump.handlers.get(str(name), str(name))
    return profile.family(handler) or handler


def _of_claim(claim: Mapping[str, Any], dump: _Dump) -> _Samples:
    launched, registered = _condition(claim, "Launched"), _condition(claim, "Registered")
    yield from _between("cloud-api", _created(claim), launched)
    node = dump.nodes.get(str(_map(claim.get("status")).get("nodeName") or ""))
    if node is None:
        return
    yield from _between("boot", launched, _created(node))
    yield from _between("kubelet", _created(node), registered)
    ready = _condition(node, "Ready")
    yield from _between("network", registered, ready)
    if _list(_map(claim.get("spec")), "startupTaints"):
        yield from _between("startup-taint", ready, _condition(claim, "Initialized"))
