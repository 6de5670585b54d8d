from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unpend.engine import proof

Run = Callable[..., Any]
OLD = """\
# the shop
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeSelector:
    beta.kubernetes.io/arch: amd64   # old
  tolerations:
    - {key: gone, operator: Exists}  # nobody
    - {key: dedicated, operator: Exists}
  containers:
    - {name: web, image: "example.com/web:1", resources: {requests: {cpu: 100m, memory: 64Mi}}}
---
# not touched:   at  all
apiVersion: v1
kind: ConfigMap
metadata:   {name: c}
data: {a:    b}
"""
FIXED = OLD.replace("beta.kubernetes.io/arch", "kubernetes.io/arch").replace(
    "    - {key: gone, operator: Exists}  # nobody\n", ""
)
CHECK = ("check", "pod.yaml", "--pools", "nodes.yaml", "--profile", "strict")


@pytest.fixture
def pod(project: Path) -> Path:
    path = project / "pod.yaml"
    path.write_bytes(OLD.encode())
    return path


def test_safe_fixes_change_the_lines_they_are_about(unpend: Run, pod: Path) -> None:
    done = unpend(*CHECK, "--fix", "--select", "deprecated-node-label,unused-toleration")
    assert "fixed 2 findings in 1 file" in done.err
    assert pod.read_bytes().decode() == FIXED
    assert done.code == 0
    again = unpend(*CHECK, "--fix", "--select", "deprecated-node-label,unused-toleration")
    assert "fixed" not in again.err


def test_windows_lines_and_a_mark_are_kept(unpend: Run, pod: Path) -> None:
    pod.write_bytes(("\ufeff" + OLD.replace("\n", "\r\n")).encode())
    unpend(*CHECK, "--fix", "--select", "deprecated-node-label,unused-toleration")
    assert pod.read_bytes().decode() == "\ufeff" + FIXED.replace("\n", "\r\n")


def test_diff_shows_and_changes_nothing(unpend: Run, pod: Path) -> None:
    done = unpend(*CHECK, "--diff", "--select", "deprecated-node-label")
    assert done.code == 1
    assert "-    beta.kubernetes.io/arch: amd64   # old\n+    kubernetes.io/arch: amd64   # old\n" in done.out
    assert pod.read_bytes().decode() == OLD
    assert unpend("check", "nodes.yaml", "--diff").code == 0


def test_unsafe_fixes_need_to_be_asked_for(unpend: Run, pod: Path) -> None:
    wrong = OLD.replace("beta.kubernetes.io/arch: amd64", "kubernetes.io/arch: x86_64")
    pod.write_text(wrong, encoding="utf-8")
    unpend(*CHECK, "--fix", "--select", "label-near-miss")
    assert pod.read_text(encoding="utf-8") == wrong
    done = unpend(*CHECK, "--unsafe-fixes", "--select", "label-near-miss")
    assert "kubernetes.io/arch: amd64   # old" in pod.read_text(encoding="utf-8"), done.err


def test_a_fix_that_another_rule_would_complain_of_is_not_offered(unpend: Run, pod: Path) -> None:
    """With the effect of the taint the toleration would fit, and the API would refuse its tolerationSeconds."""
    wrong = "{key: dedicated, operator: Exists, effect: NoExecute, tolerationSeconds: 5}"
    text = OLD.replace("beta.kubernetes.io/arch", "kubernetes.io/arch")
    for toleration, count in ((wrong, 0), (wrong.replace(", tolerationSeconds: 5", ""), 1)):
        pod.write_text(text.replace("{key: dedicated, operator: Exists}", toleration), encoding="utf-8")
        done = unpend(*CHECK, "-o", "json", "--select", "toleration-value-mismatch")
        [finding] = json.loads(done.out)["findings"]
        assert len(finding["fixes"]) == count


def test_an_annotation_moves_to_the_template(unpend: Run, project: Path, sample: Any) -> None:
    text = sample.tolerant.replace(
        "namespace: shop}", 'namespace: shop, annotations: {karpenter.sh/do-not-disrupt: "true"}}'
    )
    (project / "app.yaml").write_text(text, encoding="utf-8")
    unpend("check", "app.yaml", "--pools", "nodes.yaml", "--unsafe-fixes", "--select", "do-not-disrupt-wrong-place")
    after = (project / "app.yaml").read_text(encoding="utf-8")
    assert "metadata: {name: web, namespace: shop}" in after
    assert 'labels: {app: web}, annotations: {karpenter.sh/do-not-disrupt: "true"}' in after


@pytest.mark.parametrize("option", ["--fix", "--unsafe-fixes", "--diff"])
def test_what_is_no_file_is_refused(unpend: Run, option: str) -> None:
    assert unpend("check", "-", option).code == 2
    done = unpend("check", "chart", "--helm", option)
    assert done.code == 2
    assert "change the template" in done.err


def test_a_rendered_file_is_left_alone(unpend: Run, pod: Path) -> None:
    text = "# Source: shop/templates/pod.yaml\n" + OLD
    pod.write_text(text, encoding="utf-8")
    unpend(*CHECK, "--fix", "--select", "deprecated-node-label")
    assert pod.read_text(encoding="utf-8") == text


def test_editors_and_code_scanning_get_the_edits(unpend: Run, pod: Path) -> None:
    done = unpend(*CHECK, "-o", "lsp", "--select", "deprecated-node-label,unused-toleration")
    [published] = [f for f in json.loads(done.out) if f["uri"].endswith("pod.yaml")]
    text = OLD
    edits = [e for d in published["diagnostics"] for fix in d["data"]["fixes"] for e in fix["edits"]]
    for one in sorted(edits, key=lambda e: -e["range"]["start"]["line"]):
        text = _edited(text, one["range"], one["newText"])
    assert text == FIXED
    done = unpend(*CHECK, "-o", "sarif", "--select", "deprecated-node-label")
    [result] = json.loads(done.out)["runs"][0]["results"]
    [change] = result["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "pod.yaml"
    [replacement] = change["replacements"]
    assert replacement["deletedRegion"]["startLine"] == 7
    assert min(replacement["deletedRegion"].values()) >= 1


def _edited(text: str, where: dict[str, Any], new: str) -> str:
    lines = text.splitlines(True)

    def offset(at: dict[str, int]) -> int:
        return sum(map(len, lines[: at["line"]])) + at["character"]

    return text[: offset(where["start"])] + new + text[offset(where["end"]) :]


def test_many_fixes_are_proved_together(unpend: Run, project: Path) -> None:
    body = OLD.split("---")[0]
    text = "---\n".join(body.replace("name: web}", f"name: web-{number}}}") for number in range(30))
    (project / "pod.yaml").write_text(text, encoding="utf-8")
    done = unpend(*CHECK, "--fix", "--select", "deprecated-node-label,unused-toleration")
    assert "fixed 60 findings in 1 file" in done.err


def test_a_report_on_many_objects_tries_no_fixes(unpend: Run, pod: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = (*CHECK, "-o", "json", "--select", "deprecated-node-label")
    [finding] = json.loads(unpend(*asked).out)["findings"]
    assert finding["fixes"]
    monkeypatch.setattr(proof, "_REPORT_BUDGET", 1)
    [finding] = json.loads(unpend(*asked).out)["findings"]
    assert finding["fixes"] == []
