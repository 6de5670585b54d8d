"""Label selectors and node selector terms."""

from __future__ import annotations

from typing import Any

from unpend.algebra.syntax import label_value_fault, qualified_name_fault, subdomain_fault
from unpend.model.fields import entries, mapping, text, texts, under
from unpend.model.metadata import check_label
from unpend.model.pod import Expression, LabelSelector, NodeSelectorTerm
from unpend.model.problems import Problems
from unpend.source.place import Place

LABEL_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
NODE_OPERATORS = (*LABEL_OPERATORS, "Gt", "Lt")
_LABEL = frozenset(LABEL_OPERATORS)
_NODE = frozenset(NODE_OPERATORS)


def label_selector(owner: dict[str, Any], key: str, place: Place, problems: Problems) -> LabelSelector | None:
    """The label selector at a key; None when there is none (which matches no pod)."""
    data = mapping(owner, key, place, problems)
    if data is None:
        return None
    here = under(place, key)
    found: list[Expression] = []
    if data.get("matchLabels") is not None:
        found.extend(equalities(data, "matchLabels", here, problems))
    if data.get("matchExpressions") is not None:
        for entry, where in entries(data, "matchExpressions", here, problems):
            found.append(_expression(entry, where, problems, _LABEL, "scheduler:A-1516"))
    return LabelSelector(tuple(found), here)


def plain_selector(owner: dict[str, Any], key: str, place: Place, problems: Problems) -> LabelSelector | None:
    """A selector written as a plain map of labels (ReplicationController, Service)."""
    data = mapping(owner, key, place, problems)
    if data is None:
        return None
    return LabelSelector(tuple(equalities(owner, key, place, problems)), under(place, key))


def equalities(owner: dict[str, Any], key: str, place: Place, problems: Problems) -> list[Expression]:
    """A map of labels as `In` expressions."""
    data = mapping(owner, key, place, problems)
    if not data:
        return []
    parent = under(place, key)
    found: list[Expression] = []
    for name, value in data.items():
        here = under(parent, name)
        if value is None:
            value = ""
        if not isinstance(value, str):
            problems.wrong_type(here, "text", value)
            continue
        check_label(name, value, here, problems)
        found.append(Expression(name, "In", (value,), here))
    return found


def node_selector_term(entry: dict[str, Any], place: Place, problems: Problems, required: bool) -> NodeSelectorTerm:
    """One node selector term (A-1513, A-1514)."""
    expressions = tuple(
        _expression(item, here, problems, _NODE, "scheduler:A-1513", check_values=required)
        for item, here in entries(entry, "matchExpressions", place, problems)
    )
    fields = tuple(
        _field_expression(item, here, problems) for item, here in entries(entry, "matchFields", place, problems)
    )
    return NodeSelectorTerm(expressions, fields, place)


def _expression(
    entry: dict[str, Any],
    place: Place,
    problems: Problems,
    operators: frozenset[str],
    semantics: str,
    check_values: bool = True,
) -> Expression:
    key = text(entry, "key", place, problems)
    operator = text(entry, "operator", place, problems)
    values = texts(entry, "values", place, problems)
    fault = qualified_name_fault(key)
    if fault:
        problems.refuse(under(place, "key"), f'the label key "{key}" {fault}', "scheduler:A-1502")
    if operator not in operators:
        problems.refuse(under(place, "operator"), unknown_word(operator, "operator", operators), semantics)
        return Expression(key, operator, values, place)
    written = entry.get("values")
    fault = _value_count_fault(operator, len(written) if isinstance(written, list) else 0)
    if fault:
        problems.refuse(under(place, "values"), fault, semantics)
    if check_values:
        for value in values:
            fault = label_value_fault(value)
            if fault:
                problems.refuse(
                    item_place(entry, "values", value, place), f'the label value "{value}" {fault}', "scheduler:A-1501"
                )
    return Expression(key, operator, values, place)


def item_place(owner: dict[str, Any], key: str, value: str, place: Place) -> Place:
    """The place of a text in the list at a key."""
    return place.at(key, owner[key].index(value)) if value in owner[key] else under(place, key)


def _value_count_fault(operator: str, count: int) -> str | None:
    if operator in {"In", "NotIn"}:
        return None if count else f"operator {operator} needs at least one value"
    if operator in {"Gt", "Lt"}:
        return None if count == 1 else f"operator {operator} needs exactly one value, this has {count}"
    return f"operator {operator} takes no values, this has {count}" if count else None


def _field_expression(entry: dict[str, Any], place: Place, problems: Problems) -> Expression:
    key = text(entry, "key", place, problems)
    operator = text(entry, "operator", place, problems)
    values = texts(entry, "values", place, problems)
    if key != "metadata.name":
        problems.refuse(under(place, "key"), "matchFields only knows the key metadata.name", "scheduler:A-1514")
    if operator not in {"In", "NotIn"}:
        problems.refuse(
            under(place, "operator"), "matchFields only takes the operators In and NotIn", "scheduler:A-1514"
        )
    elif len(values) != 1:
        problems.refuse(
            under(place, "values"), f"matchFields takes exactly one value, this has {len(values)}", "scheduler:A-1514"
        )
    elif subdomain_fault(values[0]):
        problems.refuse(under(place, "values").at(0), f'"{values[0]}" is no node name', "scheduler:A-1514")
    return Expression(key, operator, values, place)


def unknown_word(word: str, what: str, known: frozenset[str]) -> str:
    """A message about a word that is none of the known ones, with the one that was probably meant."""
    listed = ", ".join(sorted(known))
    if not word:
        return f"`{what}` is missing; it must be one of {listed}"
    folded = word.lower().replace("_", "").replace("-", "")
    meant = next((k for k in sorted(known) if k.lower() == folded), None)
    meant = meant or _SYNONYMS.get(folded)
    hint = f"did you mean {meant}?" if meant in known else f"it must be one of {listed}"
    return f'"{word}" is no known {what}; {hint}'


_SYNONYMS = {
    "equals": "In",
    "equal": "In",
    "=": "In",
    "==": "In",
    "!=": "NotIn",
    "notequals": "NotIn",
    "exist": "Exists",
    "notexists": "DoesNotExist",
    "doesnotexists": "DoesNotExist",
    ">": "Gt",
    "<": "Lt",
    "greaterthan": "Gt",
    "lessthan": "Lt",
}
