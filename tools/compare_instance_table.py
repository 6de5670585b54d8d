"""Compares the AWS catalogue with the labels and allocatable that Karpenter publishes per instance type.

    python tools/compare_instance_table.py [--all]

The table is no input of the catalogue's generator. Exits 1 when an unexplained difference is found, or when more than
1 % of the compared values differ.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "fixtures" / "conformance" / "catalog" / "karpenter-aws-instance-table.json.gz"
EXCEPTIONS = ROOT / "fixtures" / "conformance" / "catalog" / "exceptions.json"
MOST = 0.01


class Difference(NamedTuple):
    """One value that is not the same on both sides; None is "not there"."""

    type: str
    fact: str
    table: str | None
    ours: str | None


def table() -> Mapping[str, Any]:
    """Type → labels and allocatable, as published."""
    types: Mapping[str, Any] = json.loads(gzip.decompress(TABLE.read_bytes()))["types"]
    return types


def compare() -> tuple[int, int, list[Difference]]:
    """Types and values compared, and what differs."""
    from unpend.algebra.quantity import milli
    from unpend.catalog.aws import TENANCY, aws_catalog

    catalog = aws_catalog()
    shapes = catalog.shapes()
    types = values = 0
    differences: list[Difference] = []
    for name, published in table().items():
        number = catalog.number(name)
        if number is None:
            continue
        types += 1
        ours = shapes.type(number)
        mine = {key: value[0] for key, value in ours.labels.items() if key != TENANCY and value[0]}
        mine.pop("karpenter.sh/capacity-type", None)
        for key in sorted(mine.keys() | published["labels"].keys()):
            values += 1
            if mine.get(key) != published["labels"].get(key):
                differences.append(Difference(name, key, published["labels"].get(key), mine.get(key)))
        amounts = published["allocatable"]
        for key in sorted(amounts.keys() | ours.allocatable.keys()):
            values += 1
            there = milli(amounts.get(key, "0"))
            here = ours.allocatable.get(key, (0, 0))[0]
            if there != here:
                differences.append(Difference(name, key, amounts.get(key), str(here / 1000)))
    return types, values, differences


def explained(difference: Difference, exceptions: list[Mapping[str, Any]]) -> str | None:
    """The reason that the list gives for a difference."""
    family = difference.type.split(".")[0]
    for entry in exceptions:
        if entry["fact"] == difference.fact and (difference.type in entry["types"] or family in entry["families"]):
            return str(entry["reason"])
    return None


def report(show_all: bool) -> Iterator[str]:
    """The lines to print."""
    types, values, differences = compare()
    exceptions = json.loads(EXCEPTIONS.read_text(encoding="utf-8"))["exceptions"]
    unexplained = [d for d in differences if explained(d, exceptions) is None]
    share = len(differences) / values
    touched = len({d.type for d in differences})
    yield f"{types} types on both sides, {values:,} values compared: {values - len(differences):,} agree"
    yield f"{len(differences)} differ ({share:.2%}) on {touched} types, {len(unexplained)} of them unexplained"
    by_fact = Counter(d.fact for d in differences).most_common()
    for fact, count in by_fact:
        yield f"  {count:4} {fact}"
    if by_fact:
        most = by_fact[0][0]
        others = len({d.type for d in differences if d.fact != most})
        yield f"  types with a difference other than {most.rpartition('/')[2]}: {others} ({others / types:.1%})"
    for one in differences if show_all else unexplained[:50]:
        yield f"  {one.type} {one.fact}: table {one.table}, ours {one.ours}"
    if unexplained or share > MOST:
        yield "FAILED"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="show every difference")
    lines = list(report(parser.parse_args().all))
    print("\n".join(lines))
    return 1 if lines[-1] == "FAILED" else 0


if __name__ == "__main__":
    sys.exit(main())
