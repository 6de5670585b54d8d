"""The table of readers, and the kinds that are not pods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from importlib import import_module

import pytest

from unpend.model.builder import BY_NAME
from unpend.model.inventory import Inventory
from unpend.model.reading import READERS, read_objects
from unpend.settings import Settings
from unpend.source.document import objects_of
from unpend.source.reading import read_text

Read = Callable[..., Inventory]


def test_every_row_of_the_table_leads_to_a_reader() -> None:
    for path in READERS.values():
        module, _, function = path.rpartition(".")
        assert callable(getattr(import_module(f"unpend.model.{module}"), function)), path


def test_mappings_by_name_are_fields_of_the_inventory() -> None:
    assert BY_NAME.issubset({field.name for field in fields(Inventory)})


def test_a_node(read: Read) -> None:
    inventory = read(
        """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {disk: ssd}}
spec: {unschedulable: true, taints: [{key: gpu, effect: NoSchedule}, {key: gpu, effect: noSchedule}]}
status: {capacity: {cpu: 4, pods: "110"}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {capacity: {cpu: 4}, allocatable: {}}}
"""
    )
    first, second = inventory.nodes
    assert (first.name, first.unschedulable, first.labels["disk"].value) == ("n1", True, "ssd")
    assert first.allocatable["cpu"].milli == 4000
    assert str(first.allocatable["cpu"].place) == "status.capacity.cpu"
    assert second.allocatable == {}
    (problem,) = inventory.problems
    assert (problem.semantics, str(problem.place)) == ("scheduler:A-1535", "spec.taints[1].effect")


def test_a_node_without_any_capacity_is_not_known() -> None:
    text = "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {a: b}}, spec: {}}"
    inventory = read_objects(read_text(text, "n.yaml").objects, Settings())
    assert inventory.nodes == ()
    assert [(other.kind, other.name) for other in inventory.unread_capacity] == [("Node", "n1")]
    (problem,) = inventory.problems
    assert (problem.severity, problem.refused) == ("info", False)
    (stored,) = read_objects(
        objects_of([{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}]), Settings()
    ).nodes
    assert stored.allocatable == {}


def test_a_namespace_gets_its_automatic_label(read: Read) -> None:
    (namespace,) = read("{apiVersion: v1, kind: Namespace, metadata: {name: a, labels: {t: x}}}").namespaces.values()
    assert namespace.labels == {"t": "x", "kubernetes.io/metadata.name": "a"}


def test_autoscalers(read: Read) -> None:
    hpa, scaled, bare = read(
        """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: h, namespace: a}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 2, maxReplicas: 10}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: k, namespace: a}
spec: {scaleTargetRef: {name: web}, maxReplicaCount: 7}
---
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {name: b, namespace: a}
spec: {scaleTargetRef: {kind: StatefulSet, name: db}, maxReplicas: 3}
"""
    ).autoscalers
    assert (hpa.target_kind, hpa.target_name, hpa.minimum, hpa.maximum) == ("Deployment", "web", 2, 10)
    assert (scaled.target_kind, scaled.lower_bound, scaled.maximum) == ("Deployment", 0, 7)
    assert (bare.target_kind, bare.lower_bound) == ("StatefulSet", 1)


def test_disruption_budgets(read: Read) -> None:
    text = "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: p, namespace: a}, spec: %s}"
    (budget,) = read(text % "{minAvailable: 50%, selector: {}}").disruption_budgets
    assert budget.min_available is not None
    assert budget.min_available.percent == 50
    assert budget.selector is not None
    assert budget.selector.expressions == ()
    (old,) = read((text % "{minAvailable: 1, selector: {}}").replace("policy/v1", "policy/v1beta1")).disruption_budgets
    assert old.selector is None
    (problem,) = read(text % "{minAvailable: 1, maxUnavailable: 1}").problems
    assert problem.semantics == "scheduler:A-1563"


def test_storage(read: Read) -> None:
    inventory = read(
        """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: gp3, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [a, b]}]}]
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv}
spec:
  capacity: {storage: 5Gi}
  accessModes: [ReadWriteOnce]
  claimRef: {namespace: a, name: c}
  local: {path: /d}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c, namespace: a, annotations: {volume.beta.kubernetes.io/storage-class: old}}
spec: {volumeName: pv, resources: {requests: {storage: 5Gi}}}
status: {phase: Bound}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: d, namespace: a}
spec: {storageClassName: ""}
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: n1}
spec: {drivers: [{name: ebs.csi.aws.com, allocatable: {count: 25}}, {name: other}]}
"""
    )
    storage_class = inventory.storage_classes["gp3"]
    assert (storage_class.binding_mode, storage_class.is_default) == ("WaitForFirstConsumer", True)
    assert storage_class.topologies[0].expressions[0].values == ("a", "b")
    (volume,) = inventory.volumes
    assert (volume.kind, volume.claim_name, volume.terms) == ("local", "c", None)
    claim, without = inventory.claims
    assert (claim.storage_class, claim.volume_name, claim.phase) == ("old", "pv", "Bound")
    assert without.storage_class == ""
    assert inventory.csi_nodes[0].limits == {"ebs.csi.aws.com": 25, "other": None}
    assert [p.semantics for p in inventory.problems] == ["scheduler:A-1562"]


@pytest.mark.parametrize(
    ("item", "semantics"),
    [
        ("{type: Container, min: {cpu: 2}, max: {cpu: 1}}", "scheduler:A-1564"),
        ("{type: Container, default: {cpu: 1}, defaultRequest: {cpu: 2}}", "scheduler:A-1564"),
        ("{type: Pod, default: {cpu: 1}}", "scheduler:A-1564"),
        ("{type: container}", "scheduler:A-1564"),
        ("{type: Container, maxLimitRequestRatio: {cpu: 0.5}}", "scheduler:A-1564"),
    ],
)
def test_illegal_limit_ranges(read: Read, item: str, semantics: str) -> None:
    text = f"{{apiVersion: v1, kind: LimitRange, metadata: {{name: l}}, spec: {{limits: [{item}]}}}}"
    assert {p.semantics for p in read(text).problems} == {semantics}


def test_everything_else_is_kept_with_its_scope(read: Read) -> None:
    inventory = read(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: a}}",
        "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}}",
        "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Secret, metadata: {name: s}}]}",
    )
    assert [(o.kind, o.namespace, o.name) for o in inventory.others] == [
        ("ConfigMap", "a", "c"),
        ("ClusterRole", "", "r"),
        ("Secret", "", "s"),
    ]
    assert inventory.object_count == 3
