"""What is known of kinds without a reader: their scope, whether they make nodes, whether to look inside them."""

from __future__ import annotations

import re

_BUILT_IN = frozenset(
    {
        "",
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "apps",
        "authentication.k8s.io",
        "authorization.k8s.io",
        "autoscaling",
        "batch",
        "certificates.k8s.io",
        "coordination.k8s.io",
        "discovery.k8s.io",
        "events.k8s.io",
        "extensions",
        "flowcontrol.apiserver.k8s.io",
        "gateway.networking.k8s.io",
        "networking.k8s.io",
        "node.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "resource.k8s.io",
        "scheduling.k8s.io",
        "storage.k8s.io",
    }
)
"""API groups of Kubernetes itself: a kind of theirs that has no reader has no pod template that would run."""

_NOT_RUN = frozenset(
    {
        "apiextensions.crossplane.io",
        "constraints.gatekeeper.sh",
        "kustomize.config.k8s.io",
        "kro.run",
        "kyverno.io",
        "mutations.gatekeeper.sh",
        "policies.kyverno.io",
        "template.openshift.io",
        "templates.gatekeeper.sh",
        "types.kubefed.io",
        "work.open-cluster-management.io",
    }
)
"""Groups whose objects hold patterns, patches and blueprints of pods, or pods of other clusters."""

_CLUSTER_SCOPED = frozenset(
    {
        "APIService",
        "CSIDriver",
        "CSINode",
        "CertificateSigningRequest",
        "ClusterIssuer",
        "ClusterPolicy",
        "ClusterRole",
        "ClusterRoleBinding",
        "CustomResourceDefinition",
        "DeviceClass",
        "EC2NodeClass",
        "FlowSchema",
        "GatewayClass",
        "IngressClass",
        "MutatingWebhookConfiguration",
        "Namespace",
        "Node",
        "NodeClaim",
        "NodeOverlay",
        "PersistentVolume",
        "PriorityClass",
        "PriorityLevelConfiguration",
        "ResourceSlice",
        "RuntimeClass",
        "StorageClass",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
        "VolumeAttachment",
        "VolumeAttributesClass",
        "VolumeSnapshotClass",
        "VolumeSnapshotContent",
    }
)

_CAPACITY = re.compile(
    r"(?:Node(?:Pool|Group)s?|Nodegroup|MachineDeployment|MachineSet|MachinePool|AgentPool|AgentPools|InstanceGroup)\Z"
)


def is_cluster_scoped(group: str, kind: str) -> bool:
    """Whether objects of a kind have no namespace, as far as known."""
    return kind in _CLUSTER_SCOPED or kind.endswith("NodeClass") or (group == "karpenter.sh" and kind == "NodePool")


def makes_nodes(group: str, kind: str) -> bool:
    """Whether objects of a kind make nodes, judged by its name: node pools and groups, machine sets of any provider."""
    if _CAPACITY.search(kind):
        return True
    return (group, kind) in {("karpenter.sh", "Provisioner"), ("eksctl.io", "ClusterConfig")}


def may_hold_templates(group: str, kind: str) -> bool:
    """Whether to look for pod templates inside an object of a kind without a reader."""
    if kind == "SidecarSet":
        # Its containers are put into the pods of others.
        return False
    return group not in _BUILT_IN and group not in _NOT_RUN and not kind.endswith("NodeClass")
