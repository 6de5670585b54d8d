"""Devices that a node offers only once a device plugin runs on it (`A-4`): where the plugins among the files get to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from unpend.model.inventory import Inventory, Workload
from unpend.model.karpenter import NodeClass
from unpend.placement.verdict import Against, Obstacle
from unpend.records import replace

_PLUGINS: Mapping[str, tuple[str, ...]] = {
    "nvidia": ("nvidia.com/gpu",),
    "neuron": ("aws.amazon.com/neuron", "aws.amazon.com/neuroncore"),
    "amdgpu": ("amd.com/gpu",),
    "amd-gpu": ("amd.com/gpu",),
    "habana": ("habana.ai/gaudi",),
}
"""A word in the name or image of a device plugin, and the resources that it registers."""

_BUNDLED = frozenset({"Bottlerocket"})
"""AMI families that bring device plugins along."""


def plugin_resources(workload: Workload) -> tuple[str, ...]:
    """The resources that a DaemonSet registers; empty when it is no device plugin that is known here."""
    texts = [workload.name, *(container.image for container in workload.template.spec.containers)]
    if not any("device-plugin" in text for text in texts):
        return ()
    return tuple(
        resource for word, resources in _PLUGINS.items() for resource in resources if any(word in t for t in texts)
    )


def waiting(plugins: Iterable[tuple[Workload, int]], node_class: NodeClass | None) -> Mapping[str, int]:
    """For each device resource with a known plugin: the shapes that some plugin possibly gets to.

    `plugins` are DaemonSets with the shapes that they possibly run on. Where no plugin is known for a resource it comes
    from elsewhere, and nothing is said; nothing either where the image brings the plugins along.
    """
    if node_class is None or node_class.ami_family is None or node_class.ami_family in _BUNDLED:
        return {}
    found: dict[str, int] = {}
    for workload, mask in plugins:
        for resource in plugin_resources(workload):
            found[resource] = found.get(resource, 0) | mask
    return found


def locked_out(
    obstacles: tuple[Obstacle, ...], devices: Mapping[str, int], pool: str, inventory: Inventory
) -> tuple[Obstacle, ...]:
    """The same; where a device is missing because no plugin gets to the nodes, the plugin is the other side."""
    if not devices:
        return obstacles
    out = []
    for obstacle in obstacles:
        name = next((d for d, mask in devices.items() if not mask and f"Insufficient {d})" in obstacle.message), None)
        plugin = None
        if name is not None and obstacle.constraint == "resources":
            daemons = (w for w in inventory.workloads if w.kind == "DaemonSet")
            plugin = next((w for w in daemons if name in plugin_resources(w)), None)
        if plugin is not None:
            message = (
                f"nodes of {pool} never offer {name}: its device plugin {plugin.id} does not get onto them, "
                f"by its tolerations or its node selection (Insufficient {name})"
            )
            side = Against(plugin.id, plugin.template.spec.place)
            obstacle = replace(obstacle, message=message, semantics="scheduler:P-715", against=side)
        out.append(obstacle)
    return tuple(out)
