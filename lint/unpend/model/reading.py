"""From objects to an inventory: the table of readers, one row per kind.

To read a further kind: a dataclass and a field in `unpend.model.inventory`, a reader function in a module of its own
that calls `builder.add(<field>, value)`, and a row here. Readers are imported when the first object of their kind is
met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module

from unpend.model.builder import Builder
from unpend.model.inventory import Inventory
from unpend.model.patches import is_patch, leave_out
from unpend.settings import Settings
from unpend.source.document import Object

Reader = Callable[[Object, Builder], None]

READERS: dict[tuple[str, str], str] = {
    ("", "Pod"): "pods.read_pod",
    ("", "Node"): "nodes.read_node",
    ("", "ReplicationController"): "workloads.read_replication_controller",
    ("", "Namespace"): "namespaces.read_namespace",
    ("", "LimitRange"): "namespaces.read_limit_range",
    ("", "ResourceQuota"): "namespaces.read_quota",
    ("", "PersistentVolumeClaim"): "storage.read_claim",
    ("", "PersistentVolume"): "storage.read_volume",
    ("apps", "Deployment"): "workloads.read_deployment",
    ("apps", "ReplicaSet"): "workloads.read_deployment",
    ("apps", "StatefulSet"): "workloads.read_stateful_set",
    ("apps", "DaemonSet"): "workloads.read_daemon_set",
    ("batch", "Job"): "workloads.read_job",
    ("batch", "CronJob"): "workloads.read_cron_job",
    ("bootstrap.cluster.x-k8s.io", "EKSConfigTemplate"): "node_groups.cluster_api.keep_part",
    ("bootstrap.cluster.x-k8s.io", "KubeadmConfigTemplate"): "node_groups.cluster_api.keep_part",
    ("cloudformation.amazonaws.com", "Template"): "node_groups.cloud_formation.read_template",
    ("cluster.x-k8s.io", "Cluster"): "node_groups.cluster_api.keep_group",
    ("cluster.x-k8s.io", "MachineDeployment"): "node_groups.cluster_api.keep_group",
    ("cluster.x-k8s.io", "MachinePool"): "node_groups.cluster_api.keep_group",
    ("cluster.x-k8s.io", "MachineSet"): "node_groups.cluster_api.keep_group",
    ("eks.aws.m.upbound.io", "NodeGroup"): "node_groups.ack.read_crossplane",
    ("eks.aws.upbound.io", "NodeGroup"): "node_groups.ack.read_crossplane",
    ("eks.services.k8s.aws", "FargateProfile"): "node_groups.fargate.read_profile",
    ("eks.services.k8s.aws", "Nodegroup"): "node_groups.ack.read_nodegroup",
    ("eksctl.io", "ClusterConfig"): "node_groups.eksctl.read_cluster_config",
    ("extensions", "Deployment"): "workloads.read_deployment",
    ("extensions", "ReplicaSet"): "workloads.read_deployment",
    ("extensions", "DaemonSet"): "workloads.read_daemon_set",
    ("autoscaling", "HorizontalPodAutoscaler"): "autoscaling.read_horizontal_pod_autoscaler",
    ("keda.sh", "ScaledObject"): "autoscaling.read_scaled_object",
    ("infrastructure.cluster.x-k8s.io", "AWSMachineTemplate"): "node_groups.cluster_api.keep_part",
    ("infrastructure.cluster.x-k8s.io", "AWSManagedMachinePool"): "node_groups.cluster_api.keep_group",
    ("infrastructure.cluster.x-k8s.io", "AzureMachineTemplate"): "node_groups.cluster_api.keep_part",
    ("infrastructure.cluster.x-k8s.io", "GCPMachineTemplate"): "node_groups.cluster_api.keep_part",
    ("karpenter.k8s.aws", "AWSNodeTemplate"): "karpenter_older.read_removed",
    ("karpenter.k8s.aws", "EC2NodeClass"): "node_classes.read_ec2_node_class",
    ("karpenter.sh", "Machine"): "karpenter_older.read_removed",
    ("karpenter.sh", "NodeOverlay"): "node_overlays.read_node_overlay",
    ("karpenter.sh", "NodePool"): "node_pools.read_node_pool",
    ("karpenter.sh", "Provisioner"): "karpenter_older.read_removed",
    ("node.k8s.io", "RuntimeClass"): "classes.read_runtime_class",
    ("policy", "PodDisruptionBudget"): "disruption_budgets.read_disruption_budget",
    ("scheduling.k8s.io", "PriorityClass"): "classes.read_priority_class",
    ("storage.k8s.io", "CSINode"): "storage.read_csi_node",
    ("storage.k8s.io", "StorageClass"): "storage.read_storage_class",
    ("terraform.io", "TerraformState"): "node_groups.terraform.read_state",
    ("unpend.dev", "NodeGroup"): "node_groups.neutral.read_node_group",
}
"""(API group, kind) → `module.function` inside `unpend.model`."""


def read_objects(objects: Iterable[Object], settings: Settings) -> Inventory:
    """Everything that the objects say, typed, in reading order; wrong values become `Inventory.problems`.

    Kinds without a row are searched for pod templates; those that make nodes go to `unread_capacity`, the rest to
    `others`. A pod or ReplicaSet whose owner is among the objects too is no workload of its own.
    """
    builder = Builder(settings)
    loaded: dict[tuple[str, str], Reader] = {}
    for obj in objects:
        builder.object_count += 1
        api_version, kind = obj.form or (obj.data.get("apiVersion"), obj.data.get("kind"))
        key = (api_version if isinstance(api_version, str) else "", kind if isinstance(kind, str) else "")
        reader = loaded.get(key)
        if reader is None:
            reader = loaded[key] = _reader_of(key[0].rpartition("/")[0], key[1])
        if is_patch(obj):
            leave_out(obj, builder)
        else:
            reader(obj, builder)
    builder.drop_owned()
    builder.tell_apart()
    return builder.finish()


def _reader_of(group: str, kind: str) -> Reader:
    path = READERS.get((group, kind))
    if path is not None:
        module, _, function = path.rpartition(".")
        reader: Reader = getattr(import_module(f"unpend.model.{module}"), function)
        return reader
    if kind.endswith("NodeClass"):
        from unpend.model.node_classes import read_node_class

        return read_node_class
    from unpend.model.kinds import makes_nodes, may_hold_templates

    if makes_nodes(group, kind):
        return _read_capacity
    return _read_unknown if may_hold_templates(group, kind) else _read_other


def _read_capacity(obj: Object, builder: Builder) -> None:
    builder.other(obj, "unread_capacity")


def _read_other(obj: Object, builder: Builder) -> None:
    builder.other(obj)


def _read_unknown(obj: Object, builder: Builder) -> None:
    from unpend.model.embedded import read_embedded

    if not read_embedded(obj, builder):
        builder.other(obj)
