"""Arbitrary repositories: patches, charts, custom resources, files of other tools. No crash, and no nonsense."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2] / "fixtures" / "public-style"
ADVICE = "missing-requests"  # right in these files, which are kept short


@pytest.fixture
def tree(project: Path) -> Path:
    target = project / "tree"
    shutil.copytree(ROOT, target)
    return target


@pytest.mark.parametrize("arguments", [(), ("--complete",)])
def test_nothing_is_wrong_with_what_others_publish(unpend: Any, tree: Path, arguments: tuple[str, ...]) -> None:
    done = unpend("check", ".", "--ignore", ADVICE, "-o", "json", *arguments, cwd=tree)
    said = [
        (finding["location"]["uri"], finding["rule"], finding["message"])
        for finding in json.loads(done.out)["findings"]
        if finding["severity"] != "info"
    ]
    assert said == []
    assert done.code == 0
    assert sorted(done.err.splitlines()) == [
        "unpend: chart: 1 template is not rendered and not checked; check what `helm template chart` prints",
        "unpend: kustomize/overlays/prod/kustomization.yaml: 4 patches are not checked without what they change; "
        "check what `kustomize build kustomize/overlays/prod` prints",
        "unpend: no Node, NodePool or node group is among the files: whether pods can be placed is not judged; "
        "name what makes nodes with --pools PATH, or as pools of a cluster in .unpend.yaml",
        "unpend: tsconfig.json: not checked, not valid YAML: did not find expected ',' or '}' "
        "(while parsing a flow mapping)",
    ]


def test_templates_of_pods_are_found_wherever_they_stand(unpend: Any, tree: Path) -> None:
    done = unpend("explain", ".", "-o", "json", cwd=tree)
    assert {workload["workload"] for workload in json.loads(done.out)["workloads"]} == {
        "AutoscalingRunnerSet/a",
        "CloneSet/c",
        "Deployment/${ns}/subst",
        "Deployment/web",
        "Elasticsearch/e",
        "Job/v",
        "JobSet/j",
        "LeaderWorkerSet/l:spec.leaderWorkerTemplate.leaderTemplate",
        "LeaderWorkerSet/l:spec.leaderWorkerTemplate.workerTemplate",
        "Object/o",
        "PyTorchJob/p",
        "RayCluster/r:spec.headGroupSpec.template",
        "RayCluster/r:spec.workerGroupSpecs[0].template",
        "RayJob/j:spec.rayClusterSpec.headGroupSpec.template",
        "RayJob/j:spec.submitterPodTemplate",
        "Rollout/r2",
        "Service/k",
    }


@pytest.mark.parametrize("name", ["affinity", "cronjob", "delete", "replicas", "resources"])
def test_a_patch_that_is_named_is_known_by_what_it_lacks(unpend: Any, tree: Path, name: str) -> None:
    done = unpend("check", f"kustomize/overlays/prod/{name}.yaml", "-o", "json", cwd=tree)
    (finding,) = json.loads(done.out)["findings"]
    assert finding["severity"] == "info"
    assert "check what `kustomize build` prints" in finding["message"]
    assert json.loads(done.out)["workloads"] == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kind: Deployment\nspec: {selector: {matchLabels: {a: b}}, template: {}}", "at least one container"),
        (
            "kind: Deployment\nspec: {template: {spec: {containers: [{name: c, image: i}]}}}",
            "A Deployment needs a selector",
        ),
        ("kind: Deployment\nspec: {template: {spec: {containers: []}}}", "at least one container"),
        ("kind: Deployment\nspec: 5", "`spec` must be a mapping"),
    ],
)
def test_what_lacks_one_thing_is_a_manifest_with_a_fault(unpend: Any, project: Path, text: str, said: str) -> None:
    (project / "one.yaml").write_text(f"apiVersion: apps/v1\nmetadata: {{name: x}}\n{text}\n", encoding="utf-8")
    done = unpend("check", "one.yaml", "-o", "concise")
    assert done.code == 1
    assert said in done.out
