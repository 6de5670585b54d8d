"""The formats of pipelines: GitLab, JUnit, Markdown, and the limits of GitHub on SARIF."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
import xmlschema

from unpend.engine.result import Notice, ReportedFinding, Result
from unpend.report import render, sarif
from unpend.report.options import ReportOptions
from unpend.source.place import Location, Origin, Position, Span

GITLAB = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "additionalProperties": False,
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "pattern": "^[a-z0-9-]+$"},
            "fingerprint": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": r"^(?!\./)(?!/)."},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}


@pytest.fixture(scope="module")
def jenkins() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(str(Path(__file__).parent / "jenkins_junit.xsd"))


def gitlab(result: Result, options: ReportOptions) -> Any:
    data = json.loads(render("gitlab", result, options))
    jsonschema.validate(data, GITLAB)
    return data


def junit(result: Result, options: ReportOptions, jenkins: xmlschema.XMLSchema) -> ElementTree.Element:
    text = render("junit", result, options)
    jenkins.validate(text)
    root = ElementTree.fromstring(text)
    for suite in root:
        for name, element in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert suite.get(name) == str(len(suite.findall(f"testcase/{element}")))
        assert suite.get("tests") == str(len(suite))
        cases = [(case.get("classname"), case.get("name")) for case in suite]
        assert len(set(cases)) == len(cases)
    return root


def test_gitlab_is_an_array_also_when_there_is_nothing(options: ReportOptions) -> None:
    assert render("gitlab", Result(), options) == "[]\n"


def test_gitlab_names_severity_rule_and_place(result: Result, options: ReportOptions) -> None:
    first, second, third = gitlab(result, replace(options, repository="/"))
    assert (first["severity"], second["severity"], third["severity"]) == ("major", "info", "minor")
    assert first["location"] == {"path": "repo/apps/web.yaml", "lines": {"begin": 9}}
    assert first["check_name"] == "untolerated-taint"


def test_gitlab_gets_a_fingerprint_of_its_own_for_each_issue(result: Result, options: ReportOptions) -> None:
    twice = replace(result, findings=(*result.findings[:1], *result.findings[:1], *result.findings[:1]))
    prints = [issue["fingerprint"] for issue in gitlab(twice, options)]
    assert len(set(prints)) == 3
    assert prints == [issue["fingerprint"] for issue in gitlab(twice, options)]


def test_a_rendered_text_is_shown_at_its_template(result: Result, options: ReportOptions) -> None:
    options = replace(options, is_file=lambda uri: uri.startswith("charts/"))
    assert gitlab(result, options)[1]["location"] == {"path": "charts/web/templates/d.yaml", "lines": {"begin": 12}}
    assert "charts/web/templates/d.yaml:12" in render("markdown", result, options)


def test_junit_has_a_suite_for_each_file(result: Result, options: ReportOptions, jenkins: xmlschema.XMLSchema) -> None:
    root = junit(result, options, jenkins)
    names = [suite.get("name") for suite in root]
    assert set(names) >= {"apps/web.yaml", "nodes.yaml", "apps/empty.yaml"}
    assert len(set(names)) == len(names)
    web = root.find("testsuite[@name='apps/web.yaml']")
    assert web is not None
    [failure] = web.findall("testcase/failure")
    assert failure.get("type") == "untolerated-taint"
    assert "nodes.yaml:" in (failure.text or "")
    assert [case.get("message") for case in web.findall("testcase/skipped")] == ["suppressed by comment: known"]
    [conditional] = [c for c in root.iter("skipped") if c.get("type") == "conditional"]
    assert "the zone of the volume data is not known" in (conditional.get("message") or "")


def test_junit_of_a_clean_run_has_cases(options: ReportOptions, jenkins: xmlschema.XMLSchema) -> None:
    root = junit(Result(checked=("a.yaml",)), options, jenkins)
    assert [(suite.get("name"), len(suite)) for suite in root] == [("a.yaml", 1)]
    assert len(junit(Result(), options, jenkins)) == 1


def test_junit_of_unreadable_input_is_an_error(options: ReportOptions, jenkins: xmlschema.XMLSchema) -> None:
    result = Result(notices=(Notice("cannot be read", "gone.yaml", "warning"),), untrustworthy=True)
    root = junit(result, options, jenkins)
    assert [e.get("message") for e in root.iter("error")] == ["cannot be read"]


def test_junit_has_no_characters_that_xml_forbids(
    result: Result, options: ReportOptions, jenkins: xmlschema.XMLSchema
) -> None:
    bad = replace(result.findings[0], message='a\x00b\x1b[31m\ud800 <&"]]>')
    root = junit(replace(result, findings=(bad,)), options, jenkins)
    assert any('<&"]]>' in (failure.get("message") or "") for failure in root.iter("failure"))


@pytest.mark.parametrize("name", ["gitlab", "junit", "markdown"])
def test_the_same_input_gives_the_same_bytes(name: str, result: Result, options: ReportOptions) -> None:
    text = render(name, result, options)
    assert text == render(name, result, options)
    assert text.endswith("\n")


def test_markdown_escapes_what_would_be_markup(result: Result, options: ReportOptions) -> None:
    bad = replace(result.findings[0], message="a | b <img src=x> @team `c`\n\n# d")
    text = render("markdown", replace(result, findings=(bad,)), options)
    [row] = [line for line in text.splitlines() if "untolerated-taint" in line]
    assert row.count(" | ") == 3
    assert "<img" not in row
    assert "@team" not in row


def test_markdown_stays_below_what_a_step_summary_takes(result: Result, options: ReportOptions) -> None:
    many = replace(result, findings=tuple(replace(result.findings[0], message="x" * 5000) for _ in range(5000)))
    text = render("markdown", many, options)
    assert len(text.encode()) < 1024 * 1024
    assert "4800 more findings are not shown." in text


def test_sarif_keeps_to_the_limits_of_github(result: Result, options: ReportOptions) -> None:
    related = tuple(replace(result.findings[0].related[0], message=f"taint {n}") for n in range(1500))
    finding = replace(result.findings[0], related=related)
    one = json.loads(render("sarif", replace(result, findings=(finding,)), options))["runs"][0]["results"][0]
    assert len(one["locations"]) + len(one["relatedLocations"]) <= sarif.MOST_LOCATIONS
    place = Location("a.yaml", 0, Span(Position(0, 0), Position(0, 1)), Origin("t.yaml"))
    hints = tuple(
        ReportedFinding("label-near-miss", "info", "proved", "m", str(n), None, "", place)
        for n in range(sarif.MOST_RESULTS)
    )
    run = json.loads(render("sarif", replace(result, findings=(*hints, result.findings[0])), options))["runs"][0]
    assert len(run["results"]) == sarif.MOST_RESULTS
    assert run["results"][-1]["level"] == "error", "the least severe go first"
    assert "left out" in json.dumps(run["invocations"])
    assert all(len(rule["properties"]["tags"]) <= sarif.MOST_TAGS for rule in run["tool"]["driver"]["rules"])
