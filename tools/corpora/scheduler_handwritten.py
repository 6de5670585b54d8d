"""Hand-written situations, answered by the filter plugins of kube-scheduler v1.34; mode `filter`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import unpend
from corpora.agreement import Corpus, Judged, lines, with_kind
from corpora.scheduler_filter import judged
from unpend.settings import Settings

LEFT_OUT = {
    "ResourceSlices": "dynamic resource allocation is reported as not looked at",
    "nodename": "a Pod with nodeName counts as bound to its node: the scheduler never sees it (A-303)",
}
"""Kinds of cases, and single ones by id, that are not asked."""

_KINDS = {
    "nodes": ("Node", "v1"),
    "pods": ("Pod", "v1"),
    "namespaces": ("Namespace", "v1"),
    "services": ("Service", "v1"),
    "pvcs": ("PersistentVolumeClaim", "v1"),
    "pvs": ("PersistentVolume", "v1"),
    "storageclasses": ("StorageClass", "storage.k8s.io/v1"),
    "csinodes": ("CSINode", "storage.k8s.io/v1"),
    "csidrivers": ("CSIDriver", "storage.k8s.io/v1"),
    "csistoragecapacities": ("CSIStorageCapacity", "storage.k8s.io/v1"),
}
_VOLUMES = ("pvcs", "pvs", "storageclasses", "csinodes", "csidrivers", "csistoragecapacities")


def judge() -> Iterable[Judged]:
    """Compare the set of accepting nodes of every pending pod."""
    for case in lines("scheduler/handwritten.jsonl.gz"):
        if case["mode"] == "filter" and not (features(case) | {case["id"]}) & LEFT_OUT.keys():
            yield from _judge(case)


def features(case: Mapping[str, Any]) -> set[str]:
    """What has to be understood for a case beyond nodes and pods."""
    found = {"bound pods"} if case["pods"] else set()
    if any(case.get(name) for name in _VOLUMES):
        found.add("volumes")
    if any(case.get(name) for name in ("resourceslices", "resourceclaims", "deviceclasses")):
        found.add("ResourceSlices")
    for pod in (*case["pods"], *case["pending"]):
        spec = pod["spec"]
        affinity = spec.get("affinity") or {}
        if spec.get("volumes"):
            found.add("volumes")
        if spec.get("topologySpreadConstraints"):
            found.add("spread constraints")
        if affinity.get("podAffinity") or affinity.get("podAntiAffinity"):
            found.add("pod affinity")
    return found


def _judge(case: Mapping[str, Any]) -> Iterable[Judged]:
    options = case.get("options") or {}
    settings = Settings(admission="all" if options.get("defaultTolerationSeconds") else "none")
    around = [
        with_kind(kind, data, api_version)
        for field, (kind, api_version) in _KINDS.items()
        for data in case.get(field) or ()
    ]
    # Each pending pod was asked by itself.
    for data, result in zip(case["pending"], case["results"], strict=True):
        answers = unpend.evaluate([*around, with_kind("Pod", data)], settings=settings)
        if answers:
            yield judged(case["id"], result["feasible"], answers[-1])
        else:
            yield Judged(case["id"], "missed", "no answer for this pod")


CORPUS = Corpus("scheduler/handwritten", "kube-scheduler v1.34: the nodes that accept a pod", judge, LEFT_OUT)
