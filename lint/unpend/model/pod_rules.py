"""What the API server checks of a pod as a whole: names, ports, mounts, huge pages, pod-level resources."""

from __future__ import annotations

from typing import Any

from unpend.model.containers import check_huge_pages
from unpend.model.defaulting import defaulted
from unpend.model.fields import entries, under
from unpend.model.pod import Container, PodSpec
from unpend.model.problems import Problems
from unpend.model.requests import aggregate
from unpend.source.place import Place


def check_pod(spec: PodSpec, problems: Problems) -> None:
    """What the API server checks of a pod as a whole."""
    if not spec.containers:
        problems.refuse(under(spec.place, "containers"), "a pod needs at least one container", "scheduler:A-1503")
    seen: set[str] = set()
    for container in (*spec.containers, *spec.init_containers):
        if container.name in seen and container.name:
            problems.refuse(
                under(container.place, "name"),
                f'a second container named "{container.name}" in this pod',
                "scheduler:A-1503",
            )
        seen.add(container.name)
        if spec.host_network and container.ports:
            _check_host_network(container, problems)
    _check_port_clashes(spec, problems)
    check_huge_pages(spec, problems)
    if spec.pod_requests or spec.pod_limits:
        _check_pod_level(spec, problems)
    if spec.overhead and not spec.runtime_class:
        problems.refuse(
            under(spec.place, "overhead"), "`overhead` comes from a RuntimeClass, and none is named", "scheduler:A-1549"
        )
    if spec.active_deadline_seconds is not None and spec.active_deadline_seconds < 1:
        problems.refuse(
            under(spec.place, "activeDeadlineSeconds"), "`activeDeadlineSeconds` must be at least 1", "scheduler:A-1550"
        )


def _check_host_network(container: Container, problems: Problems) -> None:
    for port in container.ports:
        if port.host_port and port.host_port != port.container_port:
            problems.refuse(
                under(port.place, "hostPort"),
                f"with hostNetwork, hostPort ({port.host_port}) must equal containerPort ({port.container_port})",
                "scheduler:A-205",
            )


def _check_port_clashes(spec: PodSpec, problems: Problems) -> None:
    taken: dict[tuple[str, str, int], Place] = {}
    for container in spec.containers:
        for port in container.ports:
            number = port.host_port or (port.container_port if spec.host_network else 0)
            if not number:
                continue
            key = (port.host_ip, port.protocol, number)
            if key in taken:
                problems.refuse(
                    port.place, f"host port {number}/{port.protocol} is taken twice in this pod", "scheduler:A-606"
                )
            taken.setdefault(key, port.place)


def _check_pod_level(spec: PodSpec, problems: Problems) -> None:
    """Pod-level requests cover the containers, and no container may use more than the pod (A-735)."""
    totals, _ = aggregate(defaulted(spec))
    for name, amount in spec.pod_requests.items():
        if totals.get(name, 0) > amount.milli:
            problems.refuse(
                amount.place,
                f"the pod requests {amount.text} of {name}, less than its containers together",
                "scheduler:A-735",
            )
    for name, amount in spec.pod_limits.items():
        for container in (*spec.containers, *spec.init_containers):
            limit = container.limits.get(name)
            if limit is not None and limit.milli > amount.milli:
                problems.refuse(
                    limit.place,
                    f"the {name} limit {limit.text} is above the pod's limit {amount.text}",
                    "scheduler:A-735",
                )


def check_mounts(spec: PodSpec, raw: dict[str, Any], claims: tuple[str, ...], problems: Problems) -> None:
    """Every mount names a volume of the pod, or a claim template of its StatefulSet (A-1546)."""
    known = {volume.name for volume in spec.volumes}
    known.update(claims)
    for key in ("containers", "initContainers"):
        for container, here in entries(raw, key, spec.place, _MUTED):
            if not container.get("volumeMounts"):
                continue
            for mount, where in entries(container, "volumeMounts", here, problems):
                name = mount.get("name")
                if isinstance(name, str) and name not in known:
                    problems.refuse(under(where, "name"), f'the pod has no volume named "{name}"', "scheduler:A-1546")


_MUTED = Problems(muted=True)
