from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from unpend.config.load import read_config
from unpend_schemas import load_json


def test_help_lists_every_command(unpend: Any) -> None:
    done = unpend("--help")
    assert done.code == 0
    for name in ("check", "explain", "rule", "config"):
        assert name in done.out
        assert unpend(name, "--help").code == 0


def test_no_command_shows_the_help(unpend: Any) -> None:
    done = unpend()
    assert done.code == 2
    assert "Usage" in done.out + done.err


def test_an_unknown_command_says_which_is_near(unpend: Any) -> None:
    done = unpend("chek")
    assert done.code == 2
    assert "Did you mean 'check'?" in done.err


def test_explain_says_who_says_no_and_what_would_help(unpend: Any) -> None:
    done = unpend("explain", "app.yaml", "nodes.yaml")
    assert (done.code, done.err) == (0, "")
    assert "Deployment/shop/web: never (taint)" in done.out
    assert "kube-scheduler" in done.out
    assert "[1] toleration spec.template.spec.tolerations" in done.out
    assert "::: nodes.yaml:8:5" in done.out
    assert "nearest pool" in done.out


def test_explain_shows_what_fits(unpend: Any, project: Path, sample: Any) -> None:
    (project / "app.yaml").write_text(sample.tolerant, encoding="utf-8")
    done = unpend("explain", "app.yaml", "--pools", "nodes.yaml")
    assert "Deployment/shop/web: fits" in done.out
    assert "can run on, for example:" in done.out


@pytest.mark.parametrize("name", ["Deployment/shop/web", "deployment/web", "web"])
def test_explain_one_workload(unpend: Any, project: Path, sample: Any, name: str) -> None:
    (project / "other.yaml").write_text(sample.app.replace("name: web,", "name: other,"), encoding="utf-8")
    done = unpend("explain", ".", "-w", name)
    assert done.code == 0
    assert "Deployment/shop/web" in done.out
    assert "other" not in done.out


def test_explain_a_workload_that_is_not_there(unpend: Any) -> None:
    done = unpend("explain", ".", "-w", "Deployment/shop/wbe")
    assert done.code == 2
    assert "Deployment/shop/web" in done.err


def test_explain_tells_what_it_could_not_read(unpend: Any, project: Path) -> None:
    (project / "broken.yaml").write_text("apiVersion: v1\nkind: Pod\nspec: [\n", encoding="utf-8")
    done = unpend("explain", ".")
    assert done.code == 0
    assert "broken.yaml:" in done.err
    assert "Deployment/shop/web: never" in done.out


def test_explain_prints_the_same_envelope(unpend: Any) -> None:
    done = unpend("explain", ".", "--output", "json")
    data = json.loads(done.out)
    jsonschema.validate(data, load_json("output.schema.json"))
    (workload,) = data["workloads"]
    assert workload["verdict"] == "never"
    (pool,) = workload["pools"]
    assert pool["deciders"] == {"scheduler": "no"}
    (obstacle,) = pool["obstacles"]
    assert obstacle["against"]["at"]["uri"] == "nodes.yaml"


def test_check_prints_valid_json(unpend: Any) -> None:
    done = unpend("check", ".", "--complete", "--output", "json", "--profile", "strict")
    jsonschema.validate(json.loads(done.out), load_json("output.schema.json"))


def test_rule_pages(unpend: Any) -> None:
    page = unpend("rule", "untolerated-taint")
    assert page.code == 0
    assert page.out.startswith("untolerated-taint (taints, error")
    for heading in ("What it checks", "Why it matters", "Example", "Instead", "References"):
        assert f"## {heading}" in page.out
    listed = unpend("rule")
    assert "untolerated-taint" in listed.out
    assert "## What it checks" not in listed.out
    everything = unpend("rule", "--all")
    assert everything.out.count("## What it checks") == len(listed.out.splitlines())
    topic = unpend("rule", "taints/*")
    assert 0 < len(topic.out.splitlines()) < len(listed.out.splitlines())


def test_rule_as_json(unpend: Any) -> None:
    data = json.loads(unpend("rule", "untolerated-taint", "--output", "json").out)
    (rule,) = data["rules"]
    assert rule["name"] == "untolerated-taint"
    assert "## What it checks" in rule["page"]
    listed = json.loads(unpend("rule", "--output", "json").out)
    assert len(listed["rules"]) > 1
    assert "page" not in listed["rules"][0]


def test_a_rule_that_does_not_exist(unpend: Any) -> None:
    done = unpend("rule", "untolerated-tain")
    assert done.code == 2
    assert "did you mean 'untolerated-taint'?" in done.err


CONFIG = """\
clusters:
  prod:
    pools: [nodes.yaml]
    zoneIds: {eu-central-1a: euc1-az2}
    kubernetes: "1.33"
    karpenter: {version: "1.10", featureGates: {NodeOverlay: true}}
    world: {pdbs: closed}
rules: {untolerated-taint: {severity: warning}}
ignore: [{path: "legacy/**", rules: [taints/*], reason: old, until: 2027-01-31}]
failOn: warning
docsUrl: https://docs.example
"""


def test_config_shows_what_is_in_force_as_a_config(unpend: Any, project: Path) -> None:
    (project / ".unpend.yaml").write_text(CONFIG, encoding="utf-8")
    done = unpend("config")
    assert done.code == 0
    assert done.out.startswith("# from ")
    given, shown = read_config(CONFIG), read_config(done.out)
    assert shown.settings("prod") == given.settings("prod")
    assert shown.files_of("prod") == given.files_of("prod")
    for field in ("rules", "ignores", "fail_on", "docs_url", "profile", "exclude"):
        assert getattr(shown, field) == getattr(given, field)


def test_config_without_a_file(unpend: Any) -> None:
    done = unpend("config", "--isolated")
    assert "no config file" in done.out
    read_config(done.out)


def test_config_schema(unpend: Any) -> None:
    schema = json.loads(unpend("config", "--schema").out)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert "clusters" in schema["properties"]
