"""Volumes against Nodes: a naive oracle over random claims, and what depends on worlds, admission and ordinals."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unpend
from unpend.placement.verdict import WorkloadVerdict
from unpend.settings import Settings

Json = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"
GI = 2**30


def node(name: str, zone: str) -> Json:
    labels = {"kubernetes.io/hostname": name, ZONE: zone}
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "20"}
    metadata = {"name": name, "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"allocatable": allocatable}}


def storage_class(name: str, mode: str, provisioner: str = "x.io/p", zones: list[str] | None = None) -> Json:
    data: Json = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}}
    data |= {"provisioner": provisioner, "volumeBindingMode": mode}
    if zones is not None:
        data["allowedTopologies"] = [{"matchLabelExpressions": [{"key": ZONE, "values": [zone]}]} for zone in zones]
    return data


def claim(
    name: str, storage: str | None = "late", volume: str = "", size: int = 1, mode: str = "ReadWriteOnce"
) -> Json:
    spec: Json = {"accessModes": [mode], "resources": {"requests": {"storage": f"{size}Gi"}}}
    if storage is not None:
        spec["storageClassName"] = storage
    if volume:
        spec["volumeName"] = volume
    metadata = {"name": name, "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def volume(name: str, zones: list[str] | None, storage: str = "late", size: int = 1) -> Json:
    spec: Json = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": f"{size}Gi"}, "storageClassName": storage}
    spec["csi"] = {"driver": "x.io/p", "volumeHandle": name}
    if zones is not None:
        terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]} for zone in zones]
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}


def deployment(claims: list[str], replicas: int = 1) -> Json:
    volumes = [{"name": f"v{n}", "persistentVolumeClaim": {"claimName": name}} for n, name in enumerate(claims)]
    return _workload("Deployment", {"volumes": volumes}, {"replicas": replicas})


def stateful_set(storage: str | None, replicas: int, **more: Any) -> Json:
    template = claim("data", storage)
    templates = [{"metadata": {"name": "data"}, "spec": template["spec"]}]
    return _workload("StatefulSet", {}, {"replicas": replicas, "volumeClaimTemplates": templates, **more})


def _workload(kind: str, pod: Json, spec: Json) -> Json:
    template = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "c", "image": "i"}], **pod}}
    body = {"selector": {"matchLabels": {"app": "db"}}, "template": template, **spec}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "db", "namespace": "shop"}, "spec": body}


def answer(*objects: Json, **changes: Any) -> WorkloadVerdict:
    (found,) = unpend.evaluate(list(objects), settings=Settings(**changes))
    return found


def accepting(found: WorkloadVerdict) -> set[str]:
    return {pool.pool.removeprefix("Node/") for pool in found.pools if pool.verdict == "fits"}


NODES = [node("n1", "a"), node("n2", "b"), node("n3", "c")]
some_zones = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True)


@settings(max_examples=60, deadline=None)
@given(
    bound=st.lists(st.none() | some_zones, max_size=2),
    classes=st.lists(st.none() | some_zones, max_size=1),
    static=st.lists(st.tuples(some_zones, st.integers(1, 3)), max_size=3),
    sizes=st.lists(st.integers(1, 3), max_size=2),
)
def test_nodes_that_reach_every_volume(
    bound: list[list[str] | None],
    classes: list[list[str] | None],
    static: list[tuple[list[str], int]],
    sizes: list[int],
) -> None:
    objects = [*NODES, storage_class("local", "WaitForFirstConsumer", "kubernetes.io/no-provisioner")]
    names: list[str] = []
    for n, zones in enumerate(bound):
        objects += [volume(f"b{n}", zones), claim(f"b{n}", volume=f"b{n}")]
        names.append(f"b{n}")
    for n, zones in enumerate(classes):
        objects += [storage_class(f"c{n}", "WaitForFirstConsumer", zones=zones), claim(f"c{n}", f"c{n}")]
        names.append(f"c{n}")
    objects += [volume(f"s{n}", zones, "local", size) for n, (zones, size) in enumerate(static)]
    for n, size in enumerate(sizes):
        objects.append(claim(f"l{n}", "local", size=size))
        names.append(f"l{n}")
    expected = {
        name
        for name, zone in (("n1", "a"), ("n2", "b"), ("n3", "c"))
        if all(zones is None or zone in zones for zones in (*bound, *classes)) and _greedy(zone, static, sizes)
    }
    found = answer(*objects, deployment(names))
    assert accepting(found) == expected
    assert (found.verdict == "never") is not bool(expected)
    if not expected:
        assert found.cause == "volume"
        assert found.conflict
        assert all(o.constraint == "volume" and o.place is not None for o in found.conflict)


def _greedy(zone: str, static: list[tuple[list[str], int]], sizes: list[int]) -> bool:
    """Smallest claim first, each with the smallest volume that is left."""
    left = sorted(size for zones, size in static if zone in zones)
    for size in sorted(sizes):
        fitting = [have for have in left if have >= size]
        if not fitting:
            return False
        left.remove(fitting[0])
    return True


def test_an_immediate_class_is_fine_where_every_zone_takes_the_pod() -> None:
    fast = storage_class("fast", "Immediate")
    assert answer(*NODES, fast, stateful_set("fast", 1)).verdict == "fits"
    pinned = stateful_set("fast", 1)
    pinned["spec"]["template"]["spec"]["nodeSelector"] = {ZONE: "a"}
    found = answer(*NODES, fast, pinned)
    assert (found.verdict, [fact.name for fact in found.facts]) == ("conditional", ["volume-zone"])
    assert answer(*NODES, storage_class("fast", "Immediate", zones=["a"]), pinned).verdict == "fits"
    assert answer(*NODES, storage_class("fast", "Immediate", "efs.csi.aws.com"), pinned).verdict == "fits"


def test_a_claim_as_it_stands_and_one_that_is_still_made() -> None:
    objects = (*NODES, storage_class("fast", "Immediate"), claim("data", "fast"), deployment(["data"]))
    assert answer(*objects).verdict == "fits"
    stored = answer(*objects, admission="none")
    assert (stored.verdict, stored.conflict[0].semantics) == ("never", "scheduler:S-1005")


@pytest.mark.parametrize(("storage", "fact"), [(None, "default-storage-class")])
def test_the_default_class_is_a_fact(storage: str | None, fact: str) -> None:
    found = answer(*NODES, stateful_set(storage, 1))
    assert (found.verdict, [f.name for f in found.facts]) == ("conditional", [fact])
    default = storage_class("usual", "WaitForFirstConsumer")
    default["metadata"]["annotations"] = {"storageclass.kubernetes.io/is-default-class": "true"}
    assert answer(*NODES, default, stateful_set(storage, 1)).verdict == "fits"


def test_in_an_open_world_of_claims_nothing_is_refused_for_certain() -> None:
    from unpend.model.reading import read_objects
    from unpend.placement.evaluate import evaluate_inventory
    from unpend.settings import World
    from unpend.source.document import objects_of

    world = World(pools="closed", nodes="closed", daemonsets="closed")
    for objects in (
        (claim("data", "nobody"), deployment(["data"])),
        (deployment(["nowhere"]),),
        (claim("data", volume="gone"), deployment(["data"])),
        (storage_class("far", "WaitForFirstConsumer", zones=["z"]), claim("data", "far"), deployment(["data"])),
    ):
        given = Settings(world=world)
        inventory = read_objects(objects_of([*NODES, *objects]), given)
        (found,) = evaluate_inventory(inventory, given)
        assert (found.verdict, found.cause, len(found.facts)) == ("conditional", "unknown-fact", 1)


def test_ordinals_in_order_and_in_parallel() -> None:
    objects = [*NODES, storage_class("late", "WaitForFirstConsumer")]
    for ordinal, zone in enumerate(("a", "z", "b")):
        objects += [volume(f"vol{ordinal}", [zone]), claim(f"data-db-{ordinal}", volume=f"vol{ordinal}")]
    ordered = answer(*objects, stateful_set("late", 4))
    assert (ordered.verdict, ordered.cause, ordered.replicas.at_most) == ("partial", "volume", 1)
    parallel = answer(*objects, stateful_set("late", 4, podManagementPolicy="Parallel"))
    assert (parallel.verdict, parallel.cause, parallel.replicas.at_most) == ("partial", "volume", 3)
    later = answer(*objects, stateful_set("late", 3, ordinals={"start": 2}))
    assert later.verdict == "fits"


def test_repairs_leave_data_where_it_is() -> None:
    pinned = deployment(["data"])
    pinned["spec"]["template"]["spec"]["nodeSelector"] = {ZONE: "a"}
    found = answer(*NODES, volume("vol", ["b"]), claim("data", volume="vol"), pinned)
    assert found.nearest is not None
    assert [c.message for c in found.nearest.changes] == [f"change nodeSelector {ZONE} from 'a' to 'b'"]
    moved = answer(*NODES, volume("vol", ["z"]), claim("data", volume="vol"), deployment(["data"]))
    assert moved.nearest is not None
    assert moved.nearest.changes[0].message.startswith("restore the data of PersistentVolumeClaim/shop/data")
    narrow = storage_class("far", "WaitForFirstConsumer", zones=["z"])
    other = answer(*NODES, narrow, claim("data", "far"), deployment(["data"]))
    assert other.nearest is not None
    assert other.nearest.changes[0].message.startswith(f"use a StorageClass that makes volumes where {ZONE}=a")


def test_a_daemonset_with_a_volume_that_few_nodes_reach() -> None:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    agent = _workload("DaemonSet", {"volumes": volumes}, {})
    found = answer(*NODES, volume("vol", ["b"]), claim("data", volume="vol"), agent)
    assert (found.verdict, found.cause, found.replicas.at_most) == ("conditional", "volume", 1)
    lost = answer(*NODES, agent)
    assert (lost.verdict, lost.cause) == ("never", "volume")
