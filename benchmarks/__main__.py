"""`python -m benchmarks`: start-up, bulk speed, memory and growth, as ratios measured in one run."""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import yaml

from benchmarks import corpus, growth

PYTHON = sys.executable
UNPEND = [PYTHON, "-m", "unpend"]
IMPORTS = ("re", "dataclasses", "json", "yaml", "click", "pathspec", "jsonschema", "ruamel.yaml", "networkx")


# What pip installs has its bytecode beside it, so the modules measured here have theirs, too.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def wall(command: Sequence[str], cwd: Path | None = None, stdin: Path | None = None) -> float:
    start = time.perf_counter()
    with (stdin or Path("/dev/null")).open("rb") as stream:
        subprocess.run(
            command,
            cwd=cwd,
            env=ENVIRONMENT,
            stdin=stream,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    return time.perf_counter() - start


def processor(command: Sequence[str], cwd: Path) -> float:
    """Seconds of processor time: what growth is measured by, since other work on the machine does not change it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    wall(command, cwd)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def interleaved(rounds: int, commands: dict[str, Callable[[], float]]) -> dict[str, float]:
    """The median time of each command; rounds go through all commands in turn, since machines are noisy."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for run in commands.values():
        run()
    for _ in range(rounds):
        for name, run in commands.items():
            times[name].append(run())
    return {name: statistics.median(values) for name, values in times.items()}


def start_up() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / ".git").mkdir()
        (root / "app.yaml").write_text(next(corpus.documents(1)), encoding="utf-8")
        (root / "nodes.yaml").write_text(corpus.nodes(), encoding="utf-8")
        commands: dict[str, Callable[[], float]] = {"python -c pass": lambda: wall([PYTHON, "-c", "pass"])}
        commands["unpend --version"] = lambda: wall([*UNPEND, "--version"])
        commands["unpend check app.yaml"] = lambda: wall([*UNPEND, "check", "app.yaml"], root)
        commands["unpend check app.yaml --pools nodes.yaml"] = lambda: wall(
            [*UNPEND, "check", "app.yaml", "--pools", "nodes.yaml"], root
        )
        (root / "nodepool.yaml").write_text(corpus.NODE_POOL, encoding="utf-8")
        commands["unpend check app.yaml --pools nodepool.yaml"] = lambda: wall(
            [*UNPEND, "check", "app.yaml", "--pools", "nodepool.yaml"], root
        )
        for name in IMPORTS:
            commands[f"import {name}"] = lambda name=name: wall([PYTHON, "-c", f"import {name}"])  # type: ignore[misc]
        if kubeconform := shutil.which("kubeconform"):
            commands["kubeconform (no schemas)"] = lambda: wall(
                [kubeconform, "-ignore-missing-schemas", "-schema-location", "x", "app.yaml"], root
            )
        times = interleaved(11, commands)
    bare = times["python -c pass"]
    print("\nStart-up, whole process, median of 11 interleaved rounds (aim: one file ≤ 8 × python -c pass)")
    for name, value in times.items():
        print(f"  {name:44} {value / bare:5.1f} × python   {1000 * value:6.1f} ms")


PARSE_ONLY = "import sys, yaml, time; t = open(sys.argv[1], 'rb').read(); list(yaml.load_all(t, yaml.CSafeLoader))"


def bulk(count: int = 10_000) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / ".git").mkdir()
        corpus.write_files(root / "apps", count)
        (root / "nodes.yaml").write_text(corpus.nodes(count), encoding="utf-8")
        stream = root / "stream.yml"
        stream.write_text("---\n".join(corpus.documents(count)), encoding="utf-8")
        size = stream.stat().st_size / 1e6
        check = [*UNPEND, "check", "--pools", "nodes.yaml"]
        proofs = [*check, "--output", "json"]  # The verdict of every workload against every pool, with places.

        def files_in_memory() -> float:
            texts = [path.read_bytes() for path in sorted((root / "apps").iterdir())]
            start = time.perf_counter()
            for text in texts:
                list(yaml.load_all(text, yaml.CSafeLoader))
            return time.perf_counter() - start

        commands: dict[str, Callable[[], float]] = {
            "yaml.CSafeLoader.load_all, one stream": lambda: wall([PYTHON, "-c", PARSE_ONLY, str(stream)]),
            "yaml.CSafeLoader.load_all, files": files_in_memory,
            "unpend check, files": lambda: wall([*check, "apps"], root),
            "unpend check, one stream": lambda: wall([*check, "-"], root, stream),
            "unpend check --output json, files": lambda: wall([*proofs, "apps"], root),
            "unpend check --output json, one stream": lambda: wall([*proofs, "-"], root, stream),
        }
        if kubeconform := shutil.which("kubeconform"):
            # A schema location that accepts everything offline: kubeconform still parses each document twice.
            schema = root / "any.json"
            schema.write_text("{}", encoding="utf-8")
            commands["kubeconform, files"] = lambda: wall(
                [kubeconform, "-schema-location", str(schema), "-summary", "apps"], root
            )
        times = interleaved(3, commands)
        loader = times["yaml.CSafeLoader.load_all, files"]
        print(
            f"\n{count} manifests, {size:.1f} MB, all rules on, median of 3 interleaved rounds "
            f"(aim ≤ 1.5 × CSafeLoader)"
        )
        for name, value in times.items():
            print(f"  {name:44} {value / loader:5.2f} × CSafeLoader   {value:6.2f} s")


def memory_and_growth() -> None:
    print("\nPeak memory and growth (files, all rules on)")
    previous = 0.0
    for count in (1_250, 2_500, 5_000, 10_000):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / ".git").mkdir()
            corpus.write_files(root / "apps", count)
            (root / "nodes.yaml").write_text(corpus.nodes(count), encoding="utf-8")
            code = (
                "import resource, subprocess, sys\n"
                "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
                "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
                "print(used.ru_maxrss, used.ru_utime + used.ru_stime)"
            )
            command = [*UNPEND, "check", "apps", "--pools", "nodes.yaml", "--output", "json"]
            done = subprocess.run([PYTHON, "-c", code, *command], cwd=root, capture_output=True, text=True, check=True)
            peak, spent = (float(part) for part in done.stdout.split())
            unit = 1 if sys.platform == "darwin" else 1024
            growth = f"{spent / previous:4.2f} × the half" if previous else ""
            print(f"  {count:6} manifests  {peak * unit / 1e6:6.0f} MB  {spent:6.2f} s  {growth}")
            previous = spent


def hard_cases() -> None:
    print("\nGrowth where all workloads fail, compete or look at each other (aim ≤ 2.2 × the half)")
    for case in growth.CASES:
        spent = []
        for count in (1_000, 2_000):
            with tempfile.TemporaryDirectory() as folder:
                root = Path(folder)
                (root / ".git").mkdir()
                for name, text in zip(("apps.yaml", "nodes.yaml"), growth.texts(case, count), strict=True):
                    (root / name).write_text(text, encoding="utf-8")
                check = [*UNPEND, "check", "apps.yaml", "--pools", "nodes.yaml", "--output", "json"]
                spent.append(min(processor(check, root) for _ in range(3)))
        print(f"  {case:44} {spent[1] / spent[0]:5.2f} × the half   {spent[1]:6.2f} s for 2000")


BENCHMARKS: dict[str, Callable[[], None]] = {
    "start-up": start_up,
    "bulk": bulk,
    "memory": memory_and_growth,
    "growth": hard_cases,
}


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    wanted = sys.argv[1:] or list(BENCHMARKS)
    for name in wanted:
        BENCHMARKS[name]()


if __name__ == "__main__":
    main()
