from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from lsprotocol import converters, types

from unpend.engine.result import ReportedFinding, Result
from unpend.placement.verdict import Obstacle, ReplicaCounts, WorkloadVerdict
from unpend.report import FORMATS, explain, render, sarif
from unpend.report.options import ReportOptions
from unpend.report.terminal import width
from unpend.source.place import Location, Position, Span
from unpend_schemas import load_json

SUFFIX = {"json": "json", "lsp": "json", "sarif": "sarif", "gitlab": "json"}
HOSTILE = "a b,c:d%e\n\x1b[31m::error::ü\udcff.yaml"


def sarif_schema() -> Any:
    return json.loads((Path(__file__).parent / "sarif_schema.json").read_text(encoding="utf-8"))


def validate(data: Any, schema: Any) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(data, schema, cls=jsonschema.Draft202012Validator)


def renamed(result: Result, name: str) -> Result:
    """The same result with the first checked file called otherwise."""

    def place(location: Location | None) -> Location | None:
        return None if location is None or location.uri != "apps/web.yaml" else location._replace(uri=name)

    findings = tuple(replace(f, location=place(f.location)) for f in result.findings)
    return replace(
        result,
        findings=findings,
        checked=(name, *result.checked[1:]),
        texts={name: result.texts["apps/web.yaml"], "nodes.yaml": result.texts["nodes.yaml"]},
    )


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("variant", ["default", "suppressed", "empty"])
def test_whole_output(name: str, variant: str, result: Result, options: ReportOptions, snapshot: Any) -> None:
    if variant == "suppressed":
        options = replace(options, show_suppressed=True, statistics=True, docs_url="https://docs.example/unpend/")
    if variant == "empty":
        result = Result(checked=result.checked, object_count=2, texts=result.texts, rules=result.rules)
    snapshot(f"{variant}.{name}.{SUFFIX.get(name, 'txt')}", render(name, result, options))


def test_explain_output(result: Result, options: ReportOptions, snapshot: Any) -> None:
    snapshot("explain.txt", explain.render(result, options))


def test_colours_change_nothing_but_colours(result: Result, options: ReportOptions) -> None:
    for name in ("text", "concise"):
        plain = render(name, result, options)
        colored = render(name, result, replace(options, color=True))
        assert "\x1b[" not in plain
        assert "\x1b[" in colored
        assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain
    colored = explain.render(result, replace(options, color=True))
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == explain.render(result, options)


def test_links_only_on_request(result: Result, options: ReportOptions) -> None:
    linked = replace(options, color=True, docs_url="https://docs.example")
    assert "\x1b]8;;" not in render("text", result, linked)
    opened = render("text", result, replace(linked, hyperlinks=True))
    assert "\x1b]8;;https://docs.example/rules/untolerated-taint\x1b\\" in opened


@pytest.mark.parametrize("columns", [80, 120])
def test_text_keeps_to_its_width(columns: int, result: Result, options: ReportOptions) -> None:
    options = replace(options, width=columns, show_suppressed=True)
    for text in (render("text", result, options), explain.render(result, options)):
        assert max(width(line) for line in text.splitlines()) <= columns


@pytest.mark.parametrize("name", FORMATS)
def test_a_hostile_file_name_harms_no_format(name: str, result: Result, options: ReportOptions) -> None:
    text = render(name, renamed(result, HOSTILE), options)
    assert "\x1b" not in text
    assert not [line for line in text.splitlines() if line.startswith("::") and name != "github"]
    if name in SUFFIX:
        json.loads(text.encode("utf-8"))
    else:
        text.encode("utf-8")


def test_json_matches_its_schema(result: Result, options: ReportOptions) -> None:
    schema = load_json("output.schema.json")
    for shown in (options, replace(options, show_suppressed=True, statistics=True)):
        data = json.loads(render("json", result, shown))
        validate(data, schema)
    assert data["findings"][3]["suppressed"] == {"kind": "comment", "reason": "known"}
    assert data["findings"][0]["location"]["range"] == {
        "start": {"line": 9, "column": 9},
        "end": {"line": 9, "column": 53},
    }
    assert data["workloads"][0]["pools"][0]["deciders"] == {"scheduler": "no"}


def test_json_schema_refuses_what_is_not_in_it(result: Result, options: ReportOptions) -> None:
    data = json.loads(render("json", result, options))
    data["findings"][0]["verdikt"] = "never"
    with pytest.raises(jsonschema.ValidationError):
        validate(data, load_json("output.schema.json"))


def test_sarif_matches_its_schema(result: Result, options: ReportOptions) -> None:
    options = replace(options, repository="/", docs_url="https://docs.example", show_suppressed=True)
    for shown in (result, renamed(result, HOSTILE), renamed(result, "/etc/x.yaml"), Result()):
        validate(json.loads(render("sarif", shown, options)), sarif_schema())


def test_sarif_results_point_to_their_rules(result: Result, options: ReportOptions) -> None:
    (run,) = json.loads(render("sarif", result, options))["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted(rule["id"] for rule in rules)
    assert {"label-near-miss", "untolerated-taint", "unused-toleration", "internal-error"} == {r["id"] for r in rules}
    for found in run["results"]:
        assert rules[found["ruleIndex"]]["id"] == found["ruleId"]
        for number in re.findall(r"(?<!\\)\]\((\d+)\)", found["message"]["text"]):
            assert int(number) in [related["id"] for related in found["relatedLocations"]]
    assert "suppressions" not in run["results"][0]


def test_sarif_places_are_relative_to_the_repository(result: Result, options: ReportOptions) -> None:
    (run,) = json.loads(render("sarif", result, replace(options, base="/repo/sub", repository="/repo")))["runs"]
    assert run["originalUriBaseIds"] == {"%SRCROOT%": {"uri": "file:///repo/"}}
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "sub/apps/web.yaml", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 9, "startColumn": 9, "endLine": 9, "endColumn": 53}


def test_sarif_shows_the_template_where_it_is_a_file(result: Result, options: ReportOptions) -> None:
    known = replace(options, is_file=lambda uri: uri == "charts/web/templates/d.yaml")
    (run,) = json.loads(render("sarif", result, known))["runs"]
    found = run["results"][1]
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "charts/web/templates/d.yaml"
    assert found["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "apps/web.yaml"
    assert "file=charts/web/templates/d.yaml,line=12," in render("github", result, known)


def test_sarif_leaves_out_the_least_severe(
    result: Result, options: ReportOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sarif.MOST_RESULTS == 25_000
    monkeypatch.setattr(sarif, "MOST_RESULTS", 10)
    error, info = result.findings[0], result.findings[1]
    many: tuple[ReportedFinding, ...] = (*[info] * 10, error, error)
    (run,) = json.loads(render("sarif", replace(result, findings=many), options))["runs"]
    assert [found["level"] for found in run["results"]] == [*["note"] * 8, "error", "error"]
    (_, notification) = run["invocations"][0]["toolExecutionNotifications"]
    assert "2 findings are left out" in notification["message"]["text"]


def test_lsp_is_what_the_protocol_says(result: Result, options: ReportOptions) -> None:
    converter = converters.get_converter()
    data = json.loads(render("lsp", result, replace(options, docs_url="https://docs.example")))
    for entry in data:
        params = converter.structure(entry, types.PublishDiagnosticsParams)
        assert converter.unstructure(params, types.PublishDiagnosticsParams) == entry


def test_lsp_counts_utf16_and_names_every_file(result: Result, options: ReportOptions) -> None:
    data = json.loads(render("lsp", result, options))
    assert [entry["uri"] for entry in data] == [
        "file:///repo/apps/web.yaml",
        "file:///repo/nodes.yaml",
        "file:///repo/apps/empty.yaml",
    ]
    first, second = data[0]["diagnostics"]
    assert data[1]["diagnostics"] == data[2]["diagnostics"] == []
    # The rocket takes two code units, so both ends move by one beside the code points.
    assert first["range"] == {"start": {"line": 8, "character": 8}, "end": {"line": 8, "character": 53}}
    assert second["range"]["end"]["character"] == second["range"]["start"]["character"] + len("größe 🚀") + 1
    assert first["relatedInformation"][0]["location"]["uri"] == "file:///repo/nodes.yaml"
    assert second["tags"] == [1]
    assert "codeDescription" not in first


def test_lsp_publishes_related_files_that_were_not_checked(result: Result, options: ReportOptions) -> None:
    data = json.loads(render("lsp", replace(result, checked=("apps/web.yaml",)), options))
    assert [entry["uri"] for entry in data] == ["file:///repo/apps/web.yaml", "file:///repo/nodes.yaml"]


def test_lsp_knows_the_template_of_a_rendered_text_where_it_is_a_file(result: Result, options: ReportOptions) -> None:
    options = replace(options, is_file=lambda uri: uri.startswith("charts/"))
    data = json.loads(render("lsp", result, options))
    assert "file:///repo/charts/web/templates/d.yaml" in [entry["uri"] for entry in data]


PROPERTY = r"[a-zA-Z]+=[^,:\r\n]*"
ANNOTATION = re.compile(rf"::(error|warning|notice) {PROPERTY}(,{PROPERTY})*::[^\r\n]+\Z")


def test_github_annotations_are_escaped_and_ordered(result: Result, options: ReportOptions) -> None:
    for shown in (result, renamed(result, HOSTILE)):
        *annotations, last = render("github", shown, options).splitlines()
        assert all(ANNOTATION.match(line) for line in annotations)
        levels = [line[2:].split(" ")[0] for line in annotations]
        assert levels == ["error", "warning", "notice"]
        assert last.startswith("unpend: Found 1 error")
    assert "file=apps/web.yaml,line=9,col=9,endColumn=53,title=unpend%3A untolerated-taint::" in render(
        "github", result, options
    )


def test_github_gives_no_columns_over_several_lines(result: Result, options: ReportOptions) -> None:
    place = Location("a.yaml", 0, Span(Position(2, 4), Position(5, 0)))
    finding = replace(result.findings[0], location=place)
    text = render("github", replace(result, findings=(finding,)), options)
    assert text.startswith("::error file=a.yaml,line=3,endLine=6,title=")


def test_concise_lines_are_what_problem_matchers_read(result: Result, options: ReportOptions) -> None:
    lines = render("concise", renamed(result, HOSTILE), options).splitlines()
    assert len(lines) == 3
    for line in lines:
        assert re.match(r".+:\d+:\d+: (error|warning|info) [a-z-]+ .+\Z", line)


def _explained(*verdicts: WorkloadVerdict) -> str:
    return explain.render(Result(workloads=verdicts), ReportOptions())


def test_explain_says_first_what_is_missing() -> None:
    none = ReplicaCounts(2, 2, 0, 0)
    text = _explained(WorkloadVerdict("Deployment/web", "", "never", "pool-unusable", "proved", none))
    assert text.startswith("Deployment/web: never (pool-unusable), since no capacity was given\n")
    assert "--pools PATH" in text
    assert "can never be placed" not in text


def test_explain_does_not_ask_pools_about_pods_that_are_refused_before() -> None:
    none = ReplicaCounts(1, 1, 0, 0)
    refusal = Obstacle("api", "there is no PriorityClass", "scheduler:A-231", None, None, "rejected")
    text = _explained(WorkloadVerdict("Job/a", "", "never", "rejected", "proved", none, conflict=(refusal,)))
    assert "Job/a: never (rejected), the API server refuses its pods" in text
    assert "there is no PriorityClass" in text
    assert "pool" not in text


def test_explain_counts_no_replicas_of_daemonsets_on_nodes_to_come() -> None:
    verdict = WorkloadVerdict("DaemonSet/a", "", "fits", None, "proved", ReplicaCounts(0, 0, 0, 0))
    assert "replicas: one on each node that its pools make" in _explained(verdict)
