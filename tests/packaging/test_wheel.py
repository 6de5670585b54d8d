"""What a user installs: the wheel holds the three packages with their data, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"unpend": "lint", "unpend_rules": "rules", "unpend_schemas": "schemas"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def tracked(package: str) -> set[str]:
    """The files of a package that git knows, as paths inside the wheel."""
    root = ROOT / PACKAGES[package]
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", package],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    return {line for line in listed.stdout.splitlines() if (root / line).exists()}


def test_the_wheel_holds_exactly_the_three_packages(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    expected = set().union(*(tracked(package) for package in PACKAGES))
    assert names == expected


def test_data_licence_and_entry_point_are_in_the_wheel(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    names = archive.namelist()
    assert any(name.startswith("unpend_schemas/data/") and name.endswith(".json") for name in names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    (entry,) = [name for name in names if name.endswith(".dist-info/entry_points.txt")]
    assert "unpend = unpend.cli:main" in archive.read(entry).decode()


def test_an_installed_wheel_runs_outside_the_repository(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "site"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), str(wheel)],
        check=True,
    )
    (tmp_path / "app.yaml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  nodeSelector: {zone: a}\n"
        "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
        "[{matchExpressions: [{key: zone, operator: In, values: [b]}]}]}}}\n"
        "  containers: [{name: c, image: i}]\n",
        encoding="utf-8",
    )
    code = f"import sys; sys.path.insert(0, {str(target)!r}); from unpend.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "check", "--isolated", "--output", "concise", "app.yaml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "contradictory-node-affinity" in done.stdout, done.stderr
    assert done.returncode == 1
