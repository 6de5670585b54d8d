"""Write the JSON Schema of `.unpend.yaml` from the shape that the reader itself uses; `--check` only compares."""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "schemas" / "unpend_schemas" / "data" / "config.schema.json"

if str(ROOT / "lint") not in sys.path:
    sys.path.insert(0, str(ROOT / "lint"))

from unpend.config.document import config_schema  # noqa: E402


def main(arguments: list[str]) -> int:
    wanted = json.dumps(config_schema(), indent=2) + "\n"
    current = TARGET.read_text(encoding="utf-8") if TARGET.exists() else ""
    if arguments == ["--check"]:
        if wanted != current:
            print(
                f"{TARGET.relative_to(ROOT)} is out of date: run `python tools/gen_config_schema.py`", file=sys.stderr
            )
            return 1
        return 0
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
