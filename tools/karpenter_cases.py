"""The instance types of Karpenter's conformance cases as catalogues of the published schema.

    python tools/karpenter_cases.py SET      print a set of `instance_type_sets.json` as a catalogue

`catalogs(case)` gives the catalogues of one case, ready for `Settings(catalogs=...)`: instance types by set name or
inline, and those of single NodePools (`instanceTypesByNodePool`).
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "fixtures" / "conformance" / "karpenter"
RESERVATION = "karpenter.test.sh/reservation-id"
WELL_KNOWN = ("size", "special", "integer", RESERVATION)
DEFAULT_CLASSES = (("karpenter.test.sh", "TestNodeClass"),)


@lru_cache(maxsize=8)
def _file(name: str) -> Any:
    data = (CASES / name).read_bytes() if (CASES / name).exists() else (CASES / f"{name}.gz").read_bytes()
    return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


def named_set(name: str) -> list[Mapping[str, Any]]:
    """The instance types of a named set, its filter applied to whole types and to offerings."""
    entry = _file("instance_type_sets.json")[name]
    types: list[Mapping[str, Any]] = _file(entry["file"])["instanceTypes"]
    dropped = (entry["filter"] or {}).get("drop", ())
    return [one for one in types if not any(_matches(one, drop) for drop in dropped)]


def _matches(one: Mapping[str, Any], wanted: Mapping[str, str]) -> bool:
    return all(value in one["labels"].get(key, ()) for key, value in wanted.items())


def instance_type(data: Mapping[str, Any]) -> dict[str, Any]:
    """One instance type of the corpus in the published form."""
    offerings = []
    for one in data["offerings"]:
        offering = {key: one[key] for key in ("zone", "capacityType", "price", "available") if key in one}
        if "reservationId" in one:
            offering["labels"] = {RESERVATION: one["reservationId"]}
            offering["count"] = one["reservationCapacity"]
        for ours, theirs in (("capacity", "capacityOverride"), ("overhead", "overheadOverride")):
            if theirs in one:
                offering[ours] = one[theirs]
        offerings.append(offering)
    return {key: data[key] for key in ("name", "labels", "capacity", "overhead")} | {"offerings": offerings}


def catalog(
    types: str | Sequence[Mapping[str, Any]],
    provides: Sequence[tuple[str, str]] = DEFAULT_CLASSES,
    pools: Sequence[str] | None = None,
) -> dict[str, Any]:
    """A catalogue of the types of a set (by name) or of a list."""
    listed = named_set(types) if isinstance(types, str) else types
    made = {
        "version": 1,
        "name": types if isinstance(types, str) else "inline",
        "source": "conformance corpus",
        "complete": True,
        "provides": [{"group": group, "kind": kind} for group, kind in provides],
        "wellKnownLabels": list(WELL_KNOWN),
        "instanceTypes": [instance_type(one) for one in listed],
    }
    return made if pools is None else made | {"nodePools": list(pools)}


def catalogs(case: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The catalogues of a case; they claim every node class that its NodePools refer to."""
    classes = dict.fromkeys(_node_class(pool) for pool in case.get("nodePools", ())) or dict.fromkeys(DEFAULT_CLASSES)
    provides = tuple(classes)
    made = []
    if case.get("instanceTypes"):
        made.append(catalog(case["instanceTypes"], provides))
    for pool, types in case.get("instanceTypesByNodePool", {}).items():
        made.append(catalog(types, provides, [pool]))
    return made


def _node_class(pool: Mapping[str, Any]) -> tuple[str, str]:
    reference = pool.get("spec", {}).get("template", {}).get("spec", {}).get("nodeClassRef") or {}
    return reference.get("group", DEFAULT_CLASSES[0][0]), reference.get("kind", DEFAULT_CLASSES[0][1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", help="name of a set")
    json.dump(catalog(parser.parse_args().set), sys.stdout, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
