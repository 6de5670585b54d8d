"""Start a new rule: `python tools/new_rule.py TOPIC rule-name [--severity warning]`.

Writes the module with the skeleton of its page, two fixtures, and the index. What is left to do is marked TODO; the
tests fail until the page is true.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

MODULE = '''"""TODO: one sentence that says the fault.

## What it checks

TODO: which values, and when it stays silent.

## Why it matters

TODO: what happens in the cluster, in the words of the events.

## Example

```yaml
apiVersion: v1
kind: Pod
metadata: {{name: web}}
spec:
  containers: [{{name: web, image: web:1}}]
```

## Instead

```yaml
apiVersion: v1
kind: Pod
metadata: {{name: web}}
spec:
  containers: [{{name: web, image: web:1}}]
```

## Options

None.

## References

- TODO: a public page, and ids of docs/semantics
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """TODO: one finding for each what, at which value."""
    for workload in facts.inventory.workloads:
        yield Finding(
            workload.template.spec.place,
            "TODO: what is wrong, why (both sides), what to do.",
            workload=workload.id,
        )


RULE = Rule(
    name="{name}",
    topic="{topic}",
    severity="{severity}",
    doc=__doc__,
    check=check,
    needs=("workloads",),
)
'''

BAD = """apiVersion: v1
kind: Pod
metadata: {{name: web}}
# expect-next: {name}
spec:
  containers: [{{name: web, image: web:1}}]
"""

GOOD = """# TODO: the nearest manifest that the rule must not report
apiVersion: v1
kind: Service
metadata: {name: web}
"""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("topic", help="folder under rules/unpend_rules, such as taints or cold-start")
    parser.add_argument("name", help="kebab-case statement of the fault, such as untolerated-taint")
    parser.add_argument("--severity", choices=("error", "warning", "info"), default="warning")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    for what in ("topic", "name"):
        if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", getattr(given, what)):
            parser.error(f"the {what} is kebab-case, such as untolerated-taint")
    folder = given.root / "rules" / "unpend_rules" / given.topic.replace("-", "_")
    module = folder / f"{given.name.replace('-', '_')}.py"
    fixtures = given.root / "fixtures" / "rules" / given.name
    if module.exists() or fixtures.exists():
        parser.error(f"{given.name} exists already")
    values = {"name": given.name, "topic": given.topic, "severity": given.severity}
    folder.mkdir(parents=True, exist_ok=True)
    fixtures.mkdir(parents=True)
    module.write_text(MODULE.format(**values), encoding="utf-8")
    (fixtures / "bad.yaml").write_text(BAD.format(**values), encoding="utf-8")
    (fixtures / "good.yaml").write_text(GOOD, encoding="utf-8")
    index = given.root / "tools" / "gen_rule_index.py"
    if index.exists():
        subprocess.run([sys.executable, str(index)], check=True)
    for path in (module, fixtures / "bad.yaml", fixtures / "good.yaml"):
        print(path.relative_to(given.root))
    print("Fill in what is marked TODO, then `make docs test`.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
