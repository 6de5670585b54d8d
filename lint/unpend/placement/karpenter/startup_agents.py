"""Taints that an agent takes off a node once it is ready: who does it for which key (`karpenter:A-4`)."""

from __future__ import annotations

from collections.abc import Iterator

from unpend.model.inventory import Inventory, Workload
from unpend.model.pod import Taint
from unpend.records import dataclass


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent that removes a taint: its name for messages, and words of which its images have one."""

    name: str
    images: tuple[str, ...]


_AGENTS: dict[str, Agent] = {
    "node.cilium.io/agent-not-ready": Agent("Cilium", ("cilium",)),
    "ebs.csi.aws.com/agent-not-ready": Agent("the EBS CSI driver", ("ebs-csi",)),
    "efs.csi.aws.com/agent-not-ready": Agent("the EFS CSI driver", ("efs-csi",)),
    "fsx.csi.aws.com/agent-not-ready": Agent("the FSx CSI driver", ("fsx-csi", "fsx-openzfs-csi")),
    "s3.csi.aws.com/agent-not-ready": Agent("the Mountpoint for S3 CSI driver", ("s3-csi",)),
    "disk.csi.azure.com/agent-not-ready": Agent("the Azure Disk CSI driver", ("azuredisk-csi",)),
    "file.csi.azure.com/agent-not-ready": Agent("the Azure File CSI driver", ("azurefile-csi",)),
    "cni.istio.io/not-ready": Agent("the Istio CNI agent", ("install-cni", "istio-cni", "istio/cni")),
}
_PREFIXES: dict[str, Agent] = {
    "readiness.k8s.io/": Agent("the Node Readiness Controller", ("node-readiness",)),
    "nidhogg.uswitch.com/": Agent("Nidhogg", ("nidhogg",)),
}
_EFFECTS = {
    "karpenter.sh/unregistered": ("Karpenter", "NoExecute"),
    "node.cloudprovider.kubernetes.io/uninitialized": ("the cloud controller", "NoSchedule"),
}
"""Who removes a taint with this key, and with which effect only: taints are matched by key and effect."""

_PASSING = ("ready", "startup", "init")
"""Words in the key of a taint that is meant to pass."""

_BY_THE_CLUSTER = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "karpenter.sh/")


def agent_for(key: str) -> Agent | None:
    """The agent that is known to remove taints with this key."""
    found = _AGENTS.get(key)
    return found or next((agent for prefix, agent in _PREFIXES.items() if key.startswith(prefix)), None)


def removers(taint: Taint, inventory: Inventory) -> Iterator[Workload]:
    """Workloads that may take a startup taint off: the known agent, or one that knows the taint by its key."""
    agent = agent_for(taint.key)
    for workload in inventory.workloads:
        if _mentions(workload, taint.key) or (agent is not None and _runs(workload, agent)):
            yield workload


def may_go(taint: Taint, inventory: Inventory) -> bool:
    """Whether somebody may take a taint off that no NodePool declares: to tolerate it is no sign of that."""
    return (
        agent_for(taint.key) is not None
        or removed_by_the_cluster(taint)
        or any(word in taint.key for word in _PASSING)
        or any(_mentions(workload, taint.key, ("tolerations",)) for workload in inventory.workloads)
    )


def removed_by_the_cluster(taint: Taint) -> bool:
    """Whether Kubernetes, the cloud controller or Karpenter itself removes the taint (`karpenter:A-3`)."""
    return taint.key.startswith(_BY_THE_CLUSTER)


def other_effect(taint: Taint) -> tuple[str, str] | None:
    """Who removes taints with this key and with which effect, where this one has another effect and stays."""
    known = _EFFECTS.get(taint.key)
    return known if known is not None and known[1] != taint.effect else None


def _runs(workload: Workload, agent: Agent) -> bool:
    spec = workload.template.spec
    return any(word in c.image for c in (*spec.containers, *spec.init_containers) for word in agent.images)


def _mentions(workload: Workload, key: str, without: tuple[str, ...] = ()) -> bool:
    """Whether the key stands anywhere in the object, outside of some fields: an argument, an environment variable."""
    stack: list[object] = [workload.object.data]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            stack.extend(inner for name, inner in value.items() if name not in without)
        elif isinstance(value, list):
            stack.extend(value)
        elif isinstance(value, str) and key in value:
            return True
    return False
