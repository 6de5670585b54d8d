"""What the labels and annotations of a Namespace do to its pods (A-234, A-235, A-239)."""

from __future__ import annotations

from unpend.model.admission_findings import AdmissionFindings
from unpend.model.inventory import Inventory
from unpend.model.pod import PodSpec
from unpend.source.place import Place

_ENFORCE = "pod-security.kubernetes.io/enforce"
_OPT_IN = {
    "scheduler.alpha.kubernetes.io/node-selector": (
        "scheduler:A-234",
        "where the plug-in PodNodeSelector is on, the namespace adds a node selector to every pod",
    ),
    "scheduler.alpha.kubernetes.io/defaultTolerations": (
        "scheduler:A-235",
        "where the plug-in PodTolerationRestriction is on, the namespace adds tolerations to every pod",
    ),
    "scheduler.alpha.kubernetes.io/tolerationsWhitelist": (
        "scheduler:A-235",
        "where the plug-in PodTolerationRestriction is on, the namespace refuses pods with other tolerations",
    ),
}


def apply_namespace_rules(spec: PodSpec, name: str, inventory: Inventory, found: AdmissionFindings) -> None:
    """Note what opt-in plug-ins would add, and what the enforced Pod Security level refuses."""
    namespace = inventory.namespaces.get(name)
    if namespace is None:
        return
    for key, (semantics, message) in _OPT_IN.items():
        annotation = namespace.annotations.get(key)
        if annotation is not None:
            found.unsure(message, spec.place, semantics, (f"annotation of namespace {name}", annotation.place))
    level = namespace.labels.get(_ENFORCE)
    if level not in {"baseline", "restricted"}:
        return
    for what, place in _host_access(spec):
        found.refuse(
            f"the namespace {name} enforces the Pod Security level {level}, which refuses {what}",
            place,
            "scheduler:A-239",
            ("the enforced level", namespace.place.at("metadata", "labels", _ENFORCE)),
        )


def _host_access(spec: PodSpec) -> list[tuple[str, Place]]:
    found: list[tuple[str, Place]] = []
    if spec.host_network:
        found.append(("hostNetwork", spec.place.at("hostNetwork")))
    found += [("hostPath volumes", volume.place) for volume in spec.volumes if volume.kind == "hostPath"]
    if not spec.host_network:
        for container in (*spec.containers, *spec.init_containers):
            found += [("host ports", port.place.at("hostPort")) for port in container.ports if port.host_port]
    return found
