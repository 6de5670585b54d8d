"""Write `rules/unpend_rules/_index.py` from the rules; `--check` only compares and says which command helps.

The index lists what the engine must know of a rule before it imports the rule's module. The folder of a rule is its
topic and the file its name, with underscores.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "rules" / "unpend_rules"
INDEX = PACKAGE / "_index.py"

for _root in ("lint", "rules", "schemas"):
    if str(ROOT / _root) not in sys.path:
        sys.path.insert(0, str(ROOT / _root))

from unpend.rule import Option, Rule, RuleEntry  # noqa: E402


def rule_files() -> list[Path]:
    """The files of the rules, in the order of rule names."""
    return sorted((p for p in PACKAGE.glob("*/*.py") if not p.name.startswith("_")), key=lambda p: p.stem)


def load(path: Path) -> Rule:
    """The rule of a file. Raises SystemExit when name and folder do not agree with it."""
    # The package imports the index, so the first index must exist before the first rule is imported.
    if not INDEX.exists():
        INDEX.write_text(HEAD + "INDEX: tuple[RuleEntry, ...] = ()\n", encoding="utf-8")
    topic = path.parent.name
    rule: Rule = import_module(f"unpend_rules.{topic}.{path.stem}").RULE
    for what, value, expected in (("name", rule.name, path.stem), ("topic", rule.topic, topic)):
        if value.replace("-", "_") != expected:
            raise SystemExit(f"{path.relative_to(ROOT)}: the {what} is '{value}', expected '{expected}' with hyphens")
    return rule


HEAD = '''"""Generated from the rules by `tools/gen_rule_index.py`; do not edit."""

from unpend.rule import Option, RuleEntry

'''


def text() -> str:
    """The whole index module."""
    body = "".join(_entry(load(path).entry) for path in rule_files())
    head = HEAD if "Option(" in body else HEAD.replace("Option, ", "")
    return f"{head}INDEX: tuple[RuleEntry, ...] = (\n{body})\n"


_DEFAULTS = RuleEntry("", "", "error")


def _entry(entry: RuleEntry) -> str:
    lines = [
        f"        {_quoted(entry.name)},",
        f"        {_quoted(entry.topic)},",
        f"        {_quoted(entry.severity)},",
    ]
    for field in ("needs", "enabled", "profiles", "options", "rank", "competes", "assumes_closed", "when", "summary"):
        value = getattr(entry, field)
        if value != getattr(_DEFAULTS, field):
            lines.append(f"        {field}={_value(value)},")
    return "    RuleEntry(\n" + "\n".join(lines) + "\n    ),\n"


def _value(value: object) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Option):
        return f"Option({', '.join(_value(v) for v in (value.name, value.default, value.doc, value.minimum))})"
    if isinstance(value, tuple):
        items = [_value(item) for item in value]
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    return repr(value)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def formatted(source: str) -> str:
    """The source as ruff formats it, so that the generated file passes our own checks."""
    import subprocess

    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(INDEX), "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout


def main(arguments: list[str]) -> int:
    wanted = formatted(text())
    current = INDEX.read_text(encoding="utf-8") if INDEX.exists() else ""
    if arguments == ["--check"]:
        if wanted != current:
            print("rules/unpend_rules/_index.py is out of date: run `python tools/gen_rule_index.py`", file=sys.stderr)
            return 1
        return 0
    if wanted != current:
        INDEX.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
