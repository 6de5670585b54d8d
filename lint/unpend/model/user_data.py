"""Taints with which the user data of an EC2NodeClass registers nodes, beside those of the NodePool (`karpenter:A-5`).

Only what surely reaches the kubelet counts. Flags in a NodeConfig do: they are appended to Karpenter's own, and win
over its configuration; taints in the TOML of Bottlerocket are kept as well. User data of a custom image is run as it
is; a script that decides anything by itself is not understood. Karpenter configures the kubelet of AL2 once more after
the script, so nothing is said there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from unpend.algebra.taints import EFFECTS
from unpend.model.pod import Taint
from unpend.source.place import Place

_FLAG = re.compile(r"--register-with-taints[= ]+[\"']?([^\s\"'\]]+)")
_DECIDES = re.compile(r"\b(?:if|case|while|for|until|function|exit)\b|&&|\|\||\(\)")
_TABLE = re.compile(r"^\s*\[settings\.kubernetes\.node-taints\]\s*$")
_ENTRY = re.compile(r"^\s*\"?([^\s\"=]+)\"?\s*=\s*(.+?)\s*$")
_QUOTED = re.compile(r"\"([^\"]*)\"")


def registered_taints(text: str, family: str | None, place: Place) -> tuple[Taint, ...]:
    """The taints, each with the place of the user data; none where it is not sure that nodes get them."""
    if "taint" not in text:
        return ()
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    if family == "Bottlerocket":
        return tuple(_of_toml(lines, place))
    if family not in ("AL2023", "Custom") or (_is_script(text) and (family != "Custom" or _DECIDES.search(text))):
        return ()
    return tuple(_of_flags(lines, place))


def _is_script(text: str) -> bool:
    return "#!" in text or "NodeConfig" not in text


def _of_flags(lines: list[str], place: Place) -> Iterator[Taint]:
    for line in lines:
        for found in _FLAG.finditer(line):
            for word in found[1].split(","):
                if word.startswith("-"):
                    break
                name, _, effect = word.rpartition(":")
                yield from _taint(name, effect, place)


def _of_toml(lines: list[str], place: Place) -> Iterator[Taint]:
    inside = False
    for line in lines:
        if line.lstrip().startswith("["):
            inside = _TABLE.match(line) is not None
            continue
        entry = _ENTRY.match(line) if inside else None
        if entry is None:
            continue
        for words in _QUOTED.findall(entry[2]):
            value, _, effect = words.rpartition(":")
            yield from _taint(f"{entry[1]}={value}", effect, place)


def _taint(name: str, effect: str, place: Place) -> Iterator[Taint]:
    key, _, value = name.partition("=")
    if key and effect in EFFECTS and "$" not in name and "{" not in name:
        yield Taint(key, value, effect, place)
