"""`--zone-shift`, and the matrix workload × zone of `unpend explain`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from unpend_schemas import load_json

ZONE = "topology.kubernetes.io/zone"
NODE = """
apiVersion: v1
kind: Node
metadata: {{name: n-{zone}, labels: {{kubernetes.io/hostname: n-{zone}, {key}: {zone}}}}}
status: {{allocatable: {{cpu: "4", memory: 16Gi, pods: "58"}}}}
---"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: shop}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      {spec}
      containers: [{{name: web, image: web:1, resources: {{requests: {{cpu: 100m, memory: 64Mi}}}}}}]
---"""


def spread(name: str, when: str) -> str:
    selector = f"{{matchLabels: {{app: {name}}}}}"
    rest = f"whenUnsatisfiable: {when}, labelSelector: {selector}"
    return f"topologySpreadConstraints: [{{maxSkew: 1, topologyKey: {ZONE}, {rest}}}]"


@pytest.fixture
def cluster(project: Path) -> Path:
    texts = [NODE.format(zone=zone, key=ZONE) for zone in "abc"]
    texts.append(DEPLOYMENT.format(name="hard", replicas=6, spec=spread("hard", "DoNotSchedule")))
    texts.append(DEPLOYMENT.format(name="soft", replicas=6, spec=spread("soft", "ScheduleAnyway")))
    texts.append(DEPLOYMENT.format(name="pinned", replicas=2, spec=f"nodeSelector: {{{ZONE}: a}}"))
    texts.append(DEPLOYMENT.format(name="free", replicas=2, spec="restartPolicy: Always"))
    (project / "cluster.yaml").write_text("".join(texts), encoding="utf-8")
    return project


def test_explain_shows_who_notices_the_loss_of_a_zone(unpend: Any, cluster: Path) -> None:
    done = unpend("explain", "cluster.yaml")
    assert (done.code, done.err) == (0, "")
    lines = done.out[done.out.index("Without a zone") :].splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines if line.startswith("  Deployment")}
    assert rows == {
        "Deployment/shop/hard": ["ok,", "shift", "2/6"] * 3,
        "Deployment/shop/soft": ["ok,", "soft"] * 3,
        "Deployment/shop/pinned": ["none"],
    }
    assert "1 workload keeps all replicas without any one zone." in done.out


def test_the_matrix_as_json(unpend: Any, cluster: Path) -> None:
    done = unpend("explain", "-w", "pinned", "--output", "json", "cluster.yaml")
    data = json.loads(done.out)
    jsonschema.validate(data, load_json("output.schema.json"))
    (row,) = data["zoneLoss"]
    (cell,) = row["zones"]
    assert (row["workload"], row["needed"], cell["zone"]) == ("Deployment/shop/pinned", 2, "a")
    assert cell["loss"] == {"verdict": "never", "cause": "labels", "placeable": 0}
    assert (cell["savedByScheduleAnyway"], cell["strandedVolumes"]) == (False, [])


def test_check_says_nothing_of_the_matrix(unpend: Any, cluster: Path) -> None:
    assert "zoneLoss" not in json.loads(unpend("check", "--output", "json", "cluster.yaml").out)


def test_a_zone_shift_is_the_world_of_the_whole_run(unpend: Any, cluster: Path) -> None:
    done = unpend("explain", "--zone-shift", "a", "-w", "pinned", "-w", "hard", "cluster.yaml")
    assert "Deployment/shop/pinned: never" in done.out
    assert "Deployment/shop/hard: partial (topology)" in done.out
    done = unpend("check", "--complete", "--zone-shift=a", "--output", "json", "cluster.yaml")
    verdicts = {w["workload"]: w["verdict"] for w in json.loads(done.out)["workloads"]}
    assert verdicts["Deployment/shop/pinned"] == "never"
    assert verdicts["Deployment/shop/free"] == "fits"


def test_a_zone_that_nothing_is_in_is_said(unpend: Any, cluster: Path) -> None:
    done = unpend("explain", "--zone-shift", "x", "cluster.yaml")
    assert "zone shift: no pool or Node is in zone x" in done.err
