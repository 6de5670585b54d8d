from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from unpend.source.origins import Alignment, Match, Template
from unpend.source.reading import read_text

TEMPLATE = """\
{{- if .Values.on }}
kind: Pod
metadata:
  name: {{ .Values.name }}
spec:
  nodeSelector:
    disk: {{ .Values.disk }}
  containers:
{{- range .Values.containers }}
    - name: {{ . }}
      image: example.com/one
{{- end }}
{{- end }}
"""
RENDERED = """\
# Source: chart/templates/pod.yaml
kind: Pod
metadata:
  name: web
spec:
  nodeSelector:
    disk: ssd
  containers:
    - name: a
      image: example.com/one
    - name: b
      image: example.com/one
"""


def found(line: int) -> Match | None:
    return Alignment(RENDERED, Template(TEMPLATE)).find(line)


def test_a_line_that_helm_left_alone_is_exact() -> None:
    assert found(1) == Match(1, True)
    assert found(5) == Match(5, True)


def test_a_line_in_a_loop_is_exact_where_its_text_stands_once_in_the_template() -> None:
    assert found(9) == found(11) == Match(10, True)


def test_a_value_that_was_filled_in_is_found_by_its_key() -> None:
    assert found(6) == Match(6, False)
    assert found(3) == Match(3, False)


def test_nothing_leads_from_another_text() -> None:
    assert Alignment("a: 1\nb: 2", Template("c: 3\n")).find(0) is None
    assert found(100) is None


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(["a: 1", "b: 2", "- c", "d: {{ x }}", "", "e: 5"]), max_size=12))
def test_a_text_beside_itself_is_never_led_elsewhere_by_an_exact_match(lines: list[str]) -> None:
    text = "\n".join(lines)
    for number, line in enumerate(lines):
        match = Alignment(text, Template(text)).find(number)
        if match is not None and match.exact:
            assert lines[match.line] == line


def test_kustomize_says_where_an_object_comes_from() -> None:
    text = """\
kind: ConfigMap
apiVersion: v1
metadata:
  name: c
  annotations:
    config.kubernetes.io/origin: |
      path: ../base/c.yaml
---
kind: ConfigMap
apiVersion: v1
metadata:
  name: d
  annotations:
    config.kubernetes.io/origin: |
      path: d.yaml
      repo: https://example.com/x
      ref: v1
"""
    origins = [document.origin for document in read_text(text, "x").documents]
    assert [origin.uri if origin else None for origin in origins] == [
        "../base/c.yaml",
        "https://example.com/x//d.yaml?ref=v1",
    ]
