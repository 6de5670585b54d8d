"""Differential fuzzing of the YAML reader: mutants of manifest fragments, read by unpend and by PyYAML's composer.

    python tools/fuzz_yaml.py --minutes 10 [--seed 1]

For every mutant: both give the same data, or both refuse; the fast way and the exact way agree; nothing raises; every
span holds text that reads as the value it stands for. Prints each disagreement and exits with 1 when there was one.
"""

from __future__ import annotations

import argparse
import base64
import math
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from unpend.source.compose import build
from unpend.source.data import NotPlainError, exact_data, fast_data
from unpend.source.document import Document
from unpend.source.json_stream import read_values
from unpend.source.locator import TextLocator
from unpend.source.place import Part, Span, Step
from unpend.source.reading import read_text
from unpend.source.syntax import Problem

FRAGMENTS = (
    """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web, "tier": 'front'}
spec:
  replicas: 3
  template:
    spec:
      nodeSelector:
        kubernetes.io/arch: arm64
      tolerations:
      - key: dedicated
        operator: Equal
        value: "true"
      - {key: gpu, operator: Exists}
      containers:
      - name: web   # the only one
        image: registry.example/web:1.10
        args: ["--port=8080", --verbose]
        resources:
          requests: {cpu: 500m, memory: 1Gi}
""",
    """\
kind: ConfigMap
data:
  config.yaml: |
    level: info
    # not a comment
    list:
      - a

  folded: >-
    one
    two

    three
  empty:
  last: "a \\u00e9 \\
    b"
""",
    """\
base: &base
  cpu: 1
  memory: 0x10
other: &list [1, 2.50, ~, yes, 0644, 1e3]
job:
  <<: *base
  cpu: 2
  values: *list
  tag: !!str 12
  own: !Ref thing
""",
    """\
{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "annotations": {"x/y": "1"}},
 "spec": {"containers": [{"name": "a", "ports": [{"containerPort": 80}]}], "nodeName": null}}
""",
    """\
- - a
  - b: c
-   deep:
      ? key
      : value
- 'it''s'
- plain over
  two lines
-
- 2020-01-01
""",
)
TOKENS = (
    " ", "  ", "\n", "\n\n", "\t", ":", ": ", "-", "- ", "? ", "#", " # c\n", "'", '"', "[", "]", "{", "}", ",", "&a ",
    "*a", "&b ", "*b", "!t ", "!!str ", "! ", "|\n", ">\n", "|+\n", "|2\n", "%", "@", "`", "\\", "\\n", "<<: ", "...\n",
    "y", "no", "~", "0", "08", "0x", "1e5", ".5", "-1", "1_0", "null", "é", "\U0001f600", "\u2028", "\x85", "x: y\n",
    "a: 1\n", "- x\n", "    ",
)  # fmt: skip
LITERAL_NUMBER = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|[0-9]+)\Z")
DECIMAL = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\Z")
BIG = 1 << 63
_OTHER_BREAKS = re.compile("[\x85\u2028\u2029]")


class RefusedError(Exception):
    """The straightforward reader refuses."""


class UnclearError(Exception):
    """The straightforward reader is no judge here."""


def mutants(rng: random.Random) -> Iterator[str]:
    """Texts without end: a fragment, changed in one to six places."""
    while True:
        text = rng.choice(FRAGMENTS)
        for _ in range(rng.randint(1, 6)):
            text = _mutate(rng, text)
        yield text


def _mutate(rng: random.Random, text: str) -> str:
    at = rng.randint(0, len(text))
    to = min(len(text), at + rng.randint(1, 8))
    lines = text.splitlines(keepends=True) or [""]
    line = rng.randrange(len(lines))
    changes: list[Callable[[], str]] = [
        lambda: text[:at] + rng.choice(TOKENS) + text[at:],
        lambda: text[:at] + rng.choice(TOKENS) + text[to:],
        lambda: text[:at] + text[to:],
        lambda: "".join(lines[:line] + lines[line + 1 :]),
        lambda: "".join([*lines[: line + 1], *lines[line:]]),
        lambda: "".join([*lines[:line], " " * rng.randint(1, 3) + lines[line], *lines[line + 1 :]]),
        lambda: "".join([*lines[:line], lines[line].replace("  ", "", 1), *lines[line + 1 :]]),
        lambda: text[:at] + rng.choice(FRAGMENTS)[: rng.randint(1, 120)] + text[at:],
    ]
    return rng.choice(changes)()


class StraightLoader(yaml.CSafeLoader):
    """PyYAML's composer, with tags that tell plain scalars, quoted ones and written tags apart."""

    def resolve(self, kind: type, value: Any, implicit: Any) -> Any:
        """`plain` or `quoted` where no tag is written."""
        return "plain" if kind is yaml.ScalarNode and implicit[0] else "quoted"


def plain_reading(text: str) -> Any:
    """The data of the first document by way of PyYAML's own composer and the rules written down once more.

    Raises RefusedError, and UnclearError where the composer is stricter than Kubernetes' library.
    """
    loader = StraightLoader(text)
    try:
        if not loader.check_node():
            return None
        node = loader.get_node()
    except yaml.YAMLError as error:
        if "found duplicate anchor" in str(error):
            raise UnclearError from None
        raise RefusedError from None
    finally:
        loader.dispose()
    return _construct(node, ())


def _construct(node: Any, around: tuple[int, ...]) -> Any:
    if id(node) in around:
        raise RefusedError
    around = (*around, id(node))
    if isinstance(node, yaml.ScalarNode):
        return _json(_scalar(node))
    if isinstance(node, yaml.SequenceNode):
        return [_construct(child, around) for child in node.value]
    data: dict[str, Any] = {}
    for key, value in node.value:
        if isinstance(key, yaml.ScalarNode) and key.value == "<<" and key.tag.endswith(("plain", ":merge")):
            for merged in _merged(value):
                data.update(_construct(merged, around))
        else:
            data[_key(key)] = _construct(value, around)
    return data


def _merged(node: Any) -> list[Any]:
    found = [node] if isinstance(node, yaml.MappingNode) else list(reversed(node.value))
    if isinstance(node, yaml.ScalarNode) or not all(isinstance(item, yaml.MappingNode) for item in found):
        raise RefusedError
    return found


def _key(node: Any) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise RefusedError
    value = _scalar(node)
    if value is None or (isinstance(value, int) and value >= BIG):
        raise RefusedError
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        raise UnclearError
    return str(value)


def _scalar(node: Any) -> Any:
    tag = node.tag.removeprefix("tag:yaml.org,2002:")
    if tag == "binary":
        try:
            return base64.b64decode(node.value.encode(), validate=True).decode()
        except ValueError:
            raise UnclearError from None
    if tag == "plain":
        return _plain(node.value)
    if tag in ("bool", "int", "float", "null", "timestamp"):
        raise UnclearError
    return node.value


def _plain(text: str) -> Any:
    if text in ("", "~") or text in ("null", "Null", "NULL"):
        return None
    for words, value in ((("y", "yes", "true", "on"), True), (("n", "no", "false", "off"), False)):
        if text.lower() in words and text in (text.lower(), text.upper(), text.capitalize()):
            return value
    if re.match(r"[-+]?\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z", text):
        return math.inf
    digits = text.replace("_", "") if text[0] in "+-0123456789" else text
    if LITERAL_NUMBER.match(digits):
        modern = re.sub(r"\A([-+]?)0([0-7]+)\Z", r"\g<1>0o\2", digits)
        try:
            number = int(modern, 0)
        except ValueError:
            number = BIG * 4
        if -BIG <= number < (2 * BIG if digits[0] not in "+-" else BIG):
            return number
    return float(digits) if DECIMAL.match(digits) and not math.isinf(float(digits)) else text


def _json(value: Any) -> Any:
    if isinstance(value, float):
        if math.isinf(value):
            raise RefusedError
        return int(value) if value.is_integer() and abs(value) < BIG else value
    return value


def disagreements(text: str) -> list[str]:
    """What is wrong with the reading of a text; empty when all is well."""
    said: list[str] = []
    try:
        table = build(text)
        exact = None if table is None else exact_data(table).data
        refused = ""
    except Problem as problem:
        table, exact, refused = None, None, problem.message
        if not 0 <= problem.index <= len(text):
            said.append(f"the problem is at {problem.index} of {len(text)}")
    try:
        fast = fast_data(text)
        if refused:
            said.append(f"the fast way reads {fast!r}, the exact way says: {refused}")
        elif repr(fast[0] if fast else None) != repr(exact):
            said.append(f"fast {fast!r}, exact {exact!r}")
    except NotPlainError:
        pass
    try:
        if "%" in text or "! " in text:
            raise UnclearError
        expected = plain_reading(text)
        if refused:
            said.append(f"refused ({refused}), the straightforward reading gives {expected!r}")
        elif not refused and repr(exact) != repr(expected):
            said.append(f"read as {exact!r}, the straightforward reading gives {expected!r}")
    except RefusedError:
        if not refused:
            said.append(f"read as {exact!r}, the straightforward reading refuses")
    except UnclearError:
        pass
    for document in read_text(text, "mutant.yaml").documents:
        said.extend(wrong_spans(document))
    return said


def wrong_spans(document: Document) -> list[str]:
    """The values of a document whose span does not hold text that reads as the value."""
    lines = document.text.split("\n")
    if not isinstance(document.locator, TextLocator):
        return ["no locator"]
    json = document.locator.make is not build
    if not json and ("*" in document.text or _OTHER_BREAKS.search(document.text)):
        return []
    said = [] if json else unlike_table(document)
    for path, value in paths(document.data):
        span = document.locator(path, "value")
        style = document.style(path)
        if span is None or style is None:
            said.append(f"no span of {path}")
            continue
        here = Span(*(mark._replace(line=mark.line - document.first_line) for mark in span))
        shown = cut(lines, here)
        if style in ("literal", "folded"):
            if not shown.startswith(("|", ">", "!", "&")):
                said.append(f"{path}: {shown!r} is no block scalar")
            continue
        if json:
            if repr(json_of(shown)) != repr(value):
                said.append(f"{path}: {shown!r} is not the JSON of {value!r}")
            continue
        readings = (reading_of(" " * here.start.column + shown), reading_of(f"[{shown}]"))
        if repr(value) not in (repr(readings[0]), repr(readings[1])[1:-1]) and not _changes_alone(shown):
            said.append(f"{path}: {shown!r} reads as {readings[0]!r} and not as {value!r}")
    return said


def unlike_table(document: Document) -> list[str]:
    """The paths whose span is another when it is looked up in the table of parser events."""
    exact = TextLocator(document.text, document.first_line)
    parts: tuple[Part, ...] = ("value", "key", "entry")
    said = []
    for path, _ in paths(document.data):
        for asked, part in (*((path, part) for part in parts), ((*path, "none", 3), parts[0])):
            span, expected = document.locate(asked, part), exact(asked, part)
            if span is None or span.span != expected:
                said.append(f"{part} of {asked}: {span} and not {expected}")
    return said


def json_of(text: str) -> Any:
    """The data of a piece of JSON."""
    values, _ = read_values(text)
    return values[0].data if values else None


def reading_of(text: str) -> Any:
    """The data of a piece of YAML, or what is wrong with it."""
    try:
        table = build(text)
        return None if table is None else exact_data(table).data
    except Problem as problem:
        return problem


def _changes_alone(shown: str) -> bool:
    """Text that means something else without its surroundings."""
    return bool(re.search(r"(?:^|\n)(?:---|\.\.\.)|[|>]|^%", shown)) or shown.startswith("\ufeff")


def paths(data: Any, path: tuple[Step, ...] = ()) -> Iterator[tuple[tuple[Step, ...], Any]]:
    """Every path of some data with its value."""
    yield path, data
    if isinstance(data, dict):
        for key, value in data.items():
            yield from paths(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from paths(value, (*path, index))


def cut(lines: list[str], span: Span) -> str:
    """The text of a span."""
    (first, column), (last, end) = span
    if first == last:
        return lines[first][column:end]
    return "\n".join([lines[first][column:], *lines[first + 1 : last], lines[last][:end]])


def main() -> int:
    """Fuzz for some minutes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=None)
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(1 << 32)
    stop = time.monotonic() + given.minutes * 60
    count = bad = accepted = 0
    for text in mutants(random.Random(seed)):
        count += 1
        found = disagreements(text)
        accepted += bool(read_text(text, "mutant.yaml").documents) if count % 50 == 0 else 0
        if found:
            bad += 1
            print(f"--- mutant {count} of seed {seed}\n{text!r}")
            print("\n".join(f"    {line}" for line in found))
        if time.monotonic() > stop or bad >= 20:
            break
    print(f"{count:,} mutants of seed {seed}, about {accepted * 50:,} of them with data, {bad} disagreements")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
