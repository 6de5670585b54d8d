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
from unpend.settings import Settings
from unpend.source.document import Object

Reader = Callable[[Object, Builder], None]

READERS: dict[tuple[str, str], str] = {
    ("", "Pod"): "pods.read_pod",
    ("", "Node"): "nodes.read_node",
    ("", "ReplicationController"): "workloads.read_replication_controller",
    ("apps", "Deployment"): "workloads.read_deployment",
    ("apps", "ReplicaSet"): "workloads.read_deployment",
    ("apps", "StatefulSet"): "workloads.read_stateful_set",
    ("apps", "DaemonSet"): "workloads.read_daemon_set",
    ("batch", "Job"): "workloads.read_job",
    ("batch", "CronJob"): "workloads.read_cron_job",
    ("extensions", "Deployment"): "workloads.read_deployment",
    ("extensions", "ReplicaSet"): "workloads.read_deployment",
    ("extensions", "DaemonSet"): "workloads.read_daemon_set",
}
"""(API group, kind) → `module.function` inside `unpend.model`."""


def read_objects(objects: Iterable[Object], settings: Settings) -> Inventory:
    """Everything that the objects say, typed, in reading order; wrong values become `Inventory.problems`."""
    builder = Builder(settings)
    loaded: dict[tuple[str, str], Reader | None] = {}
    for obj in objects:
        builder.object_count += 1
        key = (obj.group, obj.kind)
        if key not in loaded:
            loaded[key] = _load(key)
        reader = loaded[key]
        if reader is not None:
            reader(obj, builder)
        else:
            builder.other(obj)
    return builder.finish()


def _load(key: tuple[str, str]) -> Reader | None:
    path = READERS.get(key)
    if path is None:
        return None
    module, _, function = path.rpartition(".")
    reader: Reader = getattr(import_module(f"unpend.model.{module}"), function)
    return reader
