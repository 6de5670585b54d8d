from __future__ import annotations

import pytest

from unpend.config.globs import matches_any, relative_to


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.yaml", "a.yaml", True),
        ("*.yaml", "d/a.yaml", False),
        ("**/*.yaml", "a.yaml", True),
        ("**/*.yaml", "d/e/a.yaml", True),
        ("apps/**", "apps/a.yaml", True),
        ("apps/**", "apps/d/a.yaml", True),
        ("apps/**", "apps2/a.yaml", False),
        ("apps/*/a.yaml", "apps/x/a.yaml", True),
        ("apps/*/a.yaml", "apps/x/y/a.yaml", False),
        ("apps", "apps/x/a.yaml", True),
        ("apps/", "apps/x/a.yaml", True),
        ("apps/", "apps", False),
        ("./apps/*.yaml", "apps/a.yaml", True),
        ("a?.yaml", "ab.yaml", True),
        ("a[0-9].yaml", "a1.yaml", True),
        ("a[!0-9].yaml", "a1.yaml", False),
        ("a.yaml", "aXyaml", False),
        ("a[.yaml", "a[.yaml", True),
    ],
)
def test_patterns(pattern: str, path: str, expected: bool) -> None:
    assert matches_any(path, [pattern]) is expected


@pytest.mark.parametrize(
    ("uri", "directory", "cwd", "expected"),
    [
        ("/r/a/b.yaml", "/r", "", "a/b.yaml"),
        ("a/b.yaml", "/r", "/r", "a/b.yaml"),
        ("b.yaml", "/r", "/r/a", "a/b.yaml"),
        ("../b.yaml", "/r", "/r/a", "b.yaml"),
        ("/x/b.yaml", "/r", "", "../x/b.yaml"),
        ("./a/../b.yaml", "", "", "b.yaml"),
        ("a\\b.yaml", "", "", "a/b.yaml"),
        ("repo/a.yaml", "repo", "", "a.yaml"),
        ("a.yaml", "..", "/r/sub", "sub/a.yaml"),
        ("<stdin>", "/r", "", "<stdin>"),
    ],
)
def test_relative_to(uri: str, directory: str, cwd: str, expected: str) -> None:
    assert relative_to(uri, directory, cwd) == expected
