"""The page of a rule, taken apart: summary line and sections."""

from __future__ import annotations

import re

_HEADING = re.compile(r"^## +(.+?)\s*$", re.MULTILINE)


def page_summary(page: str) -> str:
    """The first line of a page."""
    stripped = page.strip()
    return stripped.splitlines()[0] if stripped else ""


def page_section(page: str, title: str) -> str:
    """The text beneath one `## ` heading, without it; empty when the page has no such section."""
    found = list(_HEADING.finditer(page))
    for index, heading in enumerate(found):
        if heading[1].lower() == title.lower():
            end = found[index + 1].start() if index + 1 < len(found) else len(page)
            return page[heading.end() : end].strip()
    return ""


def plain(markdown: str) -> str:
    """A Markdown paragraph as plain text on one line: code marks and links taken off."""
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", markdown)
    return " ".join(text.replace("`", "").split())
