"""What `import unpend` offers."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

import unpend
from unpend.config.errors import ConfigError
from unpend.config.load import read_config
from unpend.settings import World

NODE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1", "labels": {"kubernetes.io/hostname": "n1"}},
    "status": {"allocatable": {"cpu": "4", "memory": "16Gi", "pods": "58"}},
}


SMALL = {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "64Mi"}}


def _pod(name: str = "web", **spec: Any) -> dict[str, Any]:
    containers = [{"name": "web", "image": "web:1", "resources": SMALL}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers, **spec}}


def test_evaluate_gives_a_verdict_for_every_workload() -> None:
    fits, never = unpend.evaluate([NODE, _pod(), _pod("batch", nodeSelector={"pool": "batch"})])
    assert (fits.workload, fits.verdict, fits.cause) == ("Pod/web", "fits", None)
    assert (never.verdict, never.cause) == ("never", "labels")
    shape = never.to_dict()
    assert shape["replicas"]["placeable"] == 0
    assert shape["contention"] == []
    assert shape["pools"][0]["obstacles"][0]["at"] is None


def test_evaluate_takes_lists_and_changes_nothing() -> None:
    objects = [{"apiVersion": "v1", "kind": "List", "items": [NODE, _pod()]}]
    before = repr(objects)
    assert [v.verdict for v in unpend.evaluate(objects)] == ["fits"]
    assert repr(objects) == before


def test_evaluate_is_a_closed_world() -> None:
    assert [v.verdict for v in unpend.evaluate([NODE, _pod(nodeSelector={"a": "b"})], unpend.Settings())] == ["never"]


def test_admission_runs_for_pods_from_templates_unless_told_otherwise() -> None:
    limit = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "l"},
        "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "8"}, "default": {"cpu": "8"}}]},
    }
    template = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "web", "image": "web:1"}]}}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": template},
    }
    objects = [NODE, limit, _pod(containers=[{"name": "web", "image": "web:1"}]), deployment]
    assert [v.verdict for v in unpend.evaluate(objects)] == ["fits", "never"]
    assert [v.verdict for v in unpend.evaluate(objects, unpend.Settings(admission="all"))] == ["never", "never"]
    assert [v.verdict for v in unpend.evaluate(objects, unpend.Settings(admission="none"))] == ["fits", "fits"]


def test_check_takes_text_or_objects() -> None:
    pod = _pod(tolerations=[{"operator": "Exists"}])
    (finding,) = unpend.check([pod]).findings
    assert (finding.rule, finding.location) == ("tolerate-everything", None)
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n"
        "  tolerations: [{operator: Exists}]\n  containers:\n    - {name: a, image: a:1, resources: {requests: "
        "{cpu: 100m, memory: 64Mi}, limits: {memory: 64Mi}}}\n"
    )
    (located,) = unpend.check(text, uri="a.yaml").findings
    assert located.location is not None
    assert located.location.uri == "a.yaml"
    assert located.fingerprint == finding.fingerprint
    assert unpend.check(text, config=read_config("ignoreRules: [tolerate-everything]")).findings == ()


def test_check_judges_expiry_by_now() -> None:
    pod = _pod(tolerations=[{"operator": "Exists"}])
    pod["metadata"]["annotations"] = {"unpend.dev/ignore": "tolerate-everything until=2026-01-31"}
    assert unpend.check([pod]).active == ()
    later = unpend.Settings(now=datetime(2026, 2, 1, tzinfo=timezone.utc))
    assert {f.rule for f in unpend.check([pod], later).active} == {"tolerate-everything", "unused-suppression"}


def test_load_settings(tmp_path: Path) -> None:
    path = tmp_path / ".unpend.yaml"
    path.write_text("clusters: {prod: {region: us-east-1}, dev: {}}\n", encoding="utf-8")
    assert unpend.load_settings(str(path), "prod").region == "us-east-1"
    with pytest.raises(ConfigError, match="several clusters"):
        unpend.load_settings(str(path))


def test_everything_that_is_offered_exists() -> None:
    for name in unpend.__all__:
        assert getattr(unpend, name) is not None
    with pytest.raises(AttributeError):
        unpend.nothing  # noqa: B018


def test_in_an_open_world_placement_rules_give_hints() -> None:
    tainted = {**NODE, "spec": {"taints": [{"key": "dedicated", "effect": "NoSchedule"}]}}
    result = unpend.check([tainted, _pod()])
    assert [(f.rule, f.severity) for f in result.findings] == [("untolerated-taint", "info")]
    assert "in the pools found here" in result.findings[0].message
    assert [w.verdict for w in result.workloads] == ["conditional"]
    closed = unpend.Settings(world=World.all_closed())
    assert [(f.rule, f.severity) for f in unpend.check([tainted, _pod()], closed).findings] == [
        ("untolerated-taint", "error")
    ]
