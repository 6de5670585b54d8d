from __future__ import annotations

from typing import get_args

import pytest

from unpend.engine.needs import Needs, effective_world
from unpend.model.reading import read_objects
from unpend.rule import Need
from unpend.settings import Settings, World
from unpend.source.document import objects_of

_META = {"metadata": {"name": "x"}}
_EXAMPLES = {
    "workloads": {"apiVersion": "v1", "kind": "Pod", **_META, "spec": {"containers": [{"name": "a", "image": "a"}]}},
    "nodes": {"apiVersion": "v1", "kind": "Node", **_META},
    "pools": {"apiVersion": "v1", "kind": "Node", **_META},
    "nodepools": {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", **_META, "spec": {}},
    "karpenter": {"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", **_META, "spec": {}},
    "nodegroups": {"apiVersion": "unpend.dev/v1", "kind": "NodeGroup", **_META, "spec": {}},
    "daemonsets": {"apiVersion": "apps/v1", "kind": "DaemonSet", **_META, "spec": {"template": {"spec": {}}}},
    "pdbs": {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", **_META, "spec": {}},
    "autoscalers": {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        **_META,
        "spec": {"maxReplicas": 2, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"}},
    },
    "classes": {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", **_META, "handler": "runsc"},
    "storage": {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", **_META, "provisioner": "p"},
}


@pytest.mark.parametrize("need", get_args(Need))
def test_each_need_is_met_by_its_object_or_world_alone(need: Need) -> None:
    empty = read_objects((), Settings())
    missing = Needs(empty, Settings()).missing((need,))
    assert missing
    closed = need.startswith("closed-")
    settings = Settings(world=World.all_closed()) if closed else Settings()
    objects = () if closed else objects_of([_EXAMPLES[need]])
    assert Needs(read_objects(objects, settings), settings).missing((need,)) is None


def test_open_nodes_or_unread_capacity_open_the_pools() -> None:
    closed = Settings(world=World.all_closed())
    assert effective_world(read_objects((), closed), closed).pools == "closed"
    assert effective_world(read_objects((), closed), Settings(world=World(pools="closed"))).pools == "open"
    unread = objects_of([{"apiVersion": "cloud.example.com/v1", "kind": "NodePool", **_META, "spec": {}}])
    inventory = read_objects(unread, closed)
    assert (effective_world(inventory, closed).pools == "open") == bool(inventory.unread_capacity)
