"""RuntimeClass admission (`kube-scheduler.md` §2.2)."""

from __future__ import annotations

from unpend.model.admission_findings import AdmissionFindings
from unpend.model.inventory import Inventory, RuntimeClass
from unpend.model.pod import Label, PodSpec, Resources, changed
from unpend.settings import Settings


def apply_runtime_class(spec: PodSpec, inventory: Inventory, settings: Settings, found: AdmissionFindings) -> PodSpec:
    """The spec with overhead (A-212), node selector (A-213) and tolerations (A-214) of its RuntimeClass."""
    if spec.runtime_class is None:
        return spec
    place = spec.place.at("runtimeClassName")
    runtime = inventory.runtime_classes.get(spec.runtime_class)
    if runtime is None:
        if settings.world.classes == "closed":
            found.refuse(
                f'there is no RuntimeClass "{spec.runtime_class}": every pod is refused', place, "scheduler:A-211"
            )
        else:
            found.unsure(
                f'the RuntimeClass "{spec.runtime_class}" is not among the objects; it may add a node selector, '
                "tolerations and overhead",
                place,
                "scheduler:A-211",
            )
        return spec
    _check_overhead(spec, runtime, found)
    return changed(
        spec,
        overhead=runtime.overhead or spec.overhead,
        node_selector=_node_selector(spec, runtime, found),
        tolerations=spec.tolerations + tuple(t for t in runtime.tolerations if t not in spec.tolerations),
    )


def _check_overhead(spec: PodSpec, runtime: RuntimeClass, found: AdmissionFindings) -> None:
    if spec.overhead and not _same(spec.overhead, runtime.overhead):
        found.refuse(
            f"`overhead` differs from that of RuntimeClass {runtime.name}; leave it out, the class sets it",
            spec.place.at("overhead"),
            "scheduler:A-212",
            (f"overhead of RuntimeClass {runtime.name}", runtime.place.at("overhead")),
        )


def _same(one: Resources, other: Resources) -> bool:
    return {name: a.milli for name, a in one.items()} == {name: a.milli for name, a in other.items()}


def _node_selector(spec: PodSpec, runtime: RuntimeClass, found: AdmissionFindings) -> tuple[Label, ...]:
    own = {label.key: label for label in spec.node_selector}
    added = []
    for label in runtime.node_selector:
        mine = own.get(label.key)
        if mine is None:
            added.append(label)
        elif mine.value != label.value:
            found.refuse(
                f'the nodeSelector asks for {label.key} "{mine.value}", RuntimeClass {runtime.name} for '
                f'"{label.value}": every pod is refused',
                mine.place,
                "scheduler:A-213",
                (f"nodeSelector of RuntimeClass {runtime.name}", label.place),
            )
    return (*spec.node_selector, *added)
