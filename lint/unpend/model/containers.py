"""Containers of a pod: resources, ports, roles; and what the API server checks of them (A-1541 to A-1548)."""

from __future__ import annotations

import re
from typing import Any

from unpend.algebra.syntax import dns_label_fault, qualified_name_fault
from unpend.model.field_names import CONTAINER_FIELDS, check_container_fields
from unpend.model.fields import entries, integer, mapping, text, under
from unpend.model.pod import Amount, Container, ContainerPort, ContainerRole, PodSpec, Resources
from unpend.model.problems import Problems
from unpend.model.quantities import milli_of, resources
from unpend.model.selectors import unknown_word
from unpend.source.place import Place

_NONE: dict[str, Amount] = {}
_PROTOCOLS = frozenset({"TCP", "UDP", "SCTP"})
_STANDARD = frozenset({"cpu", "memory", "ephemeral-storage"})


def containers(
    spec: dict[str, Any], key: str, place: Place, problems: Problems, claims: list[str] | None = None
) -> tuple[Container, ...]:
    """The containers at `containers` or `initContainers`; names of used resource claims are added to `claims`."""
    found = []
    for entry, here in entries(spec, key, place, problems):
        if not (problems.muted or CONTAINER_FIELDS.issuperset(entry)):
            check_container_fields(entry, here, problems)
        found.append(_container(entry, here, problems, key == "initContainers"))
    return tuple(found)


def _container(entry: dict[str, Any], place: Place, problems: Problems, init: bool) -> Container:
    requests: Resources = _NONE
    limits: Resources = _NONE
    wanted = mapping(entry, "resources", place, problems)
    if wanted:
        where = under(place, "resources")
        requests = resources(wanted, "requests", where, problems)
        limits = resources(wanted, "limits", where, problems)
        if not problems.muted:
            check_resources(requests, limits, problems)
    name = text(entry, "name", place, problems)
    if not problems.muted:
        fault = dns_label_fault(name)
        if fault:
            shown = f'the container name "{name}" {fault}' if name else "the container has no name"
            problems.refuse(under(place, "name"), shown, "scheduler:A-1503")
    role: ContainerRole = "container"
    if init:
        role = "init"
        if entry.get("restartPolicy") is not None:
            role = _init_role(entry, place, problems)
    ports = _ports(entry, place, problems) if entry.get("ports") else ()
    image = text(entry, "image", place, problems)
    return Container(name, role, image, requests, limits, ports, place)


def _init_role(entry: dict[str, Any], place: Place, problems: Problems) -> ContainerRole:
    policy = text(entry, "restartPolicy", place, problems)
    if policy == "Always":
        return "sidecar"
    if policy not in {"", "Never", "OnFailure"}:
        problems.refuse(
            under(place, "restartPolicy"),
            unknown_word(policy, "restartPolicy", frozenset({"Always"})),
            "scheduler:A-1543",
        )
    return "init"


def _ports(entry: dict[str, Any], place: Place, problems: Problems) -> tuple[ContainerPort, ...]:
    found = []
    for port, here in entries(entry, "ports", place, problems):
        number = integer(port, "containerPort", here, problems) or 0
        host = integer(port, "hostPort", here, problems) or 0
        protocol = text(port, "protocol", here, problems)
        for key, value, least in (("containerPort", number, 1), ("hostPort", host, 0)):
            if not least <= value <= 65535:
                problems.refuse(
                    under(here, key), f"`{key}` must be between 1 and 65535, this is {value}", "scheduler:A-1548"
                )
        if protocol and protocol not in _PROTOCOLS:
            problems.refuse(under(here, "protocol"), unknown_word(protocol, "protocol", _PROTOCOLS), "scheduler:A-1548")
        found.append(ContainerPort(number, host, text(port, "hostIP", here, problems), protocol or "TCP", here))
    return tuple(found)


def is_extended(name: str) -> bool:
    """Whether a resource name is an extended one (A-731): with a domain other than `kubernetes.io`."""
    prefix, slash, _ = name.partition("/")
    if not slash or name.startswith("requests."):
        return False
    return prefix != "kubernetes.io" and not prefix.endswith(".kubernetes.io")


def is_hugepages(name: str) -> bool:
    """Whether a resource name is one of huge pages."""
    return name.startswith("hugepages-")


def check_resources(requests: Resources, limits: Resources, problems: Problems) -> None:
    """Resource names (A-1541), whole numbers and equality of extended resources and huge pages, request ≤ limit."""
    for listed in (requests, limits):
        for name, amount in listed.items():
            if name in _STANDARD:
                continue
            _check_name(name, amount, problems)
    for name, request in requests.items():
        limit = limits.get(name)
        exact = name not in _STANDARD and (is_extended(name) or is_hugepages(name))
        if limit is None:
            if exact:
                problems.refuse(
                    request.place,
                    f"{name} is requested without a limit; the API wants a limit of the same amount",
                    "scheduler:A-731",
                )
        elif exact and request.milli != limit.milli:
            problems.refuse(
                request.place,
                f"{name} needs a request equal to its limit, but requests {request.text} and limits {limit.text}",
                "scheduler:A-732" if is_hugepages(name) else "scheduler:A-731",
            )
        elif request.milli > limit.milli:
            problems.refuse(
                request.place, f"the {name} request {request.text} is above its limit {limit.text}", "scheduler:A-1542"
            )


_PAGE = re.compile(r"hugepages-([0-9]+(?:[KMGT]i)?)\Z")


def check_huge_pages(spec: PodSpec, problems: Problems) -> None:
    """Huge pages come in whole pages, and only with cpu or memory beside them (A-732)."""
    listed = [c.requests for c in spec.containers] + [c.limits for c in spec.containers]
    listed += [c.requests for c in spec.init_containers] + [c.limits for c in spec.init_containers]
    listed += [spec.pod_requests, spec.pod_limits]
    pages = [(name, amount) for amounts in listed for name, amount in amounts.items() if is_hugepages(name)]
    if not pages:
        return
    for name, amount in pages:
        match = _PAGE.match(name)
        size = milli_of(match.group(1)) if match else None
        if size is None:
            problems.refuse(
                amount.place, f'"{name}" names no page size, such as hugepages-2Mi', "scheduler:A-1541", "key"
            )
        elif size and amount.milli % size:
            problems.refuse(amount.place, f"{amount.text} of {name} is no whole number of pages", "scheduler:A-732")
    if not any("cpu" in amounts or "memory" in amounts for amounts in listed):
        problems.refuse(pages[0][1].place, "a pod with huge pages must request cpu or memory too", "scheduler:A-732")


def _check_name(name: str, amount: Amount, problems: Problems) -> None:
    if is_extended(name):
        fault = qualified_name_fault(name)
        if fault:
            problems.refuse(amount.place, f'the resource name "{name}" {fault}', "scheduler:A-1541", "key")
        elif amount.milli % 1000:
            problems.refuse(amount.place, f"{name} must be a whole number, this is {amount.text}", "scheduler:A-731")
    elif is_hugepages(name) or "/" in name:
        return
    elif name == "pods" or not qualified_name_fault(name):
        hint = "; extended resources have a domain, such as nvidia.com/gpu" if "gpu" in name.lower() else ""
        known = "cpu, memory, ephemeral-storage, hugepages-<size> or <domain>/<name>"
        problems.refuse(
            amount.place, f'"{name}" is no resource of a container; it takes {known}{hint}', "scheduler:A-1541", "key"
        )
