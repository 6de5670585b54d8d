"""What counting replicas costs, in steps that do not depend on the machine, and in time.

    python -m benchmarks.replicas

Six zones × three capacity types × two architectures, two nodes each; four constraints: spread over zone, capacity type,
architecture and node. Each scene once with 50 and once with 500 replicas. Then 250, 500 and 1,000 workloads on the same
nodes, with three of the constraints each.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace

from unpend.placement.replicas.single import count_one
from unpend.placement.replicas.together import count_all
from unpend.placement.replicas.world import Budget, Kind, SpreadRow, World

ZONES, CAPACITY, ARCHES, NODES = 6, 3, 2, 2
STEPS = 20_000
WIDTH = ZONES * CAPACITY * ARCHES * NODES


def _row(of: Iterable[int], skew: int = 1) -> SpreadRow:
    domain = tuple(of)
    return SpreadRow(domain, (0,) * (max(domain) + 1), skew, False, 1, (0,))


def _rows() -> tuple[SpreadRow, SpreadRow, SpreadRow, SpreadRow]:
    zone = _row(i // (CAPACITY * ARCHES * NODES) for i in range(WIDTH))
    capacity = _row(i // (ARCHES * NODES) % CAPACITY for i in range(WIDTH))
    arch = _row((i // NODES % ARCHES for i in range(WIDTH)), skew=2)
    node = _row(range(WIDTH), skew=5)
    return zone, capacity, arch, node


def _world(replicas: int, rows: tuple[SpreadRow, ...], room: int | None, closed: Iterable[int] = ()) -> World:
    shut = set(closed)
    accepts = tuple(i not in shut for i in range(WIDTH))
    kind = Kind("web", replicas, accepts, (1,), rows)
    free = (None,) * WIDTH if room is None else ((room,),) * WIDTH
    return World(tuple(f"n{i}" for i in range(WIDTH)), free, (kind,))


def scenes(replicas: int) -> dict[str, World]:
    """The scenes by name."""
    zone, capacity, arch, node = _rows()
    first_zone = range(WIDTH // ZONES)
    hole = [i for i in range(WIDTH) if zone.domain[i] == 0 and capacity.domain[i] != 0]
    four = (zone, capacity, arch, node)
    tight = -(-replicas // WIDTH)
    return {
        "everything fits": _world(replicas, four, None),
        "one zone takes nothing": _world(replicas, four, None, first_zone),
        "nodes a little too small": _world(replicas, four, max(1, tight - 1)),
        "one zone has one capacity type": _world(replicas, four, max(1, tight), hole),
        "two keys, nodes too small": _world(replicas, (zone, capacity), max(1, tight - 1), hole),
        "zone and node (nested), too small": _world(replicas, (zone, node), max(1, tight - 1), first_zone),
    }


def main() -> None:
    """Print both tables."""
    print(f"{'scene':36}{'replicas':>9}{'answer':>12}{'levels':>8}{'flows':>7}{'states':>8}{'steps':>7}{'ms':>8}")
    for replicas in (50, 500):
        for name, world in scenes(replicas).items():
            budget = Budget(STEPS)
            start = time.perf_counter()
            found = count_one(world, budget)
            spent = (time.perf_counter() - start) * 1000
            answer = f"{found.at_least}..{found.at_most}" + {True: " s", False: "", None: " ?"}[found.stuck]
            numbers = f"{budget.levels:8}{budget.flows:7}{budget.states:8}{budget.used:7}{spent:8.1f}"
            print(f"{name:36}{replicas:9}{answer:>12}{numbers}")
    print()
    print(f"{'workloads':>9}{'ms each':>9}")
    for workloads in (250, 500, 1000):
        zone, capacity, _, node = _rows()
        kind = Kind("web", 5, (True,) * WIDTH, (1,), (zone, capacity, node))
        kinds = tuple(
            replace(kind, name=f"web{k}", spreads=tuple(replace(row, counted=(k,)) for row in kind.spreads))
            for k in range(workloads)
        )
        world = World(tuple(f"n{i}" for i in range(WIDTH)), ((10_000,),) * WIDTH, kinds)
        start = time.perf_counter()
        count_all(world, STEPS)
        print(f"{workloads:9}{(time.perf_counter() - start) * 1000 / workloads:9.2f}")


if __name__ == "__main__":
    main()
