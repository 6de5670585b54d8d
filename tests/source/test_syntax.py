"""The parser hooks, which are no documented interface of PyYAML, and life without libyaml."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest
import yaml

from unpend.source.data import NotPlainError, fast_data
from unpend.source.syntax import HAS_LIBYAML, FastParser

needs_libyaml = pytest.mark.skipif(not HAS_LIBYAML, reason="PyYAML was built without libyaml")


@needs_libyaml
def test_unwritten_tags_are_slices_and_written_ones_strings() -> None:
    parser = FastParser('a: 1\nb: "1"\nc: !!str 1\nd: !own [x]\n')
    assert parser.check_node()
    root = parser.get_node()
    assert isinstance(root, yaml.MappingNode)
    tags = {key.value: value.tag for key, value in root.value}
    assert tags["a"] == slice(yaml.ScalarNode, "1", (True, False))
    assert tags["b"] == slice(yaml.ScalarNode, "1", (False, True))
    assert tags["c"] == "tag:yaml.org,2002:str"
    assert tags["d"] == "!own"
    assert isinstance(root.tag, slice)
    assert not parser.check_node()


@needs_libyaml
def test_marks_count_code_points() -> None:
    parser = FastParser('"\U0001f600é": x\n')
    assert parser.check_node()
    key, value = parser.get_node().value[0]
    assert (key.start_mark.index, key.end_mark.index) == (0, 4)
    assert (value.start_mark.line, value.start_mark.column) == (0, 6)


@needs_libyaml
@pytest.mark.parametrize(
    "text",
    [
        "a: &x 1\nb: *x\n",
        "a: !!str 1\n",
        "a: 1\na: 2\n",
        "<<: {a: 1}\n",
        "? [a]\n: 1\n",
        "a: .inf\n",
        "a: [\n",
        "a: ! 1\n",
    ],
)
def test_the_fast_way_leaves_everything_odd_to_the_exact_way(text: str) -> None:
    with pytest.raises(NotPlainError):
        fast_data(text)


@needs_libyaml
def test_the_fast_way_reads_plain_documents() -> None:
    assert fast_data("a: [1, 'x', {on: off}]\n") == ({"a": [1, "x", {"true": False}]}, False)
    assert fast_data("# nothing\n") is None
    assert fast_data("a: 1\n---\nb: 2\n") == ({"a": 1}, True)


def test_without_libyaml_everything_is_read_all_the_same() -> None:
    script = textwrap.dedent(
        """
        import sys
        sys.modules["yaml._yaml"] = None
        from unpend.source.reading import read_text
        from unpend.source.syntax import HAS_LIBYAML
        assert not HAS_LIBYAML
        text = "kind: Pod\\nx: &a {v: 0o17, z: [on]}\\nw: *a\\n---\\na: [\\n---\\nb: 'c'\\n"
        reading = read_text(text, "x")
        inner = {"v": 15, "z": [True]}
        assert [d.data for d in reading.documents] == [{"kind": "Pod", "x": inner, "w": inner}, {"b": "c"}]
        assert [t.span.start.line for t in reading.troubles] == [4], reading.troubles
        assert reading.documents[0].locate(("x", "z", 0)).span == ((1, 20), (1, 22))
        assert reading.documents[1].style(("b",)) == "single"
        """
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, env={"PYTHONPATH": ":".join(sys.path)})
