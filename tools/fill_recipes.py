"""Copy the files of `recipes/` into the tutorials that show them; `--check` only compares.

A block belongs to the file that the comment above it names: `<!-- file: recipes/… -->`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_BLOCK = re.compile(r"(<!-- file: (\S+) -->\n```\w*\n)(.*?)(```\n)", re.DOTALL)


def filled(text: str) -> str:
    """The page with every block as its file is."""
    return _BLOCK.sub(lambda m: m[1] + (ROOT / m[2]).read_text(encoding="utf-8") + m[4], text)


def main(arguments: list[str]) -> int:
    """Write or compare; 1 when a page is not up to date."""
    stale = []
    for page in sorted((ROOT / "docs").rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        wanted = filled(text)
        if text != wanted:
            stale.append(page.relative_to(ROOT))
            if "--check" not in arguments:
                page.write_text(wanted, encoding="utf-8")
    if "--check" not in arguments:
        return 0
    for path in stale:
        print(f"{path} does not show its recipes as they are: run python tools/fill_recipes.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
