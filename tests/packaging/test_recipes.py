"""The recipes: valid for the tool that reads them, and run as far as that goes without it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
RECIPES = ROOT / "recipes"
TUTORIALS = ROOT / "docs" / "tutorials"
BAD = """\
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  nodeSelector: {zone: a}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchExpressions: [{key: zone, operator: In, values: [b]}]
  containers: [{name: c, image: i, resources: {requests: {cpu: 1, memory: 1Gi}}}]
"""
GOOD = re.sub(r"  affinity:.*(?=  containers)", "", BAD, flags=re.DOTALL)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Variables under which `unpend` is the one of this source tree, and `helm` is found where CI installs it."""
    programs = tmp_path / "programs"
    programs.mkdir()
    shim = programs / "unpend"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m unpend "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    hidden = ("GITHUB_ACTIONS", "NO_COLOR", "FORCE_COLOR", "COLUMNS")
    kept = {key: value for key, value in os.environ.items() if key not in hidden}
    path = [str(programs), kept["PATH"], str(Path.home() / "go" / "bin")]
    source = os.pathsep.join(str(ROOT / part) for part in ("lint", "rules", "schemas"))
    return {**kept, "PATH": os.pathsep.join(path), "PYTHONPATH": source}


def run(command: Sequence[str], folder: Path, variables: dict[str, str], stdin: str = "") -> Any:
    return subprocess.run(
        command, cwd=folder, env=variables, input=stdin, capture_output=True, text=True, check=False, timeout=120
    )


def shell(script: str, folder: Path, variables: dict[str, str]) -> Any:
    """As GitHub runs a step."""
    return run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script], folder, variables)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    (root / ".git").mkdir()
    (root / "bad.yaml").write_text(BAD, encoding="utf-8")
    return root


def needs_helm(variables: dict[str, str]) -> None:
    if shutil.which("helm", path=variables["PATH"]) is None:
        assert not os.environ.get("CI"), "helm is missing"
        pytest.skip("helm is not installed")


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ("vendor.github-actions", "action.yml"),
        ("vendor.github-workflows", "recipes/github/unpend.yml"),
        ("vendor.gitlab-ci", "recipes/gitlab/.gitlab-ci.yml"),
    ],
)
def test_the_service_accepts_the_file(schema: str, path: str) -> None:
    done = run([sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, path], ROOT, dict(os.environ))
    assert done.returncode == 0, done.stdout + done.stderr


def test_pre_commit_accepts_the_config() -> None:
    path = "recipes/pre-commit/.pre-commit-config.yaml"
    done = run([sys.executable, "-m", "pre_commit", "validate-config", path], ROOT, dict(os.environ))
    assert done.returncode == 0, done.stdout + done.stderr
    [repository] = yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))["repos"]
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert {hook["id"] for hook in repository["hooks"]} <= {hook["id"] for hook in hooks}


def test_the_tutorials_show_the_recipes_as_they_are() -> None:
    done = run([sys.executable, "tools/fill_recipes.py", "--check"], ROOT, dict(os.environ))
    assert done.returncode == 0, done.stderr


def test_the_action_writes_its_reports(folder: Path, environment: dict[str, str]) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    step = action["runs"]["steps"][-1]
    inputs = {"paths": ". $(touch pwned)", "args": "--fail-on error", "sarif": "unpend.sarif"}
    given = {name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m: inputs[m[1]], v) for name, v in step["env"].items()}
    summary = folder / "summary.md"
    variables = {**environment, **given, "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_ACTIONS": "true"}
    done = shell(step["run"], folder, variables)
    assert not (folder / "pwned").exists()
    variables["UNPEND_PATHS"] = "."
    done = shell(step["run"], folder, variables)
    assert done.returncode == 1, done.stderr
    assert "::error file=bad.yaml,line=10" in done.stdout
    assert "contradictory-node-affinity" in summary.read_text(encoding="utf-8")
    assert json.loads((folder / "unpend.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    (folder / "bad.yaml").write_text(GOOD, encoding="utf-8")
    done = shell(step["run"], folder, variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / "unpend.sarif").exists(), "a clean run has a file to upload"


def test_the_workflow_uses_the_inputs_that_the_action_has() -> None:
    workflow = yaml.safe_load((RECIPES / "github" / "unpend.yml").read_text(encoding="utf-8"))
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    steps = workflow["jobs"]["unpend"]["steps"]
    [given] = [step["with"] for step in steps if step.get("uses", "").startswith("unpend/")]
    assert set(given) <= set(action["inputs"])
    [upload] = [step for step in steps if "upload-sarif" in step.get("uses", "")]
    assert upload["with"]["sarif_file"] == action["inputs"]["sarif"]["default"]
    assert upload["if"] == "always()"


def test_the_gitlab_job_leaves_the_files_that_it_names(folder: Path, environment: dict[str, str]) -> None:
    job = yaml.safe_load((RECIPES / "gitlab" / ".gitlab-ci.yml").read_text(encoding="utf-8"))["unpend"]
    [command] = [line for line in job["script"] if line.startswith("unpend ")]
    done = shell(command, folder, environment)
    assert done.returncode == 1, done.stderr
    for name in job["artifacts"]["reports"].values():
        assert (folder / name).exists()
    [issue, *_] = json.loads((folder / "gl-code-quality-report.json").read_text(encoding="utf-8"))
    assert issue["location"]["path"] == "bad.yaml"


class Client:
    """An editor bridge: hands over a buffer, keeps what is published for each file, as nvim-lint does."""

    def __init__(self, arguments: Sequence[str], folder: Path, variables: dict[str, str]) -> None:
        self.arguments, self.folder, self.variables = arguments, folder, variables
        self.shown: dict[str, list[Any]] = {}

    def lint(self, text: str) -> None:
        done = run(["unpend", *self.arguments], self.folder, self.variables, stdin=text)
        assert done.returncode in (0, 1), done.stderr
        for file in json.loads(done.stdout):
            self.shown[file["uri"]] = file["diagnostics"]


def test_an_editor_opens_changes_and_clears(folder: Path, environment: dict[str, str]) -> None:
    recipe = (RECIPES / "editor" / "nvim-lint.lua").read_text(encoding="utf-8")
    listed = re.search(r"args = \{ (.*?), function", recipe)
    assert listed is not None
    buffer = folder / "bad.yaml"
    client = Client([*json.loads(f"[{listed[1]}]"), str(buffer)], folder, environment)
    client.lint(BAD)
    uri = buffer.as_uri()
    [first, *_] = client.shown[uri]
    assert (first["code"], first["severity"], first["range"]["start"]["line"]) == ("contradictory-node-affinity", 1, 9)
    client.lint("# one line more\n" + BAD)
    assert client.shown[uri][0]["range"]["start"]["line"] == 10
    client.lint(GOOD)
    assert client.shown[uri] == [], "what is repaired is cleared"
    client.lint("")
    assert client.shown[uri] == []
    client.lint(BAD)
    assert client.shown[uri]


def test_the_patterns_of_editors_match(folder: Path, environment: dict[str, str]) -> None:
    tasks = json.loads((RECIPES / "editor" / ".vscode" / "tasks.json").read_text(encoding="utf-8"))
    [task] = tasks["tasks"]
    done = shell(task["command"], folder, environment)
    pattern = task["problemMatcher"]["pattern"]
    found = [re.match(pattern["regexp"], line) for line in done.stdout.splitlines()]
    assert found
    assert all(found)
    assert found[0] is not None
    assert found[0][pattern["file"]] == "bad.yaml"
    assert found[0][pattern["line"]] == "10"
    efm = yaml.safe_load((RECIPES / "editor" / "efm-langserver.yaml").read_text(encoding="utf-8"))
    tool = efm["tools"]["unpend"]
    command = tool["lint-command"].replace("${INPUT}", "bad.yaml").split()
    done = run(command, folder, environment, stdin=BAD)
    fields = {"%f": ".+?", "%l": "[0-9]+", "%c": "[0-9]+", "%t": "[ewi]", "%m": ".*"}
    formats = [re.sub("%[flctm]", lambda m: fields[m[0]], text) for text in tool["lint-formats"]]
    assert done.stdout.startswith("bad.yaml:10:")
    assert all(any(re.fullmatch(one, line) for one in formats) for line in done.stdout.splitlines())


def commands(page: str) -> list[tuple[str, int]]:
    """The commands of a tutorial, each with its exit code: 0, or what a comment behind it says."""
    text = (TUTORIALS / page).read_text(encoding="utf-8")
    found = []
    for line in re.findall(r"^\$ (.+)$", text, flags=re.MULTILINE):
        command, _, comment = line.partition("   # exit ")
        found.append((command, int(comment or 0)))
    return found


def test_the_tutorial_on_adoption_is_true(tmp_path: Path, environment: dict[str, str]) -> None:
    platform, shop = tmp_path / "platform", tmp_path / "shop"
    node = (ROOT / "fixtures" / "charts" / "nodes.yaml").read_text(encoding="utf-8")
    for path, text in (
        (platform / "nodes.yaml", node),
        (shop / "apps" / "old.yaml", GOOD.replace("{zone: a}", "{beta.kubernetes.io/arch: amd64}")),
        (shop / "apps" / "lost.yaml", GOOD.replace("name: p}", "name: lost}")),
        (shop / "new" / "pod.yaml", GOOD.replace("name: p}", "name: new}")),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (shop / ".git").mkdir()
    listed = commands("adoption.md")
    assert len(listed) >= 8
    for command, code in listed:
        done = shell(command, shop, environment)
        assert done.returncode == code, f"{command}\n{done.stdout}{done.stderr}"
        if "--export" in command:
            (shop / ".unpend.yaml").write_text("clusters:\n  prod: {pools: [capacity.yaml]}\n", encoding="utf-8")
    assert "beta.kubernetes.io" not in (shop / "apps" / "old.yaml").read_text(encoding="utf-8")
    assert "lost" in (shop / ".unpend-baseline.yaml").read_text(encoding="utf-8")


def test_the_tutorial_on_charts_is_true(folder: Path, environment: dict[str, str]) -> None:
    needs_helm(environment)
    shutil.copytree(ROOT / "fixtures" / "charts", folder / "infra" / "charts")
    shutil.move(folder / "infra" / "charts" / "nodes.yaml", folder / "capacity.yaml")
    listed = commands("helm-in-ci.md")
    assert len(listed) == 2
    for command, code in listed:
        done = shell(command, folder, environment)
        assert done.returncode == code, f"{command}\n{done.stdout}{done.stderr}"
        assert "unknown-label-key" in done.stdout
    text = (TUTORIALS / "helm-in-ci.md").read_text(encoding="utf-8")
    config = re.search(r"```yaml\n(# \.unpend\.yaml\n.*?)```", text, flags=re.DOTALL)
    assert config is not None
    (folder / ".unpend.yaml").write_text(config[1], encoding="utf-8")
    done = shell("unpend check --helm --output concise", folder, environment)
    assert done.returncode == 1, done.stderr
    assert "(values gpu)" in done.stdout
