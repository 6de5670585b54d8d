"""Comments, annotations and config entries: what they take, and when they are reported as good for nothing."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from unpend.engine.suppression import parse_annotation

HEAD = "apiVersion: v1\nkind: Pod\n"
TODAY = date(2026, 6, 1)


def _pod(images: str, metadata: str = "{name: web}", head: str = "") -> str:
    return f"{head}{HEAD}metadata: {metadata}\nspec:\n  containers:\n{images}"


LOOSE = "    - {name: a, image: a:latest}\n"


def _unused(result: Any) -> list[tuple[str, str]]:
    return [(f.severity, f.message) for f in result.active if f.rule == "unused-suppression"]


def _active(result: Any) -> list[str]:
    return [f.message for f in result.active if f.rule == "loose-image"]


@pytest.mark.parametrize("rules", ["loose-image", "colours/*", "other, loose-image", "loose-image, until=2026-06-01"])
def test_a_comment_on_the_line(bench: Any, rules: str) -> None:
    text = _pod(f"    - {{name: a, image: a:latest}}  # unpend: ignore[{rules}] -- pinned later\n{LOOSE}")
    result = bench.run(text, bench.images, bench.rule("other", bench.nothing), today=TODAY)
    assert len(_active(result)) == 1
    (taken,) = [f for f in result.findings if f.suppressed]
    assert (taken.suppressed.kind, taken.suppressed.reason) == ("comment", "pinned later")


def test_a_comment_above_the_block(bench: Any) -> None:
    text = _pod(f"    # unpend: ignore[loose-image] -- pinned later\n    - name: a\n      image: a:latest\n{LOOSE}")
    assert _active(bench.run(text)) == ["image a:latest"]
    assert _active(bench.run(_pod(LOOSE, head="# unpend: ignore[loose-image] -- all of it\n"))) == []


def test_a_comment_on_the_line_of_the_key(bench: Any) -> None:
    text = _pod("    - name: a\n      image:  # unpend: ignore[loose-image] -- x\n        a:latest\n")
    assert _active(bench.run(text)) == []


@pytest.mark.parametrize(
    "metadata",
    [
        "{name: web, annotations: {unpend.dev/ignore: loose-image}}",
        "{name: web, annotations: {unpend.dev/ignore: 'other, colours/* -- reviewed'}}",
        "{name: web, annotations: {unpend.dev/ignore: 'loose-image until=2026-06-01'}}",
    ],
)
def test_an_annotation_on_the_object(bench: Any, metadata: str) -> None:
    result = bench.run(_pod(LOOSE, metadata), bench.images, bench.rule("other", bench.nothing), today=TODAY)
    assert _active(result) == []
    assert {f.suppressed.kind for f in result.findings if f.suppressed} == {"annotation"}


def test_an_annotation_on_the_pod_template(bench: Any) -> None:
    text = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    metadata: {annotations: {unpend.dev/ignore: loose-image -- from the chart}}
    spec:
      containers: [{name: a, image: a:latest}]
"""
    result = bench.run(text)
    assert _active(result) == []
    assert _unused(result) == []


def test_a_config_entry_by_path_and_object(bench: Any) -> None:
    def run(entry: str) -> list[str]:
        return _active(bench.run(_pod(LOOSE), config=f"ignore: [{entry}]", uri="charts/legacy/a.yaml", today=TODAY))

    assert run("{path: 'charts/**', rules: [loose-image], reason: r}") == []
    assert run("{path: 'charts/legacy'}") == []
    assert run("{objects: Pod/w*}") == []
    assert run("{objects: Pod/w*, path: charts/**, until: 2026-06-01}") == []
    assert len(run("{path: 'apps/**'}")) == 1
    assert len(run("{objects: Deployment/*}")) == 1
    assert len(run("{objects: Pod/w*, path: apps/**}")) == 1
    assert len(run("{path: 'charts/**', until: 2026-05-31}")) == 1


class TestUnused:
    def test_one_that_took_something_is_fine(self, bench: Any) -> None:
        assert _unused(bench.run(_pod(LOOSE, "{name: w, annotations: {unpend.dev/ignore: loose-image}}"))) == []

    def test_one_that_took_nothing(self, bench: Any) -> None:
        text = _pod("    - {name: a, image: a:1}  # unpend: ignore[loose-image] -- was needed once\n")
        result = bench.run(text)
        assert _unused(result) == [("info", "'loose-image' reports nothing here: remove this suppression")]
        (finding,) = result.active
        assert finding.location.span.start.line == 5
        assert finding.tags == ("unnecessary",)

    def test_each_rule_of_a_list_by_itself(self, bench: Any) -> None:
        text = _pod(LOOSE.rstrip() + "  # unpend: ignore[loose-image, other] -- x\n")
        result = bench.run(text, bench.images, bench.rule("other", bench.nothing))
        assert _unused(result) == [("info", "'other' reports nothing here: remove this suppression")]

    @pytest.mark.parametrize("options", [{"ignore": ("other",)}, {"select": ("loose-image", "unused-suppression")}])
    def test_not_when_the_rule_was_not_asked(self, bench: Any, options: Any) -> None:
        text = _pod("    - {name: a, image: a:1}  # unpend: ignore[other] -- x\n")
        assert _unused(bench.run(text, bench.images, bench.rule("other", bench.nothing), **options)) == []

    def test_not_when_its_need_is_not_met_or_it_failed(self, bench: Any) -> None:
        def broken(facts: Any, options: Any) -> Any:
            raise ValueError

        text = _pod("    - {name: a, image: a:1}  # unpend: ignore[other] -- x\n")
        assert _unused(bench.run(text, bench.rule("other", bench.nothing, needs=("nodes",)))) == []
        assert _unused(bench.run(text, bench.rule("other", broken))) == []

    def test_not_in_what_is_no_object(self, bench: Any) -> None:
        assert _unused(bench.run("image: a:1  # unpend: ignore[loose-image] -- values\n")) == []

    def test_a_rule_that_does_not_exist(self, bench: Any) -> None:
        text = _pod("    - {name: a, image: a:1}  # unpend: ignore[lose-image] -- x\n")
        ((severity, message),) = _unused(bench.run(text))
        assert severity == "warning"
        assert message == "nothing is suppressed: there is no rule 'lose-image', did you mean 'loose-image'?"

    def test_an_expired_one_takes_nothing_and_is_told(self, bench: Any) -> None:
        text = _pod(LOOSE.rstrip() + "  # unpend: ignore[loose-image, until=2026-05-31] -- x\n")
        result = bench.run(text, today=TODAY)
        assert _active(result) == ["image a:latest"]
        assert _unused(result) == [("warning", "this suppression of 'loose-image' expired on 2026-05-31")]
        assert _active(bench.run(text)) == [], "without a date nothing is expired"

    def test_a_malformed_annotation_takes_nothing(self, bench: Any) -> None:
        text = _pod(LOOSE, "{name: w, annotations: {unpend.dev/ignore: 'loose-image until=soon'}}")
        result = bench.run(text)
        assert len(_active(result)) == 1
        assert "until=soon is not a date" in _unused(result)[0][1]

    def test_a_malformed_comment_is_told(self, bench: Any) -> None:
        result = bench.run(_pod(LOOSE.rstrip() + "  # unpend: ignore loose-image\n"))
        assert len(_active(result)) == 1
        assert len(_unused(result)) == 1

    def test_a_config_entry_whose_files_were_checked(self, bench: Any) -> None:
        config = "ignore:\n  - {path: 'app.yaml', rules: [loose-image], reason: r}\n"
        result = bench.run(_pod("    - {name: a, image: a:1}\n"), config=config)
        (finding,) = result.active
        assert finding.location.uri == ".unpend.yaml"
        assert finding.path == "ignore[0].rules[0]"

    def test_not_a_config_entry_whose_files_were_not_checked(self, bench: Any) -> None:
        config = "ignore: [{path: 'other/**', rules: [loose-image]}]"
        assert _unused(bench.run(_pod("    - {name: a, image: a:1}\n"), config=config)) == []

    def test_it_can_be_suppressed_itself(self, bench: Any) -> None:
        text = _pod(
            "    - {name: a, image: a:1}  # unpend: ignore[loose-image, unused-suppression] -- for old charts\n"
        )
        assert _unused(bench.run(text)) == []

    def test_used_in_one_cluster_is_used(self, bench: Any) -> None:
        text = _pod(LOOSE.rstrip() + "  # unpend: ignore[loose-image] -- x\n")
        assert _unused(bench.run(text, clusters=("prod", "dev"))) == []


def test_an_internal_error_cannot_be_suppressed(bench: Any) -> None:
    def broken(facts: Any, options: Any) -> Any:
        raise ValueError

    result = bench.run(
        _pod(LOOSE), bench.rule("broken", broken), config="ignore: [{rules: ['*'], path: '**'}]", ignore=("meta/*",)
    )
    assert [f.rule for f in result.active] == ["internal-error"]


@pytest.mark.parametrize("written", ["5", "[loose-image]", "{a: b}", "yes"])
def test_an_annotation_that_is_no_text_is_left_to_the_rule_about_values(bench: Any, written: str) -> None:
    result = bench.run(_pod(LOOSE, f"{{name: web, annotations: {{unpend.dev/ignore: {written}}}}}"))
    assert _unused(result) == []
    assert len(_active(result)) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a, b", (("a", "b"), "", None, "")),
        ("a b/* -- why not", (("a", "b/*"), "why not", None, "")),
        ("a until=2027-01-31 -- why", (("a",), "why", date(2027, 1, 31), "")),
        ("", ((), "", None, "")),
    ],
)
def test_annotations(text: str, expected: Any) -> None:
    assert parse_annotation(text) == expected
