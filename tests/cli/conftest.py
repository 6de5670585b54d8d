from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from unpend import cli

ROOT = Path(__file__).resolve().parents[2]

NODES = """\
apiVersion: v1
kind: Node
metadata:
  name: gpu-1
  labels: {kubernetes.io/hostname: gpu-1, kubernetes.io/arch: amd64, kubernetes.io/os: linux}
spec:
  taints:
  - {key: dedicated, value: gpu, effect: NoSchedule}
status:
  allocatable: {cpu: "4", memory: 8Gi, pods: "110", ephemeral-storage: 50Gi}
"""
APP = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: example.com/web:1
        resources: {requests: {cpu: 100m, memory: 64Mi}}
"""
TOLERANT = APP.replace("    spec:\n", "    spec:\n      tolerations: [{key: dedicated, operator: Exists}]\n", 1)


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with one workload that no node takes."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "app.yaml").write_text(APP, encoding="utf-8")
    (tmp_path / "nodes.yaml").write_text(NODES, encoding="utf-8")
    return tmp_path


@dataclass(frozen=True)
class Sample:
    """Texts: a workload that the node refuses, the node, a workload that tolerates its taint."""

    app: str = APP
    nodes: str = NODES
    tolerant: str = TOLERANT


@pytest.fixture
def sample() -> Sample:
    return Sample()


def environment(**more: str) -> dict[str, str]:
    """The environment of a test process: nothing that would colour or annotate its output."""
    hidden = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "GITHUB_ACTIONS", "COLUMNS", "PYTHONPATH")
    kept = {key: value for key, value in os.environ.items() if key not in hidden}
    path = os.pathsep.join(str(ROOT / part) for part in ("lint", "rules", "schemas"))
    return {**kept, "PYTHONPATH": path, "PYTHONWARNINGS": "error", "TERM": "xterm", **more}


@pytest.fixture
def variables() -> Callable[..., dict[str, str]]:
    return environment


@pytest.fixture
def program(project: Path) -> Run:
    """Run the real program in a process of its own, in the project."""

    def run(*arguments: str, stdin: str | bytes = b"", cwd: Path = project, **variables: str) -> Outcome:
        done = subprocess.run(
            [sys.executable, "-m", "unpend", *arguments],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            cwd=cwd,
            env=environment(**variables),
            timeout=120,
            check=False,
        )
        return Outcome(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))

    return run


@pytest.fixture
def unpend(project: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in the project, in this process: the same as `program`, and quicker."""

    def run(*arguments: str, stdin: str | bytes = b"", cwd: Path = project, **variables: str) -> Outcome:
        raw = stdin.encode() if isinstance(stdin, str) else stdin
        out = io.TextIOWrapper(io.BytesIO(), "utf-8")
        err = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace")
        with monkeypatch.context() as patch:
            patch.chdir(cwd)
            for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "GITHUB_ACTIONS", "COLUMNS"):
                patch.delenv(name, raising=False)
            for name, value in variables.items():
                patch.setenv(name, value)
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), "utf-8"))
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            code = cli.run(arguments)
        return Outcome(code, *(stream.detach().getvalue().decode("utf-8") for stream in (out, err)))

    return run
