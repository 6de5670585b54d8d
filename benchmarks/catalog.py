"""How long the AWS catalogue takes to load and to index, and how large it is.

python benchmarks/catalog.py
"""

from __future__ import annotations

import sys
import time
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parent.parent
T = TypeVar("T")


def best_of(times: int, run: Callable[[], T]) -> tuple[float, T]:
    """Milliseconds of the fastest run, and its result."""
    fastest = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        result = run()
        fastest = min(fastest, time.perf_counter() - start)
    return fastest * 1000, result


def build() -> object:
    from unpend.algebra.values import one_of
    from unpend.catalog.aws import LABELS, AwsCatalog
    from unpend.catalog.catalog import Zone
    from unpend_schemas import load_json

    catalog = AwsCatalog(load_json("catalog/aws.json"))
    shapes = catalog.shapes(region="us-east-1", zones=[Zone(f"us-east-1{letter}") for letter in "abc"])
    for key in LABELS:
        shapes.may(key, one_of(["x"]))
    for name in shapes.resources.names:
        shapes.resources.fits(name, 1)
    return catalog


def main() -> int:
    for folder in ("schemas", "rules", "lint"):
        sys.path.insert(0, str(ROOT / folder))
    from unpend.algebra.values import at_least, one_of
    from unpend.catalog.aws import INSTANCE, AwsCatalog
    from unpend.catalog.catalog import Zone
    from unpend.catalog.profile import NodeProfile
    from unpend_schemas import load_json

    file = ROOT / "schemas" / "unpend_schemas" / "data" / "catalog" / "aws.json"
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(file, file.name)
    print(f"aws.json: {file.stat().st_size:,} bytes, {len(packed.getvalue()):,} in the wheel")
    loading, catalog = best_of(5, lambda: AwsCatalog(load_json("catalog/aws.json")))
    print(f"load: {loading:.1f} ms")
    building, _ = best_of(5, build)
    print(f"load, every label and resource indexed: {building:.1f} ms")
    number = iter(range(100, 1000))
    profile, _ = best_of(5, lambda: catalog.resources(NodeProfile(max_pods=next(number))))
    print(f"allocatable of all types for one more node profile: {profile:.1f} ms")
    shapes = catalog.shapes(region="us-east-1", zones=[Zone("us-east-1a")])
    wanted = (INSTANCE + "category", one_of(["m", "c"])), (INSTANCE + "generation", at_least(6))

    def ask() -> int:
        mask = shapes.all
        for key, values in wanted:
            mask &= shapes.may(key, values)
        return mask & shapes.resources.takes({"cpu": 3500, "memory": 8 << 40}).possible

    ask()
    asking, _ = best_of(5, lambda: [ask() for _ in range(1000)])
    print(f"one question (two labels, two resources): {asking:.1f} µs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
