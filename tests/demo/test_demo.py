"""What the bundled example cluster shows: one fault a workload, every kind of verdict, silence on the good half."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "fixtures" / "demo"

GOOD = (
    "Deployment/shop/web",
    "Deployment/shop/cart",
    "Deployment/shop/search",
    "CronJob/data/invoices",
    "DaemonSet/kube-system/node-agent",
    "Deployment/kube-system/karpenter",
)
FAULTS = {
    "Deployment/shop/checkout": "toleration-value-mismatch",
    "Deployment/shop/recommender": "pod-larger-than-pool-limits",
    "Deployment/shop/payments": "spread-selector-misses-own-pods",
    "PodDisruptionBudget/shop/payments": "pdb-min-available-ge-replicas",
    "HorizontalPodAutoscaler/shop/payments": "hpa-target-missing",
    "CronJob/data/nightly-export": "deprecated-node-label",
    "StatefulSet/data/ledger": "contradictory-node-affinity",
    "Deployment/data/reports": "priority-class-missing",
    "Deployment/ml/inference": "autoscaler-scheduler-disagree",
    "Deployment/ml/features": "label-near-miss",
    "Deployment/ml/training": "verdict-unknown",
    "StorageClass/gp2": "storageclass-immediate-binding",
}


@pytest.fixture(scope="module")
def report() -> Any:
    command = [sys.executable, "-m", "unpend", "check", "apps", "--output", "json", "--today", "2026-01-01"]
    done = subprocess.run(command, cwd=DEMO, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    return json.loads(done.stdout)


def _id(finding: Any) -> str:
    parts = finding["object"]
    return "/".join(part for part in (parts["kind"], parts["namespace"], parts["name"]) if part)


def test_every_fault_is_found(report: Any) -> None:
    found = defaultdict(set)
    for finding in report["findings"]:
        found[_id(finding)].add(finding["rule"])
    assert {name: rule for name, rule in FAULTS.items() if rule not in found[name]} == {}


def test_the_good_half_is_silent(report: Any) -> None:
    said = [(_id(f), f["rule"]) for f in report["findings"] if f["severity"] != "info" and _id(f) in GOOD]
    assert said == []


def test_nothing_else_is_an_error(report: Any) -> None:
    errors = {(_id(f), f["rule"]) for f in report["findings"] if f["severity"] == "error"}
    assert errors <= set(FAULTS.items())


def _one(report: Any, name: str) -> Any:
    (finding,) = (f for f in report["findings"] if _id(f) == name and f["rule"] == FAULTS[name])
    return finding


def test_a_class_that_is_not_there_is_told_with_the_one_that_is_meant(report: Any) -> None:
    said = _one(report, "Deployment/data/reports")["message"]
    assert said == (
        'There is no PriorityClass "business-crtical" (did you mean "business-critical"?): every pod is refused.'
    )


def test_a_device_that_no_plugin_announces_is_not_told_to_be_dropped(report: Any) -> None:
    finding = _one(report, "Deployment/ml/inference")
    plugin = "DaemonSet/kube-system/nvidia-device-plugin"
    assert finding["repair"].startswith(f"let {plugin} run on the nodes of NodePool/gpu")
    assert [(r["message"], r["object"]) for r in finding["related"]] == [(f"of {plugin}", plugin)]


def test_the_verdicts_are_of_every_kind(report: Any) -> None:
    verdicts = {w["workload"]: w["verdict"] for w in report["workloads"]}
    assert verdicts["Deployment/ml/inference"] == "loop"
    assert verdicts["Deployment/ml/training"] == "conditional"
    assert {verdicts[n] for n in ("Deployment/shop/checkout", "Deployment/data/reports")} == {"never"}
    assert verdicts["CronJob/data/invoices"] == "fits"
    assert not {verdicts[name] for name in GOOD} & {"never", "loop", "partial"}
    assert len(verdicts) >= 12


def test_a_snapshot_of_its_pools_says_the_same(report: Any, tmp_path: Path) -> None:
    snapshot = tmp_path / "pools.yaml"
    unpend = [sys.executable, "-m", "unpend"]
    subprocess.run([*unpend, "pools", "--export", str(snapshot)], cwd=DEMO, capture_output=True, check=True)
    apps = [str(DEMO / "apps")]
    command = [*unpend, "explain", "--isolated", "--pools", str(snapshot), "--output", "json", *apps]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    again = {w["workload"]: (w["verdict"], w["cause"], w["zones"]) for w in json.loads(done.stdout)["workloads"]}
    first = {w["workload"]: (w["verdict"], w["cause"], w["zones"]) for w in report["workloads"]}
    # Karpenter's own Deployment stays where it is deployed.
    assert again == {name: said for name, said in first.items() if name != "Deployment/kube-system/karpenter"}
