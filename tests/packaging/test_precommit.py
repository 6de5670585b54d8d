"""The hooks, run by a real pre-commit in a repository of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BAD = """apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  nodeSelector: {zone: a}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchExpressions: [{key: zone, operator: In, values: [b]}]
  containers: [{name: c, image: i}]
"""
GOOD = "apiVersion: v1\nkind: Pod\nmetadata: {name: q}\nspec:\n  containers: [{name: c, image: i}]\n"


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The working tree as a repository that pre-commit can clone."""
    if not os.environ.get("CI") and shutil.which("pre-commit", path=str(Path(sys.executable).parent)) is None:
        pytest.skip("pre-commit is not installed beside this Python")
    copy = tmp_path_factory.mktemp("hooks") / "unpend"
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in listed.stdout.splitlines():
        if not (ROOT / name).is_file() or name.startswith(("fixtures/", "tests/", "docs/")):
            continue
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy / name)
    git(copy, "init", "-q")
    git(copy, "add", "-A")
    git(copy, "commit", "-qm", "x")
    return copy


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / "good.yaml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "bad.yaml").write_text(BAD, encoding="utf-8")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "x")
    return tmp_path


def try_hook(hooks: Path, repository: Path, hook: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PRE_COMMIT_HOME": str(hooks.parent / "cache"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "protocol.file.allow",
        "GIT_CONFIG_VALUE_0": "always",
    }
    command = [sys.executable, "-m", "pre_commit", "try-repo", str(hooks), hook, "--verbose", *arguments]
    return subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.slow
@pytest.mark.parametrize("hook", ["unpend", "unpend-system"])
def test_the_whole_project_hook_reports_every_file(hooks: Path, repository: Path, hook: str) -> None:
    done = try_hook(hooks, repository, hook, "--files", "good.yaml")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "contradictory-node-affinity" in done.stdout


@pytest.mark.slow
def test_the_changed_files_hook_reports_only_those(hooks: Path, repository: Path) -> None:
    done = try_hook(hooks, repository, "unpend-files", "--files", "good.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    done = try_hook(hooks, repository, "unpend-files", "--files", "bad.yaml")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "bad.yaml" in done.stdout


@pytest.mark.slow
def test_a_commit_without_kubernetes_objects_passes(hooks: Path, repository: Path) -> None:
    (repository / "values.yaml").write_text("replicas: 3\n", encoding="utf-8")
    git(repository, "rm", "-q", "bad.yaml", "good.yaml")
    git(repository, "add", "values.yaml")
    done = try_hook(hooks, repository, "unpend-files", "--files", "values.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
