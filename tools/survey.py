"""How often each rule speaks: findings per 100 objects over folders of manifests, as a Markdown table.

`python tools/survey.py DIR… [--profile NAME] [--sample N --seed N]`. Every folder is a run of its own, as `unpend
check` makes it there. With `--sample`, that many findings, drawn with the seed, are printed instead of the table.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
SEVERITIES = ("error", "warning", "info")


def findings_in(folder: Path, profile: str) -> list[dict[str, Any]]:
    """The findings of one run in a folder, each with the `folder` it was made in.

    Raises SystemExit when the run fails; a folder without Kubernetes objects has no findings.
    """
    command = [sys.executable, "-m", "unpend", "check", ".", "--output", "json", "--fail-on", "none", "--allow-empty"]
    command += ["--profile", profile, "--today", "2026-01-01"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{folder}: the run ended with {done.returncode}\n{done.stderr}")
    return [{**finding, "folder": str(folder)} for finding in json.loads(done.stdout)["findings"]]


def objects_in(folder: Path) -> int:
    """How many Kubernetes objects the YAML and JSON files of a folder have; what does not parse counts nothing."""
    count = 0
    for path in sorted(p for p in folder.rglob("*") if p.suffix in {".yaml", ".yml", ".json"}):
        try:
            documents = list(yaml.load_all(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))
        except (yaml.YAMLError, UnicodeDecodeError, ValueError):
            continue
        count += sum(_objects(document) for document in documents)
    return count


def _objects(document: object) -> int:
    if not isinstance(document, dict) or not {"apiVersion", "kind"} <= document.keys():
        return 0
    if str(document["kind"]).endswith("List") and isinstance(document.get("items"), list):
        return len(document["items"])
    return 1


def table(findings: list[dict[str, Any]], objects: int) -> str:
    """Rules by how often they speak, then the sums by severity."""
    counts = Counter((finding["rule"], finding["severity"]) for finding in findings)
    rules = Counter(finding["rule"] for finding in findings)
    lines = ["| rule | error | warning | info | per 100 objects |", "|---|---:|---:|---:|---:|"]
    for rule, count in sorted(rules.items(), key=lambda item: (-item[1], item[0])):
        cells = " | ".join(str(counts[rule, severity] or "") for severity in SEVERITIES)
        lines.append(f"| {rule} | {cells} | {100 * count / objects:.1f} |")
    sums = Counter(finding["severity"] for finding in findings)
    cells = " | ".join(str(sums[severity]) for severity in SEVERITIES)
    lines.append(f"| **all** | {cells} | {100 * len(findings) / objects:.1f} |")
    return "\n".join(lines) + "\n"


def sample(findings: list[dict[str, Any]], size: int, seed: int) -> str:
    """Findings drawn with a seed, numbered."""
    drawn = random.Random(seed).sample(findings, min(size, len(findings)))
    return "".join(
        f"{number}. {finding['rule']} ({finding['severity']}) {finding['folder']}/{finding['location']['uri']}"
        f":{finding['location']['range']['start']['line']} {_name(finding)}\n   {finding['message']}\n"
        for number, finding in enumerate(drawn, 1)
    )


def _name(finding: dict[str, Any]) -> str:
    named = finding.get("object") or {}
    return f"{named.get('kind')}/{named.get('name')}"


def main() -> int:
    """Print the table, or the sample."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--profile", default="default")
    parser.add_argument("--sample", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    findings = [finding for folder in options.folders for finding in findings_in(folder, options.profile)]
    if options.sample:
        print(sample(findings, options.sample, options.seed), end="")
        return 0
    objects = sum(objects_in(folder) for folder in options.folders)
    print(f"{objects} objects in {len(options.folders)} folders, {len(findings)} findings\n")
    print(table(findings, objects), end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
