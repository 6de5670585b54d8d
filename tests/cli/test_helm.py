"""Charts, rendered by a real Helm: `fixtures/charts` has a sub-chart under two names, hooks, CRDs and a `List`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORKER = "charts/worker/templates/deployment.yaml"


@pytest.fixture(autouse=True)
def helm() -> None:
    """In CI a missing Helm is a failure, not a reason to skip."""
    found = shutil.which("helm") or shutil.which("helm", path=str(Path.home() / "go" / "bin"))
    if found is None:
        assert not os.environ.get("CI"), "helm is missing: go install helm.sh/helm/v3/cmd/helm@latest"
        pytest.skip("helm is not installed")
    if shutil.which("helm") is None:
        os.environ["PATH"] = f"{Path(found).parent}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture
def charts(tmp_path: Path) -> Path:
    """A repository with the charts in it."""
    root = tmp_path / "repository"
    shutil.copytree(ROOT / "fixtures" / "charts", root / "infra" / "charts")
    (root / ".git").mkdir()
    shutil.move(root / "infra" / "charts" / "nodes.yaml", root / "capacity.yaml")
    return root


Run = Callable[..., Any]


@pytest.fixture
def findings(unpend: Run, charts: Path) -> Callable[..., list[dict[str, Any]]]:
    def run(*arguments: str, stdin: str = "") -> list[dict[str, Any]]:
        given = ("check", *arguments, "--pools", "capacity.yaml", "--output", "json")
        done = unpend(*given, cwd=charts, stdin=stdin)
        assert done.code in (0, 1), done.err
        found: list[dict[str, Any]] = json.loads(done.out)["findings"]
        return found

    return run


def origins(found: list[dict[str, Any]], rule: str) -> list[Any]:
    return [(f["object"]["name"], *(f["location"]["origin"] or {}).values()) for f in found if f["rule"] == rule]


def test_what_is_piped_in_is_shown_in_the_template_of_the_sub_chart(
    charts: Path, findings: Callable[..., list[dict[str, Any]]]
) -> None:
    command = ["helm", "template", "shop", "infra/charts/shop"]
    rendered = subprocess.run(command, cwd=charts, capture_output=True, text=True, check=True).stdout
    found = findings("-", stdin=rendered)
    path = f"infra/charts/shop/{WORKER}"
    assert origins(found, "unknown-label-key") == [("shop-mail", path, 16, True), ("shop-orders", path, 16, True)]
    lines = rendered.split("\n")
    for finding in found:
        start = finding["location"]["range"]["start"]["line"]
        if finding["rule"] == "unknown-label-key":
            assert "example.com/zone: nowhere" in lines[start - 1]


def test_a_rendered_file_is_mapped_as_well(charts: Path, findings: Callable[..., list[dict[str, Any]]]) -> None:
    command = ["helm", "template", "shop", "infra/charts/shop"]
    rendered = subprocess.run(command, cwd=charts, capture_output=True, text=True, check=True).stdout
    (charts / "rendered.yaml").write_text(rendered, encoding="utf-8")
    found = findings("rendered.yaml")
    assert origins(found, "unknown-label-key")[0][1] == f"infra/charts/shop/{WORKER}"


def test_a_chart_is_rendered_with_values_and_settings(findings: Callable[..., list[dict[str, Any]]]) -> None:
    chart = "infra/charts/shop"
    assert not origins(findings(chart, "--helm"), "unsatisfiable-node-requirements")
    for given in (("-f", f"{chart}/values/gpu.yaml"), ("--set", "pool=gpu")):
        [(name, path, line, exact)] = origins(findings(chart, "--helm", *given), "unsatisfiable-node-requirements")
        assert (name, path, exact) == ("shop-web", f"{chart}/templates/deployment.yaml", False)
        assert line == 20


def test_it_says_what_it_runs(unpend: Run, charts: Path) -> None:
    done = unpend("check", "infra/charts/shop", "--helm", "--set", "pool=a b", "--pools", "capacity.yaml", cwd=charts)
    assert "unpend: running helm template shop infra/charts/shop --set 'pool=a b'" in done.err
    done = unpend("check", "infra/charts/shop", "--helm", "-q", "--pools", "capacity.yaml", cwd=charts)
    assert done.err == ""


def test_tests_and_hooks_are_skipped_unless_the_hook_finds_no_node(
    charts: Path, findings: Callable[..., list[dict[str, Any]]]
) -> None:
    found = findings("infra/charts/shop", "--helm")
    names = {f["object"]["name"] for f in found if f["object"]}
    assert "shop-smoke" not in names
    assert "shop-migrate" not in names
    template = charts / "infra/charts/shop/templates/hooks.yaml"
    text = template.read_text(encoding="utf-8")
    template.write_text(text.replace("Never\n", "Never\n      nodeSelector: {a: b}\n"), encoding="utf-8")
    found = findings("infra/charts/shop", "--helm")
    assert [f["rule"] for f in found if f["object"]["name"] == "shop-migrate"] == ["unknown-label-key"]


def test_items_of_a_list_are_objects_and_braces_of_other_programs_are_text(
    findings: Callable[..., list[dict[str, Any]]],
) -> None:
    found = findings("infra/charts/list", "--helm")
    path = "infra/charts/list/templates/all.yaml"
    assert origins(found, "unknown-label-key") == [("first", path, 18, True), ("second", path, 18, True)]


def test_a_chart_that_does_not_render_is_one_finding_at_its_template(
    findings: Callable[..., list[dict[str, Any]]],
) -> None:
    found = findings("infra/charts/broken", "infra/charts/list", "--helm")
    [broken] = [f for f in found if f["rule"] == "chart-not-rendered"]
    assert broken["location"]["uri"] == "infra/charts/broken/templates/pod.yaml"
    assert broken["location"]["range"]["start"]["line"] == 7
    assert "team is required" in broken["message"]
    assert origins(found, "unknown-label-key"), "the other chart is checked"


def test_missing_dependencies_are_one_finding_that_says_what_helps(unpend: Run, charts: Path) -> None:
    shutil.rmtree(charts / "infra/charts/shop/charts")
    done = unpend("check", "infra/charts/shop", "--helm", "-o", "concise", cwd=charts)
    assert done.code == 1
    assert done.out.startswith("infra/charts/shop/Chart.yaml:1:1: error chart-not-rendered ")
    assert "run `helm dependency build infra/charts/shop`" in done.out


def test_a_warning_of_helm_loses_nothing(charts: Path, findings: Callable[..., list[dict[str, Any]]]) -> None:
    (charts / "note.txt").write_text("linked", encoding="utf-8")
    (charts / "infra/charts/list/note.txt").symlink_to(charts / "note.txt")
    command = ["helm", "template", "list", "infra/charts/list"]
    done = subprocess.run(command, cwd=charts, capture_output=True, text=True, check=True)
    assert "symbolic link" in done.stderr
    assert origins(findings("infra/charts/list", "--helm"), "unknown-label-key")


def test_sets_of_values_share_findings(unpend: Run, charts: Path) -> None:
    values = "infra/charts/shop/values"
    sets = [f"--values-set={name}={values}/{name}.yaml" for name in ("prod", "gpu")]
    done = unpend(
        "check", "infra/charts/shop", "--helm", *sets, "--pools", "capacity.yaml", "-o", "concise", cwd=charts
    )
    lines = done.out.splitlines()
    assert [line.split(" ")[4] if line.startswith("<helm") else line for line in lines if "shop" in line]
    assert sum("unknown-label-key" in line for line in lines) == 2, "once for each object, not for each set"
    marked = [line for line in lines if line.endswith("(values gpu)")]
    assert [("unsatisfiable-node-requirements" in line) for line in marked] == [True]


CONFIG = """\
clusters:
  prod: {pools: [capacity.yaml]}
  small: {pools: [capacity.yaml]}
charts:
  - path: infra/charts/shop
    release: store
    namespace: store
    set: [cpu=300m]
    sets:
      default: {}
      gpu: {values: infra/charts/shop/values/gpu.yaml, clusters: [prod]}
  - path: infra/charts/list
"""


def test_the_config_lists_charts_with_their_sets(unpend: Run, charts: Path) -> None:
    (charts / ".unpend.yaml").write_text(CONFIG, encoding="utf-8")
    done = unpend("check", "--helm", "-o", "json", cwd=charts)
    assert done.code == 1, done.err
    assert "helm template store infra/charts/shop --namespace store" in done.err
    report = json.loads(done.out)
    gpu = [f for f in report["findings"] if f["rule"] == "unsatisfiable-node-requirements"]
    assert [(f["clusters"], f["object"]["name"]) for f in gpu] == [(["prod/gpu"], "store-web")]
    shared = [f for f in report["findings"] if f["rule"] == "unknown-label-key"]
    assert {tuple(f["clusters"]) for f in shared} == {("prod/default", "prod/gpu", "small/default")}
    done = unpend("check", cwd=charts)
    assert "give --helm" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "a=b"], "--set is for --helm"),
        (["capacity.yaml", "--helm"], "--helm needs a chart"),
        (["infra/charts/shop", "--helm", "--values-set", "prod"], "write it as NAME=FILE"),
    ],
)
def test_what_does_not_go_together(unpend: Run, charts: Path, arguments: list[str], message: str) -> None:
    done = unpend("check", *arguments, cwd=charts)
    assert done.code == 2
    assert message in done.err


def test_without_helm_the_run_is_not_trustworthy(unpend: Run, charts: Path) -> None:
    done = unpend("check", "infra/charts/shop", "--helm", cwd=charts, PATH="/nonexistent")
    assert done.code == 2
    assert "needs the program `helm`" in done.err


def test_findings_of_charts_are_annotated_in_the_template(unpend: Run, charts: Path) -> None:
    done = unpend("check", "infra/charts/shop", "--helm", "--pools", "capacity.yaml", "-o", "github", cwd=charts)
    assert f"file=infra/charts/shop/{WORKER},line=16" in done.out
    done = unpend("check", "infra/charts/shop", "--helm", "--pools", "capacity.yaml", "-o", "sarif", cwd=charts)
    [first, *_] = json.loads(done.out)["runs"][0]["results"]
    assert first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == f"infra/charts/shop/{WORKER}"


def test_kustomize_origins_lead_to_the_file(unpend: Run, charts: Path) -> None:
    base = charts / "deploy" / "base"
    base.mkdir(parents=True)
    pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  nodeSelector:\n    disk: floppy\n"
    pod += "  containers: [{name: c, image: i}]\n"
    (base / "pod.yaml").write_text(pod, encoding="utf-8")
    (charts / "deploy" / "prod").mkdir()
    (charts / "deploy" / "prod" / "kustomization.yaml").write_text("resources: [../base]\n", encoding="utf-8")
    built = pod.replace(
        "  name: p\n",
        "  annotations:\n    config.kubernetes.io/origin: |\n      path: ../base/pod.yaml\n  name: prod-p\n",
    )
    done = unpend("check", "-", "--pools", "capacity.yaml", "-o", "json", cwd=charts, stdin=built)
    found = json.loads(done.out)["findings"]
    assert origins(found, "unknown-label-key") == [("prod-p", "deploy/base/pod.yaml", 7, True)]


def test_a_packed_chart_is_rendered_too(charts: Path, findings: Callable[..., list[dict[str, Any]]]) -> None:
    subprocess.run(["helm", "package", "infra/charts/list"], cwd=charts, check=True, capture_output=True)
    found = findings("list-0.1.0.tgz", "--helm")
    path = "infra/charts/list/templates/all.yaml"
    assert origins(found, "unknown-label-key") == [("first", path, 18, True), ("second", path, 18, True)]


def test_a_sub_chart_of_others_can_be_ignored(unpend: Run, charts: Path) -> None:
    (charts / ".unpend.yaml").write_text(
        "clusters: {prod: {pools: [capacity.yaml]}}\n"
        "ignore: [{path: 'infra/charts/shop/charts/**', reason: not ours}]\n",
        encoding="utf-8",
    )
    done = unpend("check", "infra/charts/shop", "--helm", "-o", "concise", cwd=charts)
    assert "unknown-label-key" not in done.out


def test_the_hook_for_changed_files_reports_the_charts_they_are_in(unpend: Run, charts: Path) -> None:
    (charts / ".unpend.yaml").write_text(CONFIG, encoding="utf-8")
    given = ("check", "--helm", "--report-only-paths", "-o", "concise")
    done = unpend(*given, "infra/charts/shop/values.yaml", cwd=charts)
    assert "<helm infra/charts/shop" in done.out
    assert "<helm infra/charts/list" not in done.out
