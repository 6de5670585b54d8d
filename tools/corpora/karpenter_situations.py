"""Pending pods against NodePools: what Karpenter's own tests state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import unpend
from corpora.agreement import Corpus, Grade, Judged, lines, with_kind, worst
from karpenter_cases import catalogs
from unpend.catalog.catalog import Catalog
from unpend.catalog.own import own_catalog
from unpend.placement.verdict import WorkloadVerdict
from unpend.settings import KarpenterSettings, Settings

FILES = ("scheduling", "provisioning", "instance_selection", "topology")

_JOINING = (
    "says that not all pods can run. Karpenter launches no node for the last of them, but kube-scheduler counts only "
    "the domains of nodes that are there, and five of the pods fit on each node that is launched. "
    "https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/ (known limitations), "
    "kubernetes-sigs/karpenter pkg/controllers/provisioning/scheduling/topology_test.go"
)
LEFT_OUT: dict[str, str] = {"karp-topology-036": _JOINING, "karp-topology-043": _JOINING}
"""Cases that are not asked, with the reason and the public source."""


def cases(in_scope: bool | None = None) -> Iterable[dict[str, Any]]:
    """The gradable cases: those that are to be right (`in_scope`), the others, or all."""
    for name in FILES:
        for case in lines(f"karpenter/{name}.jsonl"):
            asked = case["static"] != "no" and case["id"] not in LEFT_OUT
            if asked and in_scope in (None, is_in_scope(case)):
                yield case


def is_in_scope(case: Mapping[str, Any]) -> bool:
    """Whether a case follows from pools, types and pods alone."""
    return bool(case["static"] == "yes")


def settings_of(case: Mapping[str, Any]) -> Settings:
    """The settings of a case."""
    options = case.get("options", {})
    karpenter = KarpenterSettings(
        preference_policy=options.get("preferencePolicy", "Respect"),
        min_values_policy=options.get("minValuesPolicy", "Strict"),
        ignore_dra_requests=options.get("ignoreDRARequests", True),
        feature_gates={"ReservedCapacity": True},
        options=options,
    )
    known = tuple(_catalog(data) for data in catalogs(case))
    return Settings(catalogs=known, karpenter=karpenter, admission="none")


_CATALOGS: dict[str, Catalog] = {}


def _catalog(data: Mapping[str, Any]) -> Catalog:
    """A catalogue; the large sets that many cases share are read once."""
    if data["name"] == "inline":
        return own_catalog(data)
    key = f"{data['name']} {data['provides']} {data.get('nodePools')}"
    if key not in _CATALOGS:
        _CATALOGS[key] = own_catalog(data)
    return _CATALOGS[key]


def objects_of(case: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The objects of a case; equal pods as a ReplicaSet."""
    objects = [dict(one) for name in ("nodePools", "daemonSets", "nodes", "boundPods", "volumes") for one in case[name]]
    objects += case.get("extraObjects", ())
    objects += [_workload(pod) for pod in case["pods"]]
    classes: dict[tuple[str, str, str], None] = {}
    for pool in case["nodePools"]:
        reference = pool.get("spec", {}).get("template", {}).get("spec", {}).get("nodeClassRef")
        if reference:
            classes[reference["group"], reference["kind"], reference["name"]] = None
    for group, kind, name in classes:
        objects.append(with_kind(kind, {"metadata": {"name": name}}, f"{group}/v1alpha1"))
    return objects


def _workload(pod: Mapping[str, Any]) -> dict[str, Any]:
    count = pod.get("replicas", 1)
    plain = {key: value for key, value in pod.items() if key != "replicas"}
    if count == 1:
        return plain
    metadata = pod["metadata"]
    labels = metadata.get("labels") or {"unpend-case": metadata["name"]}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": metadata["name"], "namespace": metadata.get("namespace", "default")},
        "spec": {
            "replicas": count,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {**metadata, "labels": labels}, "spec": pod["spec"]},
        },
    }


_ANSWERS: dict[str, list[WorkloadVerdict | None]] = {}


def answers(case: Mapping[str, Any]) -> list[WorkloadVerdict | None]:
    """The answer for every entry of `pods`."""
    if case["id"] not in _ANSWERS:
        _ANSWERS[case["id"]] = _answers(case)
    return _ANSWERS[case["id"]]


def _answers(case: Mapping[str, Any]) -> list[WorkloadVerdict | None]:
    found = {a.workload.partition("/")[2]: a for a in unpend.evaluate(objects_of(case), settings=settings_of(case))}
    return [
        found.get(f"{pod['metadata'].get('namespace', 'default')}/{pod['metadata']['name']}") for pod in case["pods"]
    ]


def grade_never(never: bool, answer: WorkloadVerdict | None) -> Grade:
    """The grade of one answer against `never`, which is told of a world without other pods."""
    if answer is None:
        return "missed"
    if never:
        if answer.verdict in ("never", "loop") or answer.cause == "existing-node":
            return "right"
        return "imprecise" if answer.verdict == "conditional" else "missed"
    return "wrong alarm" if answer.verdict in ("never", "loop") else "right"


def grade_all(case: Mapping[str, Any], found: Sequence[WorkloadVerdict | None]) -> Grade:
    """The grade of the answers together, where a case says whether all of its pods can run at once."""
    partial = any(a is not None and a.verdict == "partial" for a in found)
    if case.get("neverAll") and case["never"] is False:
        return "right" if partial or any(a is not None and a.contention for a in found) else "imprecise"
    return "wrong alarm" if partial and case.get("neverAll") is False else "right"


def differences(case: Mapping[str, Any], found: Sequence[WorkloadVerdict | None]) -> Iterable[str]:
    """Where the pool, the zones or the instance types that Karpenter chooses from are not those of the answer."""
    expect = case["expect"]
    for number, answer in enumerate(found):
        if answer is None or answer.verdict != "fits" or answer.witness is None or answer.witness.node is not None:
            continue
        pool = _of_pod(expect.get("nodePool"), number)
        if pool is not None and answer.witness.pool != f"NodePool/{pool}":
            yield f"pool {pool} expected, {answer.witness.pool} answered"
        if expect.get("zones") and not set(answer.zones) <= set(expect["zones"]):
            yield f"zones {expect['zones']} expected, {answer.zones} answered"
        options = expect.get("instanceTypeOptions")
        types = next((p.types for p in answer.pools if p.pool == answer.witness.pool), None)
        if options is not None and len(options) != types:
            yield f"{len(options)} instance types expected, {types} answered"


def _of_pod(value: Any, number: int) -> Any:
    return value[number] if isinstance(value, list) else value


def judge_case(case: Mapping[str, Any]) -> Judged:
    """The worst grade of the pods of a case, by `never` of each."""
    found = answers(case)
    wanted = case.get("neverPerPod") or [case["never"]] * len(case["pods"])
    grades: list[Grade] = [grade_all(case, found)]
    details = [] if grades == ["right"] else [f"all at once never: {case['neverAll']}, answered otherwise"]
    for pod, never, answer in zip(case["pods"], wanted, found, strict=True):
        if never is None:
            continue
        one = grade_never(never, answer)
        grades.append(one)
        if one != "right" and answer is not None:
            details.append(f"{pod['metadata']['name']}: never is {never}, answered {answer.verdict} ({answer.cause})")
    return Judged(case["id"], worst(grades), "; ".join(details))


def judge() -> Iterable[Judged]:
    """All cases that follow from pools, types and pods alone."""
    for case in cases(in_scope=True):
        yield judge_case(case)


CORPUS = Corpus(
    "karpenter/situations", "Karpenter's own test suite: pods against NodePools and instance types", judge, LEFT_OUT
)
