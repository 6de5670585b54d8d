"""Pod templates of kinds that nobody told us of."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import yaml

from unpend.model.embedded import find_templates
from unpend.model.inventory import Inventory
from unpend.source.place import render_path

Read = Callable[..., Inventory]
POD = "{spec: {nodeSelector: {gpu: 'true'}, containers: [{name: c, image: c}]}}"


@pytest.mark.parametrize(
    ("api_version", "kind", "spec", "ids", "replicas"),
    [
        ("argoproj.io/v1alpha1", "Rollout", f"{{replicas: 4, template: {POD}}}", ["Rollout/a/x"], [4]),
        ("serving.knative.dev/v1", "Service", f"{{template: {POD}}}", ["Service/a/x"], [None]),
        (
            "apps.openshift.io/v1",
            "DeploymentConfig",
            f"{{replicas: 2, template: {POD}}}",
            ["DeploymentConfig/a/x"],
            [2],
        ),
        (
            "ray.io/v1",
            "RayCluster",
            f"{{headGroupSpec: {{template: {POD}}}, workerGroupSpecs: [{{replicas: 3, template: {POD}}}]}}",
            ["RayCluster/a/x:spec.headGroupSpec.template", "RayCluster/a/x:spec.workerGroupSpecs[0].template"],
            [None, 3],
        ),
        (
            "kubeflow.org/v1",
            "PyTorchJob",
            f"{{pytorchReplicaSpecs: {{Master: {{replicas: 1, template: {POD}}},"
            f" Worker: {{replicas: 8, template: {POD}}}}}}}",
            [
                "PyTorchJob/a/x:spec.pytorchReplicaSpecs.Master.template",
                "PyTorchJob/a/x:spec.pytorchReplicaSpecs.Worker.template",
            ],
            [1, 8],
        ),
        ("keda.sh/v1alpha1", "ScaledJob", f"{{jobTargetRef: {{template: {POD}}}}}", ["ScaledJob/a/x"], [None]),
    ],
)
def test_templates_are_found_with_their_replicas(
    read: Read, api_version: str, kind: str, spec: str, ids: list[str], replicas: list[int | None]
) -> None:
    inventory = read(f"{{apiVersion: {api_version}, kind: {kind}, metadata: {{name: x, namespace: a}}, spec: {spec}}}")
    assert [w.id for w in inventory.workloads] == ids
    assert [w.replicas for w in inventory.workloads] == replicas
    for workload in inventory.workloads:
        (label,) = workload.template.spec.node_selector
        assert label.place.value == "true"
        assert str(workload.template.place) == workload.template_path
    assert inventory.others == ()


@pytest.mark.parametrize(
    "text",
    [
        # A schema of pods is no pod.
        f"{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: x}}, spec: {POD}}}",
        f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: x}}, data: {POD}}}",
        f"{{apiVersion: kyverno.io/v1, kind: ClusterPolicy, metadata: {{name: x}}, spec: {{pattern: {POD}}}}}",
        f"{{apiVersion: a.example/v1, kind: Blue, metadata: {{name: x}}, spec: {{schema: {{properties: {POD}}}}}}}",
        f"{{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {{}}, spec: {{values: {{a: {POD}}}}}}}",
        # Entries without an image at the root patch the containers that an operator makes.
        "{apiVersion: monitoring.coreos.com/v1, kind: Prometheus, metadata: {}, spec: {containers: [{name: c}]}}",
        "{apiVersion: apps.kruise.io/v1, kind: SidecarSet, metadata: {}, spec: {containers: [{name: c, image: c}]}}",
        "{apiVersion: tekton.dev/v1, kind: Task, metadata: {name: x}, spec: {steps: [{name: c, image: c}]}}",
        "{apiVersion: a.example/v1, kind: Thing, metadata: {name: x}, spec: {spec: {containers: 3}}}",
    ],
)
def test_what_only_looks_like_a_template_is_none(read: Read, text: str) -> None:
    inventory = read(text)
    assert inventory.workloads == ()
    assert len(inventory.others) == 1
    assert inventory.problems == ()


def test_nothing_that_is_written_in_an_unknown_kind_is_called_wrong(read: Read) -> None:
    template = "{spec: {nodeSelector: {a: 1}, containers: [{name: C}], tolerations: [{effect: x}], toleration: 1}}"
    inventory = read(f"{{apiVersion: x.example/v1, kind: Odd, metadata: {{name: x}}, spec: {{t: {template}}}}}")
    (workload,) = inventory.workloads
    assert inventory.problems == ()
    assert workload.refusals == ()
    assert [(u.semantics, str(u.place)) for u in workload.unknown] == [
        ("scheduler:A-743", "spec.t.spec.nodeSelector.a"),
        ("scheduler:A-1531", "spec.t.spec.tolerations[0]"),
        ("scheduler:A-1534", "spec.t.spec.tolerations[0].effect"),
    ]


def test_the_search_is_bounded() -> None:
    deep = yaml.safe_load(POD)
    for _ in range(40):
        deep = {"a": deep}
    wide = {"spec": {"list": [{"x": {}, "y": [1]} for _ in range(60_000)], "late": yaml.safe_load(POD)}}
    assert list(find_templates(deep)) == []
    assert list(find_templates(wide)) == []
    near = {"spec": {"a": [{"b": yaml.safe_load(POD)}]}}
    assert [render_path(path) for path in find_templates(near)] == ["spec.a[0].b"]


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("karpenter.sh/v1alpha5", "Provisioner"),
        ("eks.aws.crossplane.io/v1alpha1", "NodeGroup"),
        ("infrastructure.cluster.x-k8s.io/v1beta1", "AzureMachinePool"),
        ("container.cnrm.cloud.google.com/v1beta1", "ContainerNodePool"),
        ("example.com/v1", "NodePool"),
    ],
)
def test_kinds_that_make_nodes_and_are_not_read_open_the_pools(read: Read, api_version: str, kind: str) -> None:
    inventory = read(f"{{apiVersion: {api_version}, kind: {kind}, metadata: {{name: x}}}}")
    assert [o.kind for o in inventory.unread_capacity] == [kind]
    assert inventory.others == ()
