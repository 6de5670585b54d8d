"""What one pod asks of a node: constraints folded per label key, tolerations, requests in the scheduler's units, ports.

Every required node affinity term gives one alternative; the pod's `nodeSelector` is part of each (P-501 to P-504). All
constraints on a key are folded into one value set *before* anything is asked of a node: that `team NotIn [a]` and
`team NotIn [b]` each leave something of `[a, b]` says nothing about both together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from unpend.algebra.syntax import label_value_fault, qualified_name_fault
from unpend.algebra.values import ValueSet, from_expression, one_of
from unpend.model.pod import ContainerPort, EffectivePod, Expression, Label, NodeSelectorTerm, Toleration
from unpend.placement.volumes import NO_VOLUMES, PodVolumes
from unpend.records import dataclass, field, replace
from unpend.source.place import Place

DEFAULT_SCHEDULER = "default-scheduler"
NAME_FIELD = "metadata.name"

_STANDARD = frozenset({"cpu", "memory", "ephemeral-storage"})


@dataclass(frozen=True, slots=True)
class Written:
    """One constraint on a label key as it was written; `values` is the set of label values that it admits.

    The kind `volume` is one that a volume or storage class brings; it never stands in the alternatives of a demand.
    """

    kind: Literal["nodeSelector", "nodeAffinity", "volume"]
    key: str
    operator: str
    texts: tuple[str, ...]
    values: ValueSet = field(compare=False)
    place: Place = field(compare=False, repr=False)

    @property
    def text(self) -> str:
        """As people write it: `pool=gpu`, `zone In [a, b]`, `gpu Exists`."""
        if self.kind == "nodeSelector":
            return f"{self.key}={self.texts[0]}"
        if self.operator in ("Exists", "DoesNotExist"):
            return f"{self.key} {self.operator}"
        return f"{self.key} {self.operator} [{', '.join(self.texts)}]"


@dataclass(frozen=True, slots=True)
class NameField:
    """A `matchFields` requirement on the name of the node (P-510): equal to, or different from, one name."""

    name: str
    equal: bool
    place: Place = field(compare=False, repr=False)

    def admits(self, node: str | None) -> bool:
        """Whether a node of this name passes; None is a node that does not exist yet and whose name nobody knows."""
        return (node == self.name) is self.equal


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to satisfy nodeSelector and required node affinity: all of `folded` and all of `names`.

    `broken` is set when the term matches no node whatever its labels: it is empty (P-505) or cannot be parsed (P-506).
    `term` is the place of the term, None for a pod without required node affinity.
    """

    folded: Mapping[str, ValueSet]
    names: tuple[NameField, ...] = ()
    broken: str = ""
    written: tuple[Written, ...] = field(default=(), compare=False)
    term: Place | None = field(default=None, compare=False, repr=False)
    key: tuple[object, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Demand:
    """A pod as placement sees it.

    `requests` are whole numbers, cpu in millicores, everything else in its unit, rounded up (P-712); zeros (P-714) and
    names that the scheduler does not look at (P-716) are left out. `affinity` is the place of the required node
    affinity. `possible_tolerations` are added by some control planes and not by others (A-233). `key` is equal for pods
    that every node answers alike; it does not depend on where anything was written. `with_volumes` sets `volumes`.
    """

    alternatives: tuple[Alternative, ...]
    tolerations: tuple[Toleration, ...]
    requests: Mapping[str, int]
    ports: tuple[ContainerPort, ...]
    node_name: str
    scheduler_name: str
    gates: tuple[str, ...]
    claims: tuple[str, ...]
    priority: int
    preempts: bool
    key: tuple[object, ...] = field(compare=False, repr=False)
    request_places: Mapping[str, tuple[Place, ...]] = field(compare=False, repr=False)
    spec_place: Place = field(compare=False, repr=False)
    affinity: Place | None = field(default=None, compare=False, repr=False)
    possible_tolerations: tuple[Toleration, ...] = ()
    volumes: PodVolumes = NO_VOLUMES

    @property
    def tolerations_place(self) -> Place:
        """Where tolerations are written, or would be."""
        return self.spec_place.at("tolerations")


def demand_of(pod: EffectivePod) -> Demand:
    """The demand of an effective pod."""
    spec = pod.spec
    required = spec.affinity.required
    selected = tuple(_selected(label) for label in spec.node_selector)
    if required is None:
        alternatives: tuple[Alternative, ...] = (_alternative(selected, None),)
    else:
        alternatives = tuple(_alternative(selected, term) for term in required)
    requests = {r: units for r, milli in pod.requests.items() if (units := to_units(r, milli)) > 0 and is_counted(r)}
    ports = tuple(p for p in pod.host_ports if p.host_port > 0)
    key = (
        tuple(a.key for a in alternatives),
        spec.tolerations,
        tuple(sorted(requests.items())),
        tuple(sorted((p.host_ip, p.protocol, p.host_port) for p in ports)),
        spec.node_name,
        pod.possible_tolerations,
        bool(spec.resource_claims),
    )
    return Demand(
        alternatives=alternatives,
        tolerations=spec.tolerations,
        requests=requests,
        ports=ports,
        node_name=spec.node_name,
        scheduler_name=spec.scheduler_name or DEFAULT_SCHEDULER,
        gates=spec.scheduling_gates,
        claims=spec.resource_claims,
        priority=spec.priority or 0,
        preempts=spec.preemption_policy != "Never",
        key=key,
        request_places=pod.request_places,
        spec_place=spec.place,
        affinity=_affinity_place(spec.affinity.place) if required is not None else None,
        possible_tolerations=pod.possible_tolerations,
    )


def with_volumes(demand: Demand, volumes: PodVolumes) -> Demand:
    """The demand of a pod with these volumes (instead of those that it had)."""
    if not volumes and not demand.volumes:
        return demand
    key = demand.key[: len(demand.key) - len(demand.volumes.key)]
    return replace(demand, volumes=volumes, key=(*key, *volumes.key))


def to_units(resource: str, milli: int) -> int:
    """Thousandths of a unit in the unit of the scheduler: cpu stays in milli, all else is whole (P-712)."""
    return milli if resource == "cpu" else -(-milli // 1000)


@lru_cache(maxsize=1024)
def is_counted(resource: str) -> bool:
    """Whether NodeResourcesFit looks at a resource of this name (P-716); `pods` is a slot, not a request."""
    if resource in _STANDARD or resource.startswith(("hugepages-", "attachable-volumes-")):
        return True
    return "/" in resource and ("kubernetes.io/" in resource or not resource.startswith("requests."))


def fold(written: Iterable[Written]) -> dict[str, ValueSet]:
    """All constraints on each key met into one value set."""
    folded: dict[str, ValueSet] = {}
    for constraint in written:
        before = folded.get(constraint.key)
        folded[constraint.key] = constraint.values if before is None else before.meet(constraint.values)
    return folded


def alternative_from(
    written: Sequence[Written], names: tuple[NameField, ...] = (), broken: str = "", term: Place | None = None
) -> Alternative:
    """An alternative with its constraints folded; the only constructor, so that `key` always agrees with the rest."""
    folded = fold(written)
    key = (tuple(written), names, bool(broken))
    return Alternative(folded, names, broken, tuple(written), term, key)


@lru_cache(maxsize=8192)
def _equal_to(value: str) -> ValueSet:
    return one_of([value])


def _selected(label: Label) -> Written:
    return Written("nodeSelector", label.key, "In", (label.value,), _equal_to(label.value), label.place)


def volume_alternative(term: NodeSelectorTerm) -> Alternative:
    """A term of a volume's node affinity or of a class's allowed topologies (S-1006, S-1008)."""
    return _alternative((), term, "volume")


def _alternative(
    selected: tuple[Written, ...],
    term: NodeSelectorTerm | None,
    kind: Literal["nodeAffinity", "volume"] = "nodeAffinity",
) -> Alternative:
    if term is None:
        return alternative_from(selected)
    broken = ""
    written = list(selected)
    if not term.expressions and not term.fields:
        broken = "the term is empty"
    for expression in term.expressions:
        broken = broken or expression_fault(expression)
        values = _expression_values(expression.operator, expression.values)
        written.append(Written(kind, expression.key, expression.operator, expression.values, values, expression.place))
    names: list[NameField] = []
    for requirement in term.fields:
        fault = _field_fault(requirement)
        if fault:
            broken = broken or fault
        elif requirement.key == NAME_FIELD:
            names.append(NameField(requirement.values[0], requirement.operator == "In", requirement.place))
        elif (requirement.values[0] == "") is not (requirement.operator == "In"):
            # No other field exists on a node: it reads as the empty string.
            broken = broken or f"nodes have no field {requirement.key!r}"
    return alternative_from(written, tuple(names), broken, term.place)


@lru_cache(maxsize=8192)
def _expression_values(operator: str, values: tuple[str, ...]) -> ValueSet:
    return from_expression(operator, values)


def expression_fault(expression: Expression) -> str:
    """Why a label expression cannot be parsed, so that its whole term matches nothing (P-506); empty when it can."""
    operator, values = expression.operator, expression.values
    if operator in ("In", "NotIn"):
        if not values:
            return f"{operator} needs at least one value"
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            return f"{operator} takes no values"
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            return f"{operator} needs exactly one value"
        if not is_integer(values[0]):
            return f"{operator} needs an integer, not {values[0]!r}"
    else:
        return f"{operator!r} is no operator"
    if qualified_name_fault(expression.key):
        return f"{expression.key!r} is no label key"
    bad = next((value for value in values if label_value_fault(value)), None)
    return "" if bad is None else f"{bad!r} is no label value"


def is_integer(text: str) -> bool:
    """Whether Go reads a text as a base-10 signed 64-bit integer (P-508)."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    return len(text) < 100 and digits.isascii() and digits.isdigit() and -(2**63) <= int(text) < 2**63


def _field_fault(requirement: Expression) -> str:
    if requirement.operator not in ("In", "NotIn"):
        return f"matchFields has no operator {requirement.operator!r}"
    return "" if len(requirement.values) == 1 else "matchFields takes exactly one value"


def _affinity_place(affinity: Place | None) -> Place | None:
    if affinity is None:
        return None
    return affinity.at("nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
