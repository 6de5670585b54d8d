from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

FORMATS = ("text", "concise", "json", "lsp", "sarif", "github", "gitlab", "junit", "markdown")


def test_a_pod_that_no_node_takes_is_an_error_with_both_places(unpend: Any) -> None:
    done = unpend("check", "app.yaml", "--pools", "nodes.yaml")
    assert done.code == 1
    assert re.search(r"^error\[untolerated-taint\]", done.out, re.MULTILINE)
    assert "--> app.yaml:" in done.out
    assert "::: nodes.yaml:8:" in done.out
    assert "dedicated" in done.out
    assert done.err == ""


def test_a_pod_that_fits_is_clean(unpend: Any, project: Path, sample: Any) -> None:
    (project / "app.yaml").write_text(sample.tolerant, encoding="utf-8")
    done = unpend("check", "app.yaml", "--pools", "nodes.yaml")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("No findings in 2 objects of 2 sources.")


def test_pools_that_were_only_found_are_no_proof(unpend: Any) -> None:
    done = unpend("check", ".")
    assert done.code == 0
    assert "error[" not in done.out
    assert unpend("check", ".", "--complete").code == 1
    assert unpend("check", ".", "--fail-on-unknown").code == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("app.yaml", "--pools", "nodes.yaml", "--fail-on", "none"), 0),
        (("app.yaml", "--pools", "nodes.yaml", "--select", "unused-toleration"), 0),
        (("app.yaml", "--pools", "nodes.yaml", "--ignore", "taints/*"), 0),
        (("app.yaml", "--pools", "nodes.yaml", "--select", "taints/*"), 1),
        (("missing.yaml",), 2),
        (("app.yaml", "--pools", "missing.yaml"), 2),
        (("app.yaml", "--select", "no-such-rule"), 2),
        (("app.yaml", "--output", "yaml"), 2),
        (("app.yaml", "--output", "json", "--output", "text"), 2),
        (("app.yaml", "--output", "json:"), 2),
        (("app.yaml", "--output", "json:no/such/folder/x.json"), 2),
        (("app.yaml", "--cluster", "prod"), 2),
        (("app.yaml", "--today", "yesterday"), 2),
        (("app.yaml", "--stdin-filename", "x.yaml"), 2),
        (("app.yaml", "--config", "no.yaml"), 2),
        (("app.yaml", "--config", "no.yaml", "--isolated"), 2),
        (
            (
                "app.yaml",
                "--no-such-flag",
            ),
            2,
        ),
        (("app.yaml", "--max-warnings", "-1"), 2),
    ],
)
def test_exit_codes(unpend: Any, arguments: tuple[str, ...], code: int) -> None:
    done = unpend("check", *arguments)
    assert done.code == code
    assert bool(done.err) == (code == 2)
    assert "Traceback" not in done.err


def test_nothing_met_is_three(unpend: Any, project: Path) -> None:
    (project / "empty").mkdir()
    done = unpend("check", "empty")
    assert done.code == 3
    assert "no Kubernetes object" in done.err
    assert unpend("check", "empty", "--allow-empty").code == 0
    assert unpend("explain", "empty").code == 3


def test_trouble_beats_findings(unpend: Any) -> None:
    assert unpend("check", "app.yaml", "missing.yaml", "--pools", "nodes.yaml").code == 2


def test_standard_input_is_read_only_when_named(unpend: Any, project: Path, sample: Any) -> None:
    assert "<stdin>" not in unpend("check", "nodes.yaml", stdin=sample.app).out
    done = unpend("check", "-", "--pools", "nodes.yaml", stdin=sample.app)
    assert done.code == 1
    assert "--> <stdin>:" in done.out
    named = unpend("check", "-", "--stdin-filename", "apps/web.yaml", "--pools", "nodes.yaml", stdin=sample.app)
    assert "--> apps/web.yaml:" in named.out
    assert unpend("check", "-", stdin="").code == 3


def test_standard_input_stands_for_the_file_of_its_name(unpend: Any, sample: Any) -> None:
    arguments = ("--pools", "nodes.yaml", "--output", "json", "--stdin-filename", "app.yaml")
    done = unpend("check", "-", ".", *arguments, stdin=sample.tolerant)
    data = json.loads(done.out)
    assert [w["verdict"] for w in data["workloads"]] == ["fits"]


def test_several_outputs_at_once(unpend: Any, project: Path) -> None:
    outputs = [part for name in FORMATS[1:] for part in ("--output", f"{name}:out.{name}")]
    done = unpend("check", "app.yaml", "--pools", "nodes.yaml", "--output", "text", *outputs)
    assert done.code == 1
    assert "error[untolerated-taint]" in done.out
    for name in FORMATS[1:]:
        alone = unpend("check", "app.yaml", "--pools", "nodes.yaml", "--output", name)
        assert (project / f"out.{name}").read_text(encoding="utf-8") == alone.out
        assert alone.err == ""
    only_file = unpend("check", "app.yaml", "--pools", "nodes.yaml", "--output", "sarif:x.sarif")
    assert (only_file.code, only_file.out) == (1, "")


def test_files_get_no_colour(unpend: Any, project: Path) -> None:
    done = unpend("check", "app.yaml", "--color", "always", "--output", "text:out.txt", "--output", "concise")
    assert "\x1b" not in (project / "out.txt").read_text(encoding="utf-8")
    assert done.code == 0


@pytest.mark.parametrize("name", ["text", "json", "sarif"])
def test_same_input_same_bytes(program: Any, project: Path, name: str) -> None:
    for number in range(4):
        text = (project / "app.yaml").read_text(encoding="utf-8").replace("name: web", f"name: web-{number}", 1)
        (project / f"app{number}.yaml").write_text(text, encoding="utf-8")
    first, second = (
        program("check", ".", "--complete", "--profile", "strict", "--output", name, PYTHONHASHSEED=seed)
        for seed in ("1", "4242")
    )
    assert first.out
    assert first == second


def test_github_annotations_follow_the_text_only_unasked(unpend: Any) -> None:
    arguments = ("check", "app.yaml", "--pools", "nodes.yaml")
    inside = unpend(*arguments, GITHUB_ACTIONS="true")
    assert "error[untolerated-taint]" in inside.out
    assert re.search(r"^::error file=app\.yaml,line=\d+,.*title=unpend%3A untolerated-taint::", inside.out, re.M)
    assert "::error" not in unpend(*arguments, "--output", "text", GITHUB_ACTIONS="true").out
    assert "::error" not in unpend(*arguments).out


def test_checked_files_give_no_workflow_commands(unpend: Any, project: Path, sample: Any) -> None:
    hostile = sample.app.replace("name: web, namespace", 'name: "::error::x\\n::set-env name=A::b", namespace')
    (project / "app.yaml").write_text(hostile, encoding="utf-8")
    done = unpend("check", "app.yaml", "--pools", "nodes.yaml", GITHUB_ACTIONS="true")
    commands = [line for line in done.out.splitlines() if line.lstrip().startswith("::")]
    assert commands
    assert all(re.match(r"::(error|warning|notice) [^:]*::|::(end)?group::", line) for line in commands)


HOSTILE = ["a b.yaml", "ü🚀.yaml", "a\nb.yaml", "-x.yaml", "a,b:c%.yaml", "\x1b[31m.yaml", "::error::.yaml"]


@pytest.mark.skipif(os.name == "nt", reason="such names exist on POSIX only")
@pytest.mark.parametrize("name", FORMATS)
def test_hostile_file_names(unpend: Any, project: Path, sample: Any, name: str) -> None:
    folder = project / "names"
    folder.mkdir()
    for number, file in enumerate([*HOSTILE, os.fsdecode(b"\xff\xfe.yaml")]):
        text = sample.app.replace("name: web,", f"name: web-{number},")
        (folder / file).write_text(text, encoding="utf-8")
    done = unpend("check", "names", "--pools", "nodes.yaml", "--output", name)
    assert done.code == 1
    assert "\x1b" not in done.out
    assert "Traceback" not in done.err
    if name in ("json", "lsp", "sarif"):
        json.loads(done.out)
    if name == "lsp":
        assert "/names/%FF%FE.yaml" in done.out
    if name == "concise":
        assert len({line.split(": ")[0] for line in done.out.splitlines()}) == len(HOSTILE) + 1


def test_only_named_paths_are_reported_but_everything_is_read(unpend: Any, project: Path, sample: Any) -> None:
    (project / "other.yaml").write_text(sample.app.replace("name: web,", "name: other,"), encoding="utf-8")
    (project / ".unpend.yaml").write_text("clusters: {prod: {pools: [nodes.yaml]}}\n", encoding="utf-8")
    everything = json.loads(unpend("check", ".", "--output", "json").out)
    assert {f["location"]["uri"] for f in everything["findings"]} == {"app.yaml", "other.yaml"}
    done = unpend("check", "--report-only-paths", "app.yaml", "--output", "json")
    assert done.code == 1
    data = json.loads(done.out)
    assert {f["location"]["uri"] for f in data["findings"]} == {"app.yaml"}
    assert {w["workload"] for w in data["workloads"]} == {"Deployment/shop/web", "Deployment/shop/other"}
    # A change of the pool file is what makes the workloads pend, so it is told there too.
    pools = json.loads(unpend("check", "--report-only-paths", "nodes.yaml", "--output", "json").out)
    assert {f["location"]["uri"] for f in pools["findings"]} == {"app.yaml", "other.yaml"}


def test_the_config_is_found_upwards_and_named_clusters_are_used(unpend: Any, project: Path) -> None:
    (project / "infra").mkdir()
    (project / "nodes.yaml").rename(project / "infra" / "nodes.yaml")
    (project / "apps").mkdir()
    (project / "app.yaml").rename(project / "apps" / "app.yaml")
    config = "clusters: {prod: {pools: [infra/*.yaml]}, dev: {workloads: [none/**]}}\nfailOn: error\n"
    (project / ".unpend.yaml").write_text(config, encoding="utf-8")
    done = unpend("check", ".", cwd=project / "apps")
    assert done.code == 1
    assert "cluster prod" in done.out
    assert "::: ../infra/nodes.yaml:" in done.out
    assert unpend("check", ".", "--cluster", "prod", cwd=project / "apps").code == 1
    assert unpend("check", ".", "--cluster", "dev", cwd=project / "apps").code == 3
    assert unpend("check", ".", "--isolated", cwd=project / "apps").code == 0
    wrong = unpend("check", ".", "--cluster", "pord", cwd=project / "apps")
    assert wrong.code == 2
    assert "did you mean 'prod'?" in wrong.err


def test_the_pools_of_one_cluster_are_not_those_of_another(unpend: Any, project: Path) -> None:
    (project / "free.yaml").write_text(
        (project / "nodes.yaml")
        .read_text(encoding="utf-8")
        .replace("dedicated", "other")
        .replace("NoSchedule", "PreferNoSchedule"),
        encoding="utf-8",
    )
    config = "clusters: {prod: {pools: [nodes.yaml]}, dev: {pools: [free.yaml]}}\n"
    (project / ".unpend.yaml").write_text(config, encoding="utf-8")
    data = json.loads(unpend("check", ".", "--output", "json").out)
    assert {(w["cluster"], w["verdict"]) for w in data["workloads"]} == {("prod", "never"), ("dev", "fits")}


def test_config_errors_are_told_all_at_once_with_their_places(unpend: Any, project: Path) -> None:
    (project / ".unpend.yaml").write_text("profil: strict\nfailOn: fatal\n", encoding="utf-8")
    done = unpend("check", ".")
    assert done.code == 2
    assert ".unpend.yaml:1:1:" in done.err
    assert "did you mean 'profile'?" in done.err
    assert ".unpend.yaml:2:9:" in done.err
    assert done.out == ""


def test_pools_of_the_config_that_do_not_exist_are_an_error(unpend: Any, project: Path) -> None:
    (project / ".unpend.yaml").write_text("clusters: {prod: {pools: [infra/*.yaml]}}\n", encoding="utf-8")
    done = unpend("check", ".")
    assert done.code == 2
    assert "infra/*.yaml" in done.err


def test_suppressed_findings_are_shown_on_request(unpend: Any, project: Path, sample: Any) -> None:
    (project / "app.yaml").write_text("# unpend: ignore[untolerated-taint] -- known\n" + sample.app, encoding="utf-8")
    arguments = ("check", "app.yaml", "--pools", "nodes.yaml")
    plain = unpend(*arguments)
    assert plain.code == 0
    assert "1 suppressed" in plain.out
    assert json.loads(unpend(*arguments, "--output", "json").out)["findings"] == []
    shown = json.loads(unpend(*arguments, "--output", "json", "--show-suppressed").out)
    assert shown["findings"][0]["suppressed"] == {"kind": "comment", "reason": "known"}


def test_broken_yaml_is_a_finding_and_the_rest_is_checked(unpend: Any, project: Path) -> None:
    (project / "broken.yaml").write_text("apiVersion: v1\nkind: Pod\nspec: [\n", encoding="utf-8")
    (project / "notes.yaml").write_text("just: [notes\n", encoding="utf-8")
    done = unpend("check", ".", "--complete", "--output", "concise")
    assert done.code == 1
    assert re.search(r"^broken\.yaml:\d+:\d+: error yaml-syntax ", done.out, re.M)
    assert "untolerated-taint" in done.out
    assert "notes.yaml" not in done.out
    assert "notes.yaml" in done.err
    assert unpend("check", "notes.yaml").code == 1
    assert unpend("check", "-", stdin="just: [notes\n").code == 1


def test_statistics_and_quiet(unpend: Any) -> None:
    arguments = ("check", "app.yaml", "--pools", "nodes.yaml")
    assert re.search(r"^1  untolerated-taint$", unpend(*arguments, "--statistics").out, re.M)
    assert json.loads(unpend(*arguments, "--statistics", "-o", "json").out)["statistics"]["untolerated-taint"] == 1
    assert "Found" not in unpend(*arguments, "--quiet").out
    quiet = unpend("check", "nodes.yaml", "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


def test_namespace_is_that_of_objects_without_one(unpend: Any, project: Path, sample: Any) -> None:
    (project / "app.yaml").write_text(sample.app.replace(", namespace: shop", ""), encoding="utf-8")
    data = json.loads(unpend("check", "app.yaml", "--namespace", "team", "-o", "json").out)
    assert data["workloads"][0]["workload"] == "Deployment/team/web"
    assert data["findings"] == [] or data["findings"][0]["object"]["namespace"] == "team"


@pytest.mark.parametrize("command", ["check", "explain", "pools", "startup"])
@pytest.mark.parametrize("target", ["app.yaml", "./nodes.yaml", ".unpend.yaml"])
def test_a_report_never_overwrites_what_is_read(unpend: Any, project: Path, command: str, target: str) -> None:
    (project / ".unpend.yaml").write_text("failOn: warning\n", encoding="utf-8")
    before = (project / target).read_bytes()
    done = unpend(command, ".", "--output", f"json:{target}")
    assert done.code == 2
    assert f"would overwrite {target}" in done.err
    assert (project / target).read_bytes() == before


def test_the_report_of_an_earlier_run_is_written_again(unpend: Any, project: Path) -> None:
    for _ in range(2):
        assert unpend("check", ".", "--output", "json:report.json").code == 0
    assert json.loads((project / "report.json").read_text(encoding="utf-8"))["version"] == 1
    assert unpend("check", "report.json", "app.yaml", "--output", "json:report.json").code == 2


@pytest.mark.parametrize("arguments", [("",), ("app.yaml", "--pools", "")])
def test_an_empty_path_is_not_the_current_folder(unpend: Any, arguments: tuple[str, ...]) -> None:
    done = unpend("check", *arguments)
    assert done.code == 2
    assert "is an empty text" in done.err


def test_a_start_without_capacity_says_why_there_is_no_path(unpend: Any) -> None:
    assert "no Node, NodePool or node group is among the files" in unpend("startup", "app.yaml").err
    assert unpend("startup", "app.yaml", "nodes.yaml").err == ""


@pytest.mark.parametrize("command", ["check", "explain"])
def test_without_capacity_it_is_said_that_placement_was_not_judged(unpend: Any, command: str) -> None:
    done = unpend(command, "app.yaml")
    assert done.code == 0
    assert done.err.count("no Node, NodePool or node group is among the files") == 1
    assert "--pools PATH" in done.err
    told = json.loads(unpend(command, "app.yaml", "--output", "json").out)["notices"]
    assert [(notice["severity"], "--pools PATH" in notice["message"]) for notice in told] == [("warning", True)]
    for arguments in (("app.yaml", "nodes.yaml"), ("app.yaml", "--pools", "nodes.yaml"), ("nodes.yaml",)):
        assert unpend(command, *arguments).err == ""


def test_pools_without_capacity_are_no_silent_success(unpend: Any, project: Path) -> None:
    (project / "classes.yaml").write_text(
        "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 5\n", encoding="utf-8"
    )
    done = unpend("check", "app.yaml", "--pools", "classes.yaml")
    assert "is in what is named as pools (classes.yaml)" in done.err
    assert "is not judged" in done.err
    done = unpend("check", ".", "--pools", "classes.yaml")
    assert "only what the checked files have is looked at" in done.err
    assert unpend("check", "app.yaml", "--pools", "classes.yaml", "--pools", "nodes.yaml").err == ""
    (project / ".unpend.yaml").write_text("clusters: {prod: {pools: [classes.yaml]}}\n", encoding="utf-8")
    assert "named as pools of cluster prod (classes.yaml)" in unpend("check", "app.yaml").err
