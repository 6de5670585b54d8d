"""The instance type of a launch template in the same Terraform plan or state as its group (autoscaler:C-212).

A group names its template by id or name. In a plan of something new both are known after apply only; then the
configuration in the plan says which resource is meant. The resource has the type of its newest version.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from unpend.model.node_groups.group import Named
from unpend.source.place import Place

KINDS = ("aws_launch_template", "aws_launch_configuration")
_INDEX = re.compile(r"\[[^\]]*\]")
_LATEST, _DEFAULT = "$Latest", "$Default"


class Resource(NamedTuple):
    """A resource of a plan or state; `place` is that of its values."""

    address: str
    kind: str
    name: str
    values: dict[str, Any]
    place: Place


class _Use(NamedTuple):
    """How a group refers to a template: what it says, and what the configuration says, each by field."""

    kind: str
    values: Mapping[str, Any]
    expressions: Mapping[str, Any]
    id: str
    name: str


class LaunchTemplates:
    """The launch templates and configurations of one plan or state."""

    def __init__(self, data: Mapping[str, Any], resources: Sequence[Resource]) -> None:
        self.data = data
        self.templates = [one for one in resources if one.kind in KINDS]

    def type_of(self, group: Resource) -> Named | None:
        """The instance type that the group's template gives, None where it is not sure."""
        if not self.templates:
            return None
        use = _use(group.values, self._expressions(group.address))
        if use is None:
            return None
        found = self._meant(group, use)
        names = {_text(one.values, "instance_type") for one in found}
        if len(names) != 1 or "" in names or not all(self._is_current(one, use) for one in found):
            return None
        return Named(names.pop(), found[0].place.at("instance_type"))

    def is_written(self, group: Resource, attribute: str) -> bool:
        """Whether the configuration in a plan says anything for an attribute; without a configuration it may."""
        return "configuration" not in self.data or attribute in self._expressions(group.address)

    def _meant(self, group: Resource, use: _Use) -> list[Resource]:
        wanted = [one for one in self.templates if one.kind == use.kind]
        said = {_text(use.values, field) for field in (use.id, use.name)} - {""}
        if said:
            return [one for one in wanted if said & {one.values.get("id"), one.values.get("name")}]
        module = _module(group.address)
        named = [
            f"{module}{'.'.join(reference.split('.')[:2])}"
            for field in (use.id, use.name)
            for reference in _references(use.expressions, field)
        ]
        if not named or not all(f"{use.kind}." in one for one in named):
            return []
        return [one for one in wanted if _INDEX.sub("", one.address) in {_INDEX.sub("", name) for name in named}]

    def _is_current(self, template: Resource, use: _Use) -> bool:
        """Whether the version that the group uses is the newest one."""
        actions = self._actions.get(template.address, ())
        if use.kind != "aws_launch_template" or actions == ("create",):
            return True
        changed = any(action not in ("no-op", "read") for action in actions)
        version = _text(use.values, "version")
        ends = {reference.rpartition(".")[2] for reference in _references(use.expressions, "version")}
        latest, default = template.values.get("latest_version"), template.values.get("default_version")
        if version == _LATEST or (not version and ends == {"latest_version", template.name}):
            return True
        if version == _DEFAULT or (not version and ends <= {"default_version", template.name}):
            moves = template.values.get("update_default_version") is True
            return moves or (not changed and latest is not None and latest == default)
        return not changed and latest is not None and version == str(latest)

    @cached_property
    def _actions(self) -> dict[str, tuple[str, ...]]:
        """By address, what the plan does to a resource."""
        found = {}
        for change in _list(self.data, "resource_changes"):
            inner = change.get("change") if isinstance(change, dict) else None
            actions = inner.get("actions") if isinstance(inner, dict) else None
            if isinstance(actions, list):
                found[_text(change, "address")] = tuple(str(action) for action in actions)
        return found

    def _expressions(self, address: str) -> Mapping[str, Any]:
        """What the configuration of a plan writes for a resource."""
        configuration = self.data.get("configuration")
        module: Any = configuration.get("root_module") if isinstance(configuration, dict) else None
        plain = _INDEX.sub("", address)
        parts = plain.split(".")
        while len(parts) > 2 and parts[0] == "module":
            calls = module.get("module_calls") if isinstance(module, dict) else None
            call = calls.get(parts[1]) if isinstance(calls, dict) else None
            module = call.get("module") if isinstance(call, dict) else None
            parts = parts[2:]
        for resource in _list(module, "resources") if isinstance(module, dict) else ():
            if isinstance(resource, dict) and _text(resource, "address") == ".".join(parts):
                found = resource.get("expressions")
                return found if isinstance(found, dict) else {}
        return {}


def _use(values: Mapping[str, Any], expressions: Mapping[str, Any]) -> _Use | None:
    policy, written = _first(values, "mixed_instances_policy"), _first(expressions, "mixed_instances_policy")
    if policy or written:
        policy, written = _first(policy, "launch_template"), _first(written, "launch_template")
        said, meant = (_first(one, "launch_template_specification") for one in (policy, written))
        return _Use("aws_launch_template", said, meant, "launch_template_id", "launch_template_name")
    said, meant = _first(values, "launch_template"), _first(expressions, "launch_template")
    if said or meant:
        return _Use("aws_launch_template", said, meant, "id", "name")
    if values.get("launch_configuration") or expressions.get("launch_configuration"):
        return _Use("aws_launch_configuration", values, expressions, "launch_configuration", "launch_configuration")
    return None


def _module(address: str) -> str:
    """The module of an address with the dot behind it, empty for the root."""
    found = re.match(r"(?:module\.[^.\[]+(?:\[[^\]]*\])?\.)*", address)
    return found[0] if found else ""


def _references(expressions: Mapping[str, Any], field: str) -> Iterator[str]:
    expression = expressions.get(field)
    for one in _list(expression, "references") if isinstance(expression, dict) else ():
        if isinstance(one, str):
            yield one


def _first(owner: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = owner.get(key)
    if isinstance(value, list):
        value = value[0] if value else None
    return value if isinstance(value, dict) else {}


def _list(owner: Mapping[str, Any], key: str) -> list[Any]:
    value = owner.get(key)
    return value if isinstance(value, list) else []


def _text(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    return value if isinstance(value, str) else ""
