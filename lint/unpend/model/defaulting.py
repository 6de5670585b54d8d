"""What API defaulting does to every pod (`kube-scheduler.md` §2.1), whether or not admission plug-ins run."""

from __future__ import annotations

from unpend.algebra.quantity import render
from unpend.model.pod import Amount, Container, ContainerPort, PodSpec, Resources, changed
from unpend.model.requests import aggregate, pod_level
from unpend.records import replace


def defaulted(spec: PodSpec) -> PodSpec:
    """Requests from limits (A-201), host ports under hostNetwork (A-205), pod-level requests (A-207)."""
    containers = _containers(spec.containers, spec.host_network)
    init = _containers(spec.init_containers, spec.host_network)
    if containers is not spec.containers or init is not spec.init_containers:
        spec = changed(spec, containers=containers, init_containers=init)
    if spec.pod_limits:
        requests = _pod_requests(spec)
        if requests is not spec.pod_requests:
            spec = changed(spec, pod_requests=requests)
    return spec


def _containers(containers: tuple[Container, ...], host_network: bool) -> tuple[Container, ...]:
    result = None
    for index, container in enumerate(containers):
        limits, requests = container.limits, container.requests
        missing = limits and (not requests or limits.keys() - requests.keys())
        ports = container.ports
        if host_network and ports:
            ports = tuple(_host_port(port) for port in ports)
        if not missing and ports is container.ports:
            continue
        if result is None:
            result = list(containers)
        if missing:
            requests = {**limits, **requests}
        result[index] = Container(
            container.name, container.role, container.image, requests, limits, ports, container.place
        )
    return containers if result is None else tuple(result)


def _host_port(port: ContainerPort) -> ContainerPort:
    return port if port.host_port else replace(port, host_port=port.container_port)


def _pod_requests(spec: PodSpec) -> Resources:
    missing = [name for name in spec.pod_limits if name not in spec.pod_requests and pod_level(name)]
    if not missing:
        return spec.pod_requests
    totals, places = aggregate(spec)
    requests = dict(spec.pod_requests)
    for name in missing:
        limit = spec.pod_limits[name]
        if name in totals and name in {"cpu", "memory"}:
            requests[name] = Amount(totals[name], render(totals[name], name), places[name][0])
        else:
            requests[name] = limit
    return requests
