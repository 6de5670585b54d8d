"""Inputs that invite quadratic work: many workloads that fail, compete, look at each other or share a name."""

from __future__ import annotations

from collections.abc import Callable, Iterable

_ANTI = (
    "      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
    "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: %s}}}]}}\n"
)
_SPREAD = (
    "      topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, "
    "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: %s}}}]\n"
)
_TAINT = "spec: {taints: [{key: dedicated, value: batch, effect: NoSchedule}]}\n"


def _workload(name: str, cpu: str = "1", extra: str = "") -> str:
    return (
        f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: shop}}\nspec:\n  replicas: 2\n"
        f"  selector: {{matchLabels: {{app: {name}}}}}\n  template:\n    metadata: {{labels: {{app: {name}}}}}\n"
        f"    spec:\n{extra}      containers:\n"
        f"      - {{name: app, image: app, resources: {{requests: {{cpu: '{cpu}', memory: 64Mi}}}}}}\n"
    )


def _node(number: int, cpu: str = "16", extra: str = "") -> str:
    return (
        f"apiVersion: v1\nkind: Node\nmetadata: {{name: n{number}, labels: {{kubernetes.io/hostname: n{number}, "
        f"pool: general}}}}\n{extra}status: {{allocatable: {{cpu: '{cpu}', memory: 64Gi, pods: '500'}}}}\n"
    )


def _workloads(count: int, cpu: str = "1", extra: str = "") -> Iterable[str]:
    return (_workload(f"w{i}", cpu, extra % f"w{i}" if "%" in extra else extra) for i in range(count))


def _nodes(count: int, cpu: str = "16", extra: str = "") -> Iterable[str]:
    return (_node(i, cpu, extra) for i in range(count))


CASES: dict[str, Callable[[int], tuple[Iterable[str], Iterable[str]]]] = {
    "all fail, taint": lambda n: (_workloads(n), _nodes(12, extra=_TAINT)),
    "all fail, each too large": lambda n: ((_workload(f"w{i}", f"{17_000 + i}m") for i in range(n)), _nodes(12)),
    "all fail, as many Nodes": lambda n: (_workloads(n, extra="      nodeSelector: {pool: none}\n"), _nodes(n)),
    "all compete for one Node": lambda n: (_workloads(n), _nodes(1)),
    "all of one name": lambda n: ((_workload("same") for _ in range(n)), _nodes(12)),
    "each spreads": lambda n: (_workloads(n, "1m", _SPREAD), _nodes(12, "500")),
    "each keeps apart": lambda n: (_workloads(n, "1m", _ANTI), _nodes(12, "500")),
    "all keep apart from one": lambda n: (_workloads(n, "1m", _ANTI % "w0"), _nodes(12, "500")),
}


def texts(case: str, count: int) -> tuple[str, str]:
    """The workloads and the Nodes of a case."""
    workloads, nodes = CASES[case](count)
    return "---\n".join(workloads), "---\n".join(nodes)
