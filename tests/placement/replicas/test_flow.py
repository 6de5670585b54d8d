"""Filling cells within intervals: closed form and flow against trying every filling."""

from __future__ import annotations

import random
from itertools import product

import pytest

from unpend.placement.replicas.flow import Partition, chains, fill, refines
from unpend.placement.replicas.world import Budget


def naive(room: list[int], partitions: list[Partition], limit: int) -> int | None:
    best: int | None = None
    for cells in product(*(range(r + 1) for r in room)):
        if sum(cells) > limit:
            continue
        for partition in partitions:
            sums = [0] * len(partition.low)
            for domain, count in zip(partition.of, cells, strict=True):
                sums[domain] += count
            bounds = zip(partition.low, sums, partition.high, strict=True)
            if not all(low <= count <= high for low, count, high in bounds):
                break
        else:
            best = max(best or 0, sum(cells))
    return best


def random_partition(rng: random.Random, cells: int) -> Partition:
    domains = rng.randint(1, 3)
    low = tuple(rng.choice((0, 0, 0, 1, 2)) for _ in range(domains))
    return Partition(
        tuple(rng.randrange(domains) for _ in range(cells)), low, tuple(x + rng.randint(0, 3) for x in low)
    )


def nested(rng: random.Random, cells: int) -> list[Partition]:
    fine = random_partition(rng, cells)
    merged = tuple(d // 2 for d in fine.of)
    return [fine, Partition(merged, (0, 0), (rng.randint(1, 4), rng.randint(1, 4)))]


@pytest.mark.parametrize("seed", range(120))
def test_up_to_two_chains_are_exact(seed: int) -> None:
    rng = random.Random(seed)
    cells = rng.randint(1, 5)
    room = [rng.randint(0, 3) for _ in range(cells)]
    partitions = rng.choice(
        (
            [],
            [random_partition(rng, cells)],
            nested(rng, cells),
            [random_partition(rng, cells), random_partition(rng, cells)],
        )
    )
    limit = rng.randint(1, 10)
    order = chains([p.of for p in partitions])
    found = fill(room, partitions, order, limit, Budget(100))
    assert len(order) <= 2
    assert (found.total if found else None) == naive(room, partitions, limit)
    if found:
        assert sum(found.cells) == found.total
        assert naive(list(found.cells), partitions, limit) == found.total


@pytest.mark.parametrize("seed", range(60))
def test_three_crossing_partitions_are_bounded_from_above(seed: int) -> None:
    rng = random.Random(seed)
    room = [rng.randint(0, 3) for _ in range(4)]
    partitions = [random_partition(rng, 4) for _ in range(3)]
    found = fill(room, partitions, chains([p.of for p in partitions]), 9, Budget(100))
    truth = naive(room, partitions, 9)
    if truth is not None:
        assert found is not None
        assert found.total >= truth


def test_chains_go_from_coarse_to_fine() -> None:
    zone, host, kind = (0, 0, 1, 1), (0, 1, 2, 3), (0, 1, 0, 1)
    assert refines(host, zone)
    assert not refines(zone, kind)
    assert chains([host, zone]) == ((1, 0),)
    assert len(chains([zone, kind, host])) == 2
