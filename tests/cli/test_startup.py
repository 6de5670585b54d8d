from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from unpend.report.terminal import width
from unpend_schemas import load_json

POOL = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: [{key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}]
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260101}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
"""
DUMP: dict[str, Any] = {
    "kind": "List",
    "items": [
        {"kind": "Node", "metadata": {"name": "node-a", "creationTimestamp": "2026-03-01T11:00:00Z"}},
        {
            "kind": "Pod",
            "metadata": {"name": "a", "namespace": "shop", "creationTimestamp": "2026-03-01T12:00:00Z"},
            "spec": {"nodeName": "node-a"},
            "status": {
                "conditions": [
                    {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-03-01T12:00:02Z"},
                    {"type": "Ready", "status": "True", "lastTransitionTime": "2026-03-01T12:00:20Z"},
                ],
                "containerStatuses": [{"name": "a", "state": {"running": {"startedAt": "2026-03-01T12:00:05Z"}}}],
            },
        },
    ],
}
Run = Callable[..., Any]


@pytest.fixture
def cluster(project: Path) -> Path:
    (project / "nodes.yaml").unlink()
    (project / "pool.yaml").write_text(POOL, encoding="utf-8")
    return project


def test_a_waterfall_for_people(cluster: Path, unpend: Run) -> None:
    done = unpend("startup")
    assert (done.code, done.err) == (0, "")
    assert all(width(line) <= 80 for line in done.out.splitlines())
    assert "\x1b" not in done.out
    assert "NodePool/general, new node, typically" in done.out
    assert "instance boots" in done.out
    assert "what would shorten it" in done.out
    assert done.out.endswith("1 workload.\n")
    colored = unpend("startup", "--color", "always")
    assert "\x1b[" in colored.out


@pytest.mark.parametrize("columns", ["40", "60", "200"])
def test_the_width_of_the_terminal(cluster: Path, unpend: Run, columns: str) -> None:
    done = unpend("startup", COLUMNS=columns)
    assert done.code == 0
    if int(columns) >= 60:
        assert all(width(line) <= 80 for line in done.out.splitlines())


def test_json_follows_its_schema(cluster: Path, unpend: Run) -> None:
    done = unpend("startup", "--budget", "30s", "--output", "json")
    data = json.loads(done.out)
    jsonschema.Draft202012Validator(load_json("startup.schema.json")).validate(data)
    (workload,) = data["workloads"]
    assert workload["workload"] == "Deployment/shop/web"
    assert workload["budget"] == {"seconds": 30.0, "origin": "budget 'default'", "exceeded": True}
    assert [path["path"] for path in workload["pools"][0]["paths"]] == ["cached", "pull", "new-node"]
    for path in workload["pools"][0]["paths"]:
        for bound in ("best", "typical", "worst"):
            assert path["seconds"][bound] == pytest.approx(sum(s["seconds"][bound] for s in path["stages"]), abs=0.02)


def test_a_pod_without_a_place(project: Path, unpend: Run) -> None:
    done = unpend("startup", "--output", "text", "--output", "json:out.json")
    assert done.code == 0
    assert "no path: no pool takes it" in done.out
    data = json.loads((project / "out.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(load_json("startup.schema.json")).validate(data)
    assert data["workloads"][0]["pools"] == []


def test_one_of_many_workloads(cluster: Path, unpend: Run) -> None:
    text = (cluster / "app.yaml").read_text("utf-8")
    more = [text.replace("name: web, namespace", f"name: web-{n}, namespace") for n in range(8)]
    (cluster / "app.yaml").write_text("---\n".join(more), encoding="utf-8")
    all_of_them = unpend("startup")
    assert "The waterfall of one workload: -w" in all_of_them.out
    one = unpend("startup", "-w", "deployment/web-3")
    assert "instance boots" in one.out
    assert one.out.endswith("1 workload.\n")
    assert unpend("startup", "-w", "web-9").code == 2


def test_what_the_config_says(cluster: Path, unpend: Run) -> None:
    (cluster / ".unpend.yaml").write_text(
        "startup: {profile: own.yaml, budget: {default: 30s}}\nimages: [images/*.json]\n", encoding="utf-8"
    )
    (cluster / "own.yaml").write_text("name: own\nstages: {boot: {best: 1, typical: 2, worst: 3}}\n", encoding="utf-8")
    (cluster / "images").mkdir()
    manifest = {"config": {"size": 1000}, "layers": [{"size": 124_000}]}
    (cluster / "images" / "web.json").write_text(json.dumps(manifest), encoding="utf-8")
    done = unpend("startup", "--output", "json")
    (workload,) = json.loads(done.out)["workloads"]
    assert workload["images"][0]["bytes"] == {"best": 125_000, "typical": 125_000, "worst": 125_000}
    (pool,) = workload["pools"]
    assert pool["profile"] == "own"
    boot = next(s for s in pool["paths"][2]["stages"] if s["stage"] == "boot")
    assert boot["seconds"] == {"best": 1, "typical": 2, "worst": 3}
    assert "name: own" not in unpend("config", "--show").out
    assert "profile: own.yaml" in unpend("config", "--show").out
    checked = unpend("check", "--select", "cold-start-over-budget", "--fail-on", "warning")
    assert checked.code == 1
    assert "over the budget of 30 s" in checked.out


def test_an_oci_layout_is_read_with_its_blobs(cluster: Path, unpend: Run) -> None:
    (cluster / ".unpend.yaml").write_text("images: build/*/index.json\n", encoding="utf-8")
    blobs = cluster / "build" / "layout" / "blobs" / "sha256"
    blobs.mkdir(parents=True)
    digest = "ab" * 32
    (blobs / digest).write_text(json.dumps({"layers": [{"size": 5_000_000}]}), encoding="utf-8")
    entries = [
        {"digest": f"sha256:{digest}", "annotations": {"io.containerd.image.name": "example.com/web:1"}},
        {"digest": "sha256:../../../../etc/passwd"},
        {"digest": "sha256:" + "cd" * 32},
    ]
    index = cluster / "build" / "layout" / "index.json"
    index.write_text(json.dumps({"manifests": entries}), encoding="utf-8")
    (workload,) = json.loads(unpend("startup", "--output", "json").out)["workloads"]
    assert workload["images"][0]["bytes"]["typical"] == 5_000_000


@pytest.mark.parametrize(
    ("config", "files", "message"),
    [
        ("startup: {profile: none.yaml}", {}, "none.yaml: cannot be read"),
        ("startup: {profile: own.yaml}", {"own.yaml": "stages: {boots: 3}"}, "'name' is a required property"),
        (
            "startup: {profile: own.yaml}",
            {"own.yaml": "name: a\nstages: {boot: {best: 3, typical: 2, worst: 1}}"},
            "does not hold",
        ),
        ("startup: {profile: own.yaml}", {"own.yaml": ""}, "is empty"),
        ("images: [none/*.json]", {}, "no file matches none/*.json"),
        ("images: web.json", {"web.json": "{}"}, "is no OCI layout"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_the_files_of_the_config(
    cluster: Path, unpend: Run, config: str, files: dict[str, str], message: str
) -> None:
    (cluster / ".unpend.yaml").write_text(config + "\n", encoding="utf-8")
    for name, text in files.items():
        (cluster / name).write_text(text, encoding="utf-8")
    done = unpend("startup")
    assert done.code == 2
    assert message in done.err


def test_wrong_parameters(cluster: Path, unpend: Run) -> None:
    assert unpend("startup", "--budget", "fast").code == 2
    assert unpend("startup", "--output", "sarif").code == 2
    assert unpend("calibrate", "none.json").code == 2
    assert unpend("calibrate", "pool.yaml", "--today", "soon").code == 2


def test_nothing_met(project: Path, unpend: Run) -> None:
    (project / "app.yaml").unlink()
    (project / "nodes.yaml").unlink()
    done = unpend("startup")
    assert done.code == 3
    assert "no Kubernetes object was met" in done.err


def test_calibrate_writes_a_profile_that_startup_reads(cluster: Path, unpend: Run) -> None:
    (cluster / "dump.json").write_text(json.dumps(DUMP), encoding="utf-8")
    table = unpend("calibrate", "dump.json")
    assert table.code == 0
    assert "1 pod in the dump" in table.out
    assert "no data" in table.out
    assert all(width(line) <= 80 for line in table.out.splitlines())
    done = unpend("calibrate", "dump.json", "--output", "json:measured.json", "--today", "2026-03-02")
    assert (done.code, done.out) == (0, "")
    assert "not measured, the default stays: detection" in done.err
    profile = json.loads((cluster / "measured.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(load_json("startup-profile.schema.json")).validate(profile)
    assert profile["date"] == "2026-03-02"
    (cluster / "dump.json").unlink()
    (cluster / ".unpend.yaml").write_text("startup: {profile: measured.json}\n", encoding="utf-8")
    (workload,) = json.loads(unpend("startup", "app.yaml", "pool.yaml", "-o", "json").out)["workloads"]
    stages = {s["stage"]: s["seconds"] for s in workload["pools"][0]["paths"][0]["stages"]}
    assert stages["scheduling"] == {"best": 2, "typical": 2, "worst": 2}
    assert stages["application"] == {"best": 15, "typical": 15, "worst": 15}


def test_calibrate_reads_standard_input_and_yaml(cluster: Path, unpend: Run) -> None:
    import yaml

    done = unpend("calibrate", "-", "-o", "json", stdin=yaml.safe_dump(DUMP))
    assert done.code == 0
    assert json.loads(done.out)["stages"]["scheduling"]["typical"] == 2
    assert unpend("calibrate", "-", stdin="{}").code == 3
    assert unpend("calibrate", "-", stdin="{").code == 2
