"""What Cluster Autoscaler says, in the words of its events and log (`cluster-autoscaler.md` §8.1)."""

from __future__ import annotations

from unpend.model.node_groups.tags import LABEL, RESOURCE
from unpend.model.pod import EffectivePod
from unpend.placement.cluster_autoscaler.flags import AGENTS, Flags
from unpend.placement.cluster_autoscaler.groups import Group
from unpend.placement.demand import Demand
from unpend.placement.scheduler import filters
from unpend.placement.verdict import Against, Obstacle
from unpend.records import replace

EVENT = "NotTriggerScaleUp: pod didn't trigger scale-up"
CONSUMES = "autoscaling.x-k8s.io/consume-provisioning-request"


def not_scaled(demand: Demand, pod: EffectivePod, flags: Flags) -> str | None:
    """Why Cluster Autoscaler never adds a node for a pod, whatever the groups are; None when it may."""
    if demand.priority < flags.cutoff:
        return (
            f"its priority {demand.priority} is below the cutoff {flags.cutoff} (--expendable-pods-priority-cutoff): "
            "Cluster Autoscaler takes it for expendable and adds no node for it"
        )
    if CONSUMES in pod.template.annotations:
        return f"the annotation {CONSUMES} leaves the capacity to a ProvisioningRequest"
    return None


def refused_by_autoscaler(demand: Demand, group: Group) -> tuple[Obstacle, ...]:
    """Why the node that the autoscaler imagines does not take the pod."""
    place = group.group.place
    if not group.planned[0].shapes:
        message = (
            f"Cluster Autoscaler cannot imagine a node of {group.name}: an empty group needs cpu and memory in the "
            f"annotations capacity.cluster-autoscaler.kubernetes.io/cpu and /memory ({EVENT})"
        )
        return (Obstacle("pool", message, "autoscaler:C-242", place, Against(group.name, place), "autoscaler-refuses"),)
    found = []
    for obstacle in filters.obstacles(demand, group.planned[0], 0):
        hint, rule = _hint(obstacle, group)
        reason = obstacle.message.rpartition(" (")[0] or obstacle.message
        event = obstacle.message.rpartition(" (")[2].rstrip(")")
        found.append(
            replace(
                obstacle,
                message=f"in the node that Cluster Autoscaler imagines, {reason}{hint} ({EVENT}: 1 {event})",
                semantics=f"autoscaler:{rule}",
                cause="autoscaler-refuses",
            )
        )
    return tuple(found)


def _hint(obstacle: Obstacle, group: Group) -> tuple[str, str]:
    """How the group would have to be tagged, and the rule that it follows from."""
    key = _key(obstacle)
    own = group.group.template in ("asg", "eks")
    if obstacle.taint is not None and obstacle.taint.key in AGENTS:
        return f"; start Cluster Autoscaler with --startup-taint={obstacle.taint.key}", "C-205"
    if obstacle.constraint == "resources" and own:
        return f"; only tags such as {RESOURCE}<resource> on the Auto Scaling group give it more", "C-214"
    if obstacle.constraint in ("nodeSelector", "nodeAffinity") and key in group.group.labels and own:
        label = group.group.labels[key]
        return f"; the Auto Scaling group lacks the tag {LABEL}{key} = {label.value}", "C-216"
    return "", "C-302"


def _key(obstacle: Obstacle) -> str:
    if obstacle.place is None:
        return ""
    data = obstacle.place.value
    if isinstance(data, dict):
        return str(data.get("key") or "")
    return str(obstacle.place.step or "")
