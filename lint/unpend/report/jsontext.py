"""JSON as every reader takes it: UTF-8, no NaN, no lone surrogates, a final newline."""

from __future__ import annotations

import json
import re
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")


def dumps(data: Any) -> str:
    """The text of a JSON document, indented by two; what cannot be encoded becomes U+FFFD."""
    text = json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
