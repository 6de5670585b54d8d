"""The published JSON Schema and the reader take the same configs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unpend.config.document import config_schema
from unpend.config.errors import ConfigError
from unpend.config.load import config_of
from unpend.source.document import Document

VALIDATOR = jsonschema.Draft202012Validator(config_schema())
PUBLISHED = Path(__file__).resolve().parents[2] / "schemas/unpend_schemas/data/config.schema.json"

SAMPLES: list[dict[str, Any]] = [
    {},
    {"clusters": {"a": {}}},
    {"clusters": {"a": {"pools": "p.yaml", "world": {"pools": "open"}, "region": None}}},
    {"clusters": {"a": {"world": {"pools": "shut"}}}},
    {"clusters": {"a": {"kubernetes": "1.34"}}},
    {"clusters": {"a": {"kubernetes": 1.34}}},
    {"clusters": {"a": {"karpenter": {"vmMemoryOverheadPercent": 2}}}},
    {"clusters": {"a": {"karpenter": {"vmMemoryOverheadPercent": 0}}}},
    {"clusters": {"a": {"nodeClasses": {"default": {"zones": ["a"]}}}}},
    {"clusters": []},
    {"rules": {"untolerated-taint": {"severity": "warning"}}},
    {"rules": {"untolerated-taint": "warning"}},
    {"ignore": [{"path": "a", "rules": ["*"], "until": "2027-01-31"}]},
    {"ignore": [{"path": "a", "until": "soon"}]},
    {"ignore": [{"paths": "a"}]},
    {"failOn": "none"},
    {"failOn": "never"},
    {"startup": {"budget": {"default": "1m30s"}}},
    {"startup": {"budget": {"default": "fast"}}},
    {"docsUrl": "https://example.com/unpend"},
    {"plugins": ["a", 1]},
    {"colour": "red"},
]


def test_the_published_schema_is_up_to_date() -> None:
    assert json.loads(PUBLISHED.read_text(encoding="utf-8")) == config_schema()


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(config_schema())


def _reader_takes(data: Any) -> bool:
    try:
        config_of(Document(uri=".unpend.yaml", index=0, data=data))
    except ConfigError:
        return False
    return True


@pytest.mark.parametrize("data", SAMPLES, ids=str)
def test_reader_and_schema_agree(data: dict[str, Any]) -> None:
    assert _reader_takes(data) == VALIDATOR.is_valid(data)


_KEYS = st.sampled_from(
    ["clusters", "rules", "ignore", "exclude", "profile", "failOn", "a", "pools", "world", "severity"]
)
_LEAVES = st.none() | st.booleans() | st.integers(-1, 3) | st.sampled_from(["error", "closed", "1.34", "x"])
_DATA = st.recursive(_LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_KEYS, inner, max_size=3))


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(_KEYS, _DATA, max_size=3))
def test_the_reader_never_crashes_and_takes_nothing_the_schema_refuses(data: dict[str, Any]) -> None:
    if _reader_takes(data):
        assert [e.message for e in VALIDATOR.iter_errors(data)] == []
