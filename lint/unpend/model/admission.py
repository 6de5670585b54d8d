"""The pod as the scheduler sees it: API defaulting, the controller's additions, admission, effective requests.

Admission plug-ins run for every pod that is not yet in a cluster, as `Settings.admission` says: `all`, only for pods
that a controller makes from a template (`templates`), or for none. A pod for which they do not run counts as admitted:
nothing refuses it any more. API defaulting holds for every pod.
"""

from __future__ import annotations

from unpend.model.admission_findings import AdmissionFindings
from unpend.model.containers import is_extended
from unpend.model.defaulting import defaulted
from unpend.model.inventory import Inventory, Workload
from unpend.model.limit_range import apply_limit_ranges, claim_refusals
from unpend.model.namespace_rules import apply_namespace_rules
from unpend.model.pod import ContainerPort, EffectivePod, PodSpec, PodTemplate, Toleration, changed
from unpend.model.priority import apply_priority
from unpend.model.quota import apply_quotas
from unpend.model.requests import effective_requests
from unpend.model.runtime_class import apply_runtime_class
from unpend.records import replace
from unpend.settings import Settings
from unpend.source.place import Place

_NOT_READY = "node.kubernetes.io/not-ready"
_UNREACHABLE = "node.kubernetes.io/unreachable"
_POD_LEVEL = (1, 34)
_DAEMON = (
    (_NOT_READY, "NoExecute"),
    (_UNREACHABLE, "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)


def admit(workload: Workload, inventory: Inventory, settings: Settings) -> EffectivePod:
    """The pod of a workload; `refusals` include what its object itself is refused for."""
    from_template = workload.kind != "Pod"
    pod = admit_template(
        workload.template,
        inventory,
        settings,
        from_template=from_template,
        daemonset=workload.kind == "DaemonSet",
        admitted=workload.admitted,
    )
    if workload.unknown:
        pod = replace(pod, unknown=workload.unknown + pod.unknown)
    if _plugins_run(settings, from_template, workload.admitted):
        refusals = workload.refusals
        if workload.claim_templates and inventory.limit_ranges:
            refusals += claim_refusals(workload, inventory)
        if refusals:
            pod = replace(pod, refusals=refusals + pod.refusals)
    return pod


def _plugins_run(settings: Settings, from_template: bool, admitted: bool) -> bool:
    if admitted or settings.admission == "none":
        return False
    return from_template or settings.admission != "templates"


def admit_template(
    template: PodTemplate,
    inventory: Inventory,
    settings: Settings,
    *,
    from_template: bool,
    daemonset: bool = False,
    admitted: bool = False,
) -> EffectivePod:
    """The pod that the API server would store for a template, or for a Pod itself.

    `admitted` is set for a Pod that is already in a cluster: nothing is added to it and nothing refuses it.
    """
    found = AdmissionFindings()
    spec = template.spec
    if (spec.pod_requests or spec.pod_limits) and settings.kubernetes < _POD_LEVEL and not admitted:
        # Behind a gate that is off there: the API server drops the field.
        spec = changed(spec, pod_requests={}, pod_limits={})
    spec = defaulted(spec)
    added: list[Toleration] = list(_daemon_tolerations(spec)) if daemonset else []
    possible: tuple[Toleration, ...] = ()
    if _plugins_run(settings, from_template, admitted):
        spec = apply_limit_ranges(spec, template.namespace, inventory, found)
        spec = apply_runtime_class(spec, inventory, settings, found)
        spec = apply_priority(spec, inventory, settings, found)
        if inventory.namespaces:
            apply_namespace_rules(spec, template.namespace, inventory, found)
        added.extend(_injected(settings, spec.place))
        added.extend(_default_tolerations((*spec.tolerations, *added), spec.place))
        possible = _possible_tolerations(spec)
    if added:
        spec = changed(spec, tolerations=(*spec.tolerations, *added))
    requests, places = effective_requests(spec)
    if inventory.quotas and _plugins_run(settings, from_template, admitted):
        apply_quotas(spec, requests, template.namespace, inventory, settings.world.namespaces == "closed", found)
    return EffectivePod(
        template,
        spec,
        requests,
        places,
        _host_ports(spec),
        tuple(found.refusals),
        tuple(found.unknown),
        possible,
    )


def _daemon_tolerations(spec: PodSpec) -> list[Toleration]:
    """Tolerations that the DaemonSet controller adds (S-1623)."""
    place = spec.place.at("tolerations")
    wanted: tuple[tuple[str, str], ...] = _DAEMON
    if spec.host_network:
        wanted = (*_DAEMON, ("node.kubernetes.io/network-unavailable", "NoSchedule"))
    return [Toleration(key, "Exists", "", effect, None, place) for key, effect in wanted]


def _default_tolerations(tolerations: tuple[Toleration, ...], place: Place) -> list[Toleration]:
    """DefaultTolerationSeconds (A-232): 300 s on nodes not ready or not reachable, unless the pod says itself."""
    missing = [_NOT_READY, _UNREACHABLE]
    for toleration in tolerations:
        if toleration.effect in {"", "NoExecute"}:
            missing = [key for key in missing if toleration.key not in {"", key}]
    return [Toleration(key, "Exists", "", "NoExecute", 300, place.at("tolerations")) for key in missing]


def _injected(settings: Settings, place: Place) -> list[Toleration]:
    """Tolerations that the user says a webhook adds."""
    if not settings.injected_tolerations:
        return []
    here = place.at("tolerations")
    return [
        Toleration(
            str(given.get("key", "")),
            str(given.get("operator", "")),
            str(given.get("value", "")),
            str(given.get("effect", "")),
            None,
            here,
        )
        for given in settings.injected_tolerations
    ]


def _possible_tolerations(spec: PodSpec) -> tuple[Toleration, ...]:
    """ExtendedResourceToleration (A-233): on in some managed control planes, off in plain ones."""
    names: dict[str, Place] = {}
    for container in (*spec.containers, *spec.init_containers):
        for name, amount in container.requests.items():
            if amount.milli and is_extended(name):
                names.setdefault(name, amount.place)
    return tuple(Toleration(name, "Exists", "", "NoSchedule", None, place) for name, place in sorted(names.items()))


def _host_ports(spec: PodSpec) -> tuple[ContainerPort, ...]:
    """Ports that the pod takes on its node: of containers and sidecars (S-601)."""
    found = [port for c in spec.containers for port in c.ports if port.host_port]
    for container in spec.init_containers:
        if container.role == "sidecar":
            found.extend(port for port in container.ports if port.host_port)
    return tuple(found)
