"""The program as a process: signals, pipes, terminals, start-up."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unpend.cli.outputs import without_commands
from unpend.cli.stream import report_width, wants_color

HEAVY = ("networkx", "jsonschema", "ruamel", "importlib.metadata", "asyncio", "unpend.lsp", "http", "email", "ssl")


@pytest.mark.parametrize(
    ("when", "variables", "terminal", "colored"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "0"}, False, False),
        ("auto", {"CLICOLOR_FORCE": "1"}, False, True),
        ("auto", {"TERM": "dumb"}, True, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_colour_rules(when: str, variables: dict[str, str], terminal: bool, colored: bool) -> None:
    assert wants_color(when, variables, terminal) is colored


def test_colour_of_the_real_program(program: Any) -> None:
    arguments = ("check", "app.yaml", "--pools", "nodes.yaml")
    assert "\x1b[" not in program(*arguments).out
    assert "\x1b[" in program(*arguments, "--color", "always").out
    assert "\x1b[" in program(*arguments, FORCE_COLOR="1").out
    assert "\x1b[" not in program(*arguments, "-o", "json", "--color", "always").out


def test_width_stays_readable() -> None:
    assert report_width(False, {}) == 100
    assert report_width(False, {"COLUMNS": "20"}) == 80
    assert report_width(False, {"COLUMNS": "500"}) == 120


def test_workflow_commands_are_taken_apart() -> None:
    assert without_commands("a\n  ::error::x\n##[group]\n") == "a\n|   ::error::x\n| ##[group]\n"


def test_a_reader_that_goes_away_is_no_error(project: Path, variables: Callable[..., dict[str, str]]) -> None:
    app = (project / "app.yaml").read_text(encoding="utf-8")
    many = "---\n".join(app.replace("name: web,", f"name: web-{i},") for i in range(500))
    (project / "app.yaml").write_text(many, encoding="utf-8")
    command = [sys.executable, "-m", "unpend", "check", "app.yaml", "--pools", "nodes.yaml"]
    with subprocess.Popen(
        command, cwd=project, env=variables(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        errors = process.stderr.read()
        code = process.wait(60)
    assert errors == b""
    assert code == 1


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_an_interrupt_is_130_without_a_traceback(project: Path, variables: Callable[..., dict[str, str]]) -> None:
    command = [sys.executable, "-m", "unpend", "check", "-"]
    with subprocess.Popen(
        command,
        cwd=project,
        env=variables(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == b""
    assert b"Traceback" not in errors


def test_version_names_what_the_verdicts_rest_on(program: Any) -> None:
    done = program("--version")
    first, *rest = done.out.splitlines()
    assert done.code == 0
    assert first.startswith("unpend ")
    assert "Karpenter semantics of version 1.14" in rest


@pytest.mark.parametrize("arguments", [("--version",), ("check", "app.yaml", "--pools", "nodes.yaml")])
def test_nothing_heavy_is_imported(
    project: Path, variables: Callable[..., dict[str, str]], arguments: tuple[str, ...]
) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "unpend", *arguments],
        cwd=project,
        env=variables(),
        capture_output=True,
        timeout=60,
        check=False,
    )
    modules = {
        line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines() if line.startswith("import")
    }
    assert "unpend.cli" in modules
    heavy = {module for module in modules if module.startswith(HEAVY)}
    assert heavy == set()
    if arguments == ("--version",):
        assert "yaml" not in modules
        assert "unpend.engine.run" not in modules


def test_a_plain_check_starts_light(project: Path, variables: Callable[..., dict[str, str]]) -> None:
    code = (
        "import sys; from unpend.cli import run\n"
        "run(['check', 'app.yaml', '--pools', 'nodes.yaml'])\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project, env=variables(), capture_output=True, timeout=60, check=False
    )
    modules = done.stderr.decode().split()
    assert "unpend.placement.evaluate" in modules
    # click and dataclasses import inspect; the rest is what only Karpenter, node groups and other outputs need.
    unwanted = (
        *HEAVY, "click", "inspect", "dataclasses", "pathspec", "unpend.placement.karpenter.managed",
        "unpend.placement.karpenter.grid", "unpend.placement.cluster_autoscaler.",
        "unpend.catalog.", "unpend.report.json", "unpend.report.sarif",
    )  # fmt: skip
    assert [module for module in modules if module.startswith(unwanted)] == []


def test_the_real_program_says_what_it_says_in_process(program: Any, unpend: Any) -> None:
    for arguments in (
        ("check", "app.yaml", "--pools", "nodes.yaml"),
        ("check", "missing.yaml"),
        ("explain", "."),
        ("rule", "no-such-rule"),
    ):
        assert program(*arguments) == unpend(*arguments)


def test_output_is_utf8_whatever_the_locale(program: Any, project: Path) -> None:
    app = (project / "app.yaml").read_text(encoding="utf-8").replace("    spec:", "    spec:  # größe 🚀")
    (project / "app.yaml").write_text(app, encoding="utf-8")
    plain = program("check", "app.yaml", "--pools", "nodes.yaml")
    done = program("check", "app.yaml", "--pools", "nodes.yaml", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert done == plain
    assert "# größe 🚀" in done.out


def test_a_named_pipe_is_read(project: Path, variables: Callable[..., dict[str, str]]) -> None:
    command = f"{sys.executable} -m unpend check <(cat app.yaml) --pools nodes.yaml"
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash")
    done = subprocess.run([bash, "-c", command], cwd=project, env=variables(), capture_output=True, check=False)
    assert done.returncode == 1, done.stderr
    assert b"untolerated-taint" in done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("check app.yaml --pools nodes.yaml <&-", 1, b""),
        ("check - <&-", 3, b"no Kubernetes object was met"),
        ("check app.yaml --pools nodes.yaml >&-", 1, b""),
        ("check app.yaml --pools nodes.yaml 2>&-", 1, b""),
        ("check app.yaml --pools nodes.yaml -o json:report.json <&- >&- 2>&-", 1, b""),
    ],
)
def test_closed_streams_are_no_defect(
    arguments: str, code: int, message: bytes, project: Path, variables: Callable[..., dict[str, str]]
) -> None:
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m unpend {arguments}"],
        cwd=project,
        env=variables(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert b"Traceback" not in done.stderr
    assert message in done.stderr
    report = project / "report.json"
    assert not report.exists() or report.read_bytes().startswith(b"{")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_report_that_cannot_be_written_is_said(project: Path, variables: Callable[..., dict[str, str]]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "unpend", "check", "app.yaml", "--pools", "nodes.yaml"],
            cwd=project,
            env=variables(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.decode() == "unpend: cannot write to standard output: No space left on device\n"
