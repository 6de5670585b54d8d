"""Runs: crashes, needs, ownership, open worlds, folding, order."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from unpend.engine.run import RunOptions, cluster_input, run
from unpend.rule import Facts, Finding, placement
from unpend.settings import Settings, World
from unpend.source.reading import read_text

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec:
  containers:
    - {name: a, image: a:latest}
    - {name: b, image: b:latest}
"""


def _names(result: Any) -> list[str]:
    return [f.rule for f in result.findings]


def test_a_finding_has_its_object_path_and_place(bench: Any) -> None:
    first, second = bench.run(POD).findings
    assert (first.rule, first.severity, first.message) == ("loose-image", "warning", "image a:latest")
    assert first.object.id == "Pod/shop/web"
    assert first.path == "spec.containers[0].image"
    assert first.location.span.start == (5, 23)
    assert second.location.span.start == (6, 23)
    assert first.fingerprint != second.fingerprint
    assert first.workload == "Pod/shop/web"


def test_a_crash_is_a_finding_and_the_others_still_run(bench: Any) -> None:
    def broken(facts: Facts, options: Any) -> Iterator[Finding]:
        yield Finding(facts.inventory.workloads[0].place, "lost")
        raise KeyError("cpu")

    result = bench.run(POD, bench.rule("broken", broken), bench.images)
    assert sorted(_names(result)) == ["internal-error", "loose-image", "loose-image"]
    error = next(f for f in result.findings if f.rule == "internal-error")
    assert error.severity == "error"
    assert "rule broken failed: KeyError: 'cpu'" in error.message
    assert result.untrustworthy


def test_a_rule_that_yields_nonsense_is_a_crash(bench: Any) -> None:
    def nonsense(facts: Facts, options: Any) -> Any:
        return ["a text"]

    result = bench.run(POD, bench.rule("nonsense", nonsense), bench.images)
    assert sorted(_names(result)) == ["internal-error", "loose-image", "loose-image"]


def test_rules_that_share_a_broken_analysis_are_told_once(bench: Any) -> None:
    def compute() -> None:
        raise ZeroDivisionError("deep inside")

    def asking(facts: Facts, options: Any) -> Any:
        return facts.memo("shared", compute)

    result = bench.run(POD, bench.rule("one", asking), bench.rule("two", asking))
    (error,) = result.findings
    assert "rules one, two failed: ZeroDivisionError: deep inside" in error.message


def test_needs_that_are_not_met_skip_the_rule_without_importing_it(bench: Any) -> None:
    def never(facts: Facts, options: Any) -> Any:
        raise AssertionError("must not be asked")

    result = bench.run(POD, bench.rule("nodes-only", never, needs=("workloads", "nodes")), bench.images)
    assert [(s.rule, s.reason) for s in result.skipped_rules] == [("nodes-only", "no Node objects were given")]
    assert not result.untrustworthy


def test_closed_needs_follow_the_world(bench: Any) -> None:
    rule = bench.rule("closed", bench.each_image, needs=("closed-pools",))
    assert bench.run(POD, rule).skipped_rules
    assert bench.run(POD, rule, settings=Settings(world=World(pools="closed", nodes="closed"))).findings


class TestOwnership:
    @pytest.fixture
    def rules(self, bench: Any) -> list[Any]:
        def speaking(text: str) -> Any:
            def check(facts: Facts, options: Any) -> Iterator[Finding]:
                for w in facts.inventory.workloads:
                    yield Finding(w.place, text, subject=placement(w.id), workload=w.id)

            return check

        return [
            bench.rule("precise", speaking("precise"), rank=10, competes=True),
            bench.rule("vague", speaking("vague"), rank=90, competes=True),
            bench.images,
        ]

    def test_the_best_explanation_owns_the_cause(self, bench: Any, rules: list[Any]) -> None:
        assert sorted(_names(bench.run(POD, *rules))) == ["loose-image", "loose-image", "precise"]

    @pytest.mark.parametrize("options", [{"ignore": ("precise",)}, {"select": ("vague",)}])
    def test_who_leaves_it_out_is_not_told_a_worse_one(self, bench: Any, rules: list[Any], options: Any) -> None:
        assert not {"precise", "vague"} & set(_names(bench.run(POD, *rules, **options)))

    def test_who_suppresses_it_neither(self, bench: Any, rules: list[Any]) -> None:
        result = bench.run(POD, *rules, config="ignore: [{rules: [precise], path: '*'}]")
        assert not {"precise", "vague"} & {f.rule for f in result.active}

    def test_a_rule_that_is_off_by_default_takes_nothing_away(self, bench: Any, rules: list[Any]) -> None:
        rules[0] = replace(rules[0], enabled=False)
        assert "vague" in _names(bench.run(POD, *rules))


class TestOpenWorld:
    def test_findings_that_assume_completeness_are_hints(self, bench: Any) -> None:
        rule = bench.rule("pools-say", bench.each_image, severity="error", assumes_closed=("pools",))
        first = bench.run(POD, rule).findings[0]
        assert (first.severity, first.message) == ("info", "image a:latest (in the pools found here)")
        closed = Settings(world=World(pools="closed", nodes="closed"))
        assert {f.severity for f in bench.run(POD, rule, settings=closed).findings} == {"error"}

    def test_a_finding_may_say_that_it_needs_no_completeness(self, bench: Any) -> None:
        def proved(facts: Facts, options: Any) -> Iterator[Finding]:
            for finding in bench.each_image(facts, options):
                yield replace(finding, assumes_closed=())

        rule = bench.rule("pools-say", proved, severity="error", assumes_closed=("pools",))
        assert {f.severity for f in bench.run(POD, rule).findings} == {"error"}

    def test_an_explicit_severity_does_not_make_a_hint_certain(self, bench: Any) -> None:
        rule = bench.rule("pools-say", bench.each_image, assumes_closed=("pools",))
        config = "rules: {pools-say: {severity: error}}"
        assert {f.severity for f in bench.run(POD, rule, config=config).findings} == {"info"}


class TestFingerprints:
    def test_moved_lines_files_and_list_items_do_not_change_it(self, bench: Any) -> None:
        moved = POD.replace("spec:\n", "spec:\n  # a comment\n\n").replace(
            "    - {name: a", "    - {name: first, image: 'c:1'}\n    - {name: a"
        )
        before = {f.message: f.fingerprint for f in bench.run(POD).findings}
        after = {f.message: f.fingerprint for f in bench.run(moved, uri="other.yaml").findings}
        assert before == after

    def test_it_depends_on_rule_object_and_value(self, bench: Any) -> None:
        def of(text: str, *rules: Any) -> set[str]:
            return {f.fingerprint for f in bench.run(text, *rules).findings}

        assert of(POD).isdisjoint(of(POD.replace("name: web", "name: api")))
        assert of(POD).isdisjoint(of(POD.replace("a:latest", "x:latest").replace("b:latest", "y:latest")))
        assert of(POD).isdisjoint(of(POD, bench.rule("other", bench.each_image)))

    def test_repeated_ones_are_salted(self, bench: Any) -> None:
        findings = bench.run(f"{POD}---\n{POD}").findings
        assert len({f.fingerprint for f in findings}) == len(findings) == 4

    def test_a_baseline_takes_what_it_knows(self, bench: Any) -> None:
        known = frozenset(f.fingerprint for f in bench.run(POD).findings)
        result = bench.run(f"{POD}    - {{name: c, image: c:latest}}\n", baseline=known)
        assert [f.message for f in result.active] == ["image c:latest"]
        assert {f.suppressed.kind for f in result.findings if f.suppressed} == {"baseline"}


def test_what_clusters_share_is_shown_once(bench: Any) -> None:
    result = bench.run(POD, clusters=("prod", "dev"))
    assert [f.clusters for f in result.findings] == [("prod", "dev"), ("prod", "dev")]


def test_what_differs_between_clusters_is_kept_apart(bench: Any) -> None:
    def by_cluster(facts: Facts, options: Any) -> Iterator[Finding]:
        yield Finding(facts.inventory.workloads[0].place, f"in {facts.settings.cluster}")

    findings = bench.run(POD, bench.rule("by-cluster", by_cluster), clusters=("prod", "dev")).findings
    assert [(f.message, f.clusters) for f in findings] == [("in dev", ("dev",)), ("in prod", ("prod",))]
    assert len({f.fingerprint for f in findings}) == 2


def test_skipped_rules_name_the_clusters_they_are_about(bench: Any) -> None:
    rule = bench.rule("nodes-only", bench.nothing, needs=("nodes",))
    result = bench.run(POD, rule, clusters=("prod", "dev"))
    assert [s.reason for s in result.skipped_rules] == ["no Node objects were given"]


def test_helm_test_hooks_are_passed_over(bench: Any) -> None:
    hook = POD.replace("namespace: shop", 'namespace: shop, annotations: {"helm.sh/hook": "test"}')
    assert bench.run(hook).findings == ()


def test_of_other_hooks_only_the_placement_is_judged(bench: Any) -> None:
    hook = POD.replace("namespace: shop", 'namespace: shop, annotations: {"helm.sh/hook": "pre-install, test"}')
    assert bench.run(hook).findings == ()

    def unplaced(facts: Facts, options: Mapping[str, Any]) -> Iterable[Finding]:
        [workload] = facts.inventory.workloads
        yield Finding(workload.place, "no node", subject=placement(workload.id), workload=workload.id)

    assert len(bench.run(hook, bench.rule("unplaced", unplaced)).findings) == 1


def test_only_the_named_files_are_reported(bench: Any) -> None:
    assert bench.run(POD, report_only={"app.yaml"}).findings
    assert bench.run(POD, report_only={"other.yaml"}).findings == ()


def test_findings_are_ordered_by_path_line_column_rule(bench: Any) -> None:
    rules = [bench.rule(name, bench.each_image) for name in ("zebra", "ant")]
    findings = bench.run(POD, *rules).findings
    keys = [(f.location.uri, *f.location.span.start, f.rule) for f in findings]
    assert keys == sorted(keys)
    assert [k[-1] for k in keys] == ["ant", "zebra", "ant", "zebra"]


def test_troubles_become_findings_and_notices(bench: Any) -> None:
    broken = f"{POD}---\napiVersion: v1\nkind: Pod\nspec: [}}\n---\n{POD.replace('web', 'api')}"
    result = bench.run(broken)
    assert _names(result).count("yaml-syntax") == 1
    assert _names(result).count("loose-image") == 4


def test_a_doubled_key_is_an_error_in_an_object_only(bench: Any) -> None:
    doubled = POD.replace("spec:\n", "spec:\n  nodeName: a\n  nodeName: b\n")
    (error,) = [f for f in bench.run(doubled).findings if f.rule == "yaml-syntax"]
    assert (error.severity, error.path, error.location.span.start.line) == ("error", "spec.nodeName", 5)
    assert error.object.id == "Pod/shop/web"
    assert bench.run("a: 1\na: 2\n").findings == ()


def test_the_same_input_gives_the_same_output_whatever_the_hash_seed(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import unpend\n"
        f"text = {(POD + '---' + chr(10) + POD.replace('web', 'api')).replace('latest', '1')!r}\n"
        "text = text.replace('containers:', 'tolerations: [{operator: Exists}]\\n  containers:')\n"
        "print([(f.rule, f.location, f.fingerprint, f.message) for f in unpend.check(text).findings])\n",
        encoding="utf-8",
    )
    outputs = set()
    for seed in ("1", "2", "3"):
        environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(p for p in sys.path if p)}
        done = subprocess.run(
            [sys.executable, str(script)], capture_output=True, text=True, check=True, env=environment
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert "tolerate-everything" in outputs.pop()


RENDERED = "# Source: chart/templates/pod.yaml\n" + POD


def test_findings_of_several_renderings_of_a_template_are_one(bench: Any) -> None:
    """The second cluster gets the same text some lines further down, and a pod more."""
    rule = bench.rule("image", bench.each_image)
    first = cluster_input("a", read_text(RENDERED, "<a>"), Settings())
    second = cluster_input(
        "b", read_text(f"# x\n---\n{RENDERED}---\n{RENDERED.replace('web', 'api')}", "<b>"), Settings()
    )
    findings: Any = run([first, second], RunOptions(select=("image",)), bench.registry(rule)).findings
    assert {f.clusters for f in findings if f.object.name == "web"} == {("a", "b")}
    assert {f.clusters for f in findings if f.object.name == "api"} == {("b",)}
    assert {f.location.uri for f in findings if f.object.name == "web"} == {"<a>"}


def test_two_objects_of_one_name_keep_their_places(bench: Any) -> None:
    twice = f"{RENDERED}---\n{RENDERED}"
    inputs = [cluster_input(name, read_text(twice, f"<{name}>"), Settings()) for name in ("a", "b")]
    rule = bench.rule("image", bench.each_image)
    findings = run(inputs, RunOptions(select=("image",)), bench.registry(rule)).findings
    alone = run(inputs[:1], RunOptions(select=("image",)), bench.registry(rule)).findings
    assert len({f.location for f in alone}) == len(alone)
    assert {f.location for f in alone} <= {f.location for f in findings}


def test_an_old_catalogue_is_said_where_pools_rest_on_it() -> None:
    pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec: {}\n"
    old = RunOptions(today=date(2028, 1, 1))
    cluster = cluster_input("", read_text(pool, "pool.yaml"), Settings())
    assert run([cluster], RunOptions(today=date(2026, 11, 1))).notices == ()
    (notice,) = run([cluster], old).notices
    assert "catalogue is of 2026-10-27" in notice.message
    assert run([cluster_input("", read_text(POD, "pod.yaml"), Settings())], old).notices == ()
