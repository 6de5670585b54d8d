"""Text for terminals: widths of characters, harmless control characters, wrapping, colour."""

from __future__ import annotations

import re

_UNPRINTABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
TAB = 4

_CODES = {
    "bold": "1",
    "dim": "2",
    "error": "1;31",
    "warning": "1;33",
    "info": "1;36",
    "good": "32",
    "place": "36",
    "help": "1;32",
}


class Paint:
    """Colours a text when colour is on, and gives it back unchanged when it is off."""

    __slots__ = ("on",)

    def __init__(self, on: bool) -> None:
        self.on = on

    def __call__(self, style: str, text: str) -> str:
        """The text in a style, one of `_CODES`."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.on and text else text

    def link(self, url: str | None, text: str) -> str:
        """A text that terminals open as a link (OSC 8); plain without a url or colour."""
        return text if url is None or not self.on else f"\x1b]8;;{url}\x1b\\{text}\x1b]8;;\x1b\\"


def printable(text: str, keep_tabs: bool = False) -> str:
    """A text on one line that a terminal shows and does not obey: controls and direction marks are written out."""
    if text.isascii() and text.isprintable():
        return text
    return _UNPRINTABLE.sub(lambda m: m[0] if keep_tabs and m[0] == "\t" else _escape(m[0]), text)


def _escape(character: str) -> str:
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character)
    if named:
        return named
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file name that is no UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def width(text: str) -> int:
    """How many columns a text without tabs takes: wide characters two, combining marks none."""
    if text.isascii():
        return len(text)
    import unicodedata

    columns = 0
    for character in text:
        if unicodedata.combining(character) or character in "\u200b\u200c\u200d\ufe0e\ufe0f":
            continue
        columns += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return columns


def expand_tabs(text: str) -> str:
    """Tabs as blanks up to the next multiple of `TAB`, counted in columns and not in characters."""
    if "\t" not in text:
        return text
    parts: list[str] = []
    column = 0
    for part in re.split(r"(\t)", text):
        shown = " " * (TAB - column % TAB) if part == "\t" else part
        parts.append(shown)
        column += width(shown)
    return "".join(parts)


def wrap(text: str, columns: int, first: str = "", rest: str = "") -> list[str]:
    """A paragraph as lines of at most `columns`, broken at blanks only; `first` and `rest` are put in front."""
    lines: list[str] = []
    prefix, line, used = first, "", width(first)
    for word in text.split(" "):
        size = width(word)
        if line and used + 1 + size > columns:
            lines.append(prefix + line)
            prefix, line, used = rest, "", width(rest)
        if line:
            line, used = f"{line} {word}", used + 1 + size
        else:
            line, used = word, used + size
    lines.append(prefix + line)
    return lines


def pad(text: str, columns: int) -> str:
    """A text filled up with blanks to a number of columns."""
    return text + " " * max(0, columns - width(text))
