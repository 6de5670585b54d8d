"""What the corpus of real situations says is the same against a snapshot of its capacity."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from unpend.cli.snapshot import snapshot_text
from unpend.engine.run import ClusterInput, cluster_input
from unpend.placement.evaluate import evaluate_inventory
from unpend.settings import Settings, World
from unpend.source.document import Reading
from unpend.source.reading import read_text

REAL = Path(__file__).resolve().parents[2] / "fixtures" / "conformance" / "real"
CASES = sorted(path.name for path in REAL.iterdir() if path.is_dir())


def _read(texts: dict[str, str], settings: Settings) -> ClusterInput:
    readings = [read_text(text, uri) for uri, text in texts.items()]
    reading = Reading(
        tuple(d for r in readings for d in r.documents),
        tuple(o for r in readings for o in r.objects),
        tuple(t for r in readings for t in r.troubles),
    )
    return cluster_input("", reading, settings)


def _said(cluster: ClusterInput) -> dict[str, tuple[object, ...]]:
    return {
        v.workload: (v.verdict, v.cause, v.replicas, v.zones, [(p.pool, p.verdict, p.types) for p in v.pools])
        for v in evaluate_inventory(cluster.inventory, cluster.settings)
        if not v.workload.startswith("DaemonSet/")
    }


@pytest.mark.parametrize("case", CASES)
def test_verdicts_survive_the_export(case: str) -> None:
    texts = {
        p.name: p.read_text(encoding="utf-8") for p in sorted((REAL / case).glob("*.yaml")) if p.name != "case.yaml"
    }
    settings = Settings(world=World.all_closed())
    original = _read(texts, settings)
    text = snapshot_text(original, settings, date(2026, 1, 1), None)
    if text is None or any(group.object.form for group in original.inventory.node_groups):
        pytest.skip("nothing to export")
    again = _read({**texts, "snapshot.yaml": text}, settings)
    exported = {
        (o.api_version, o.kind, str(o.data.get("metadata"))) for o in again.objects if o.document.uri == "snapshot.yaml"
    }
    assert len(exported) > 1
    # The capacity of the original files goes, that of the snapshot stays.
    sources = [item for item, _ in _capacity(original)]
    kept = [o for o in original.objects if all(o is not item for item in sources)]
    snapshot = read_text(text, "snapshot.yaml")
    merged = Reading(tuple(dict.fromkeys(())), (*kept, *snapshot.objects), ())
    assert _said(cluster_input("", merged, settings)) == _said(original)


def _capacity(cluster: ClusterInput) -> list[tuple[object, object]]:
    from unpend.model.snapshot import capacity_of

    return list(capacity_of(cluster.objects, cluster.inventory))
