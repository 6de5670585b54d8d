from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from unpend.source import discovery as module
from unpend.source.discovery import (
    Found,
    PassedOver,
    SourceFile,
    discover,
    find_upwards,
    read_file,
    read_source,
    read_sources,
    read_stdin_bytes,
)

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX files")


def write(root: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def uris(root: Path, *paths: str, exclude: Sequence[str] = (), force_exclude: bool = False) -> list[str]:
    found = discover(paths or (".",), exclude, cwd=str(root), force_exclude=force_exclude)
    assert found.troubles == ()
    return [file.uri for file in found.files]


def test_folders_are_searched_in_order(tmp_path: Path) -> None:
    write(
        tmp_path,
        dict.fromkeys(
            [
                "b.yaml",
                "a/z.yml",
                "a/b/c.json",
                "a.yaml",
                "note.txt",
                "B.yaml",
                "x.YAML",
                "node_modules/x.yaml",
                ".git/c.yaml",
            ],
            POD,
        ),
    )
    assert uris(tmp_path) == ["B.yaml", "a/b/c.json", "a/z.yml", "a.yaml", "b.yaml"]
    assert uris(tmp_path, "a", "./a.yaml") == ["a/b/c.json", "a/z.yml", "a.yaml"]
    assert uris(tmp_path / "a", "../b.yaml", ".") == ["../b.yaml", "b/c.json", "z.yml"]
    assert uris(tmp_path, str(tmp_path / "a" / "b")) == [(tmp_path / "a/b/c.json").as_posix()]


def test_what_is_named_is_marked(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": POD, "b.yaml": POD, "note.txt": POD})
    found = discover([".", "a.yaml", "note.txt"], cwd=str(tmp_path))
    assert [(f.uri, f.named) for f in found.files] == [("a.yaml", True), ("b.yaml", False), ("note.txt", True)]


def test_patterns(tmp_path: Path) -> None:
    write(tmp_path, dict.fromkeys(["a/x.yaml", "a/b/y.yaml", "a/b/z.txt", "c.yaml"], POD))
    assert uris(tmp_path, "a/*.yaml") == ["a/x.yaml"]
    assert uris(tmp_path, "**/*.yaml") == ["a/b/y.yaml", "a/x.yaml", "c.yaml"]
    assert uris(tmp_path, "a/**") == ["a/b/y.yaml", "a/x.yaml"]
    assert uris(tmp_path, "?") == ["a/b/y.yaml", "a/x.yaml"]
    assert uris(tmp_path, "**/*.yaml", exclude=["a/b/"]) == ["a/x.yaml", "c.yaml"]
    (tmp_path / "[x].yaml").write_text(POD)
    assert uris(tmp_path, "[x].yaml") == ["[x].yaml"]


def test_paths_that_lead_nowhere(tmp_path: Path) -> None:
    found = discover(["no.yaml", "no/*.yaml", "bad\0name"], cwd=str(tmp_path))
    assert found.files == ()
    assert [(t.kind, t.severity, t.uri) for t in found.troubles] == [
        ("unreadable", "error", "no.yaml"),
        ("unreadable", "error", "no/*.yaml"),
        ("unreadable", "error", "bad\0name"),
    ]
    assert "No such file" in found.troubles[0].message
    assert "no file matches" in found.troubles[1].message


def test_exclude(tmp_path: Path) -> None:
    write(tmp_path, dict.fromkeys(["vendor/a.yaml", "x/vendor/b.yaml", "x/c.yaml", "x/c.test.yaml"], POD))
    assert uris(tmp_path, exclude=["vendor/**"]) == ["x/c.test.yaml", "x/c.yaml", "x/vendor/b.yaml"]
    assert uris(tmp_path, exclude=["vendor", "*.test.yaml"]) == ["x/c.yaml"]
    assert uris(tmp_path, "vendor/a.yaml", exclude=["vendor/"]) == ["vendor/a.yaml"]
    assert uris(tmp_path, "vendor/a.yaml", "x/c.yaml", exclude=["vendor/"], force_exclude=True) == ["x/c.yaml"]
    found = discover(["."], ["/c.yaml"], cwd=str(tmp_path / "x"), exclude_base=str(tmp_path / "x"))
    assert [f.uri for f in found.files] == ["c.test.yaml", "vendor/b.yaml"]


def test_gitignore(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            ".git/info/exclude": "private.yaml\n",
            ".gitignore": "# built\nbuild/\n*.gen.yaml\n!keep.gen.yaml\n/root.yaml\n",
            "sub/.gitignore": "local.yaml\n!*.gen.yaml\n",
            **dict.fromkeys(
                ["build/a.yaml", "sub/build/a.yaml", "a.gen.yaml", "keep.gen.yaml", "root.yaml", "sub/root.yaml"], POD
            ),
            **dict.fromkeys(
                ["sub/local.yaml", "local.yaml", "sub/b.gen.yaml", "private.yaml", "sub/private.yaml"], POD
            ),
        },
    )
    assert uris(tmp_path) == ["keep.gen.yaml", "local.yaml", "sub/b.gen.yaml", "sub/root.yaml"]
    assert uris(tmp_path / "sub") == ["b.gen.yaml", "root.yaml"]
    assert uris(tmp_path, "sub", "root.yaml") == ["sub/b.gen.yaml", "sub/root.yaml", "root.yaml"]


def test_gitignore_without_a_repository_and_broken_lines(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": b"a.yaml\n\xff\xfe\n!\n/\n[z\n", "a.yaml": POD, "b.yaml": POD})
    assert uris(tmp_path) == ["b.yaml"]


def test_helmignore(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "chart/.helmignore": "*.bak.yaml\nci/\n",
            **dict.fromkeys(["chart/Chart.yaml", "chart/x.bak.yaml", "chart/ci/v.yaml", "x.bak.yaml"], POD),
        },
    )
    assert uris(tmp_path) == ["chart/Chart.yaml", "x.bak.yaml"]


@posix_only
def test_links(tmp_path: Path) -> None:
    write(tmp_path, {"a/x.yaml": POD})
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    (tmp_path / "b").symlink_to(tmp_path / "a")
    (tmp_path / "again.yaml").symlink_to(tmp_path / "a" / "x.yaml")
    (tmp_path / "broken.yaml").symlink_to(tmp_path / "nowhere")
    (tmp_path / "self.yaml").symlink_to(tmp_path / "self.yaml")
    assert uris(tmp_path) == ["a/x.yaml"]
    assert uris(tmp_path, "b") == ["b/x.yaml"]
    assert discover(["self.yaml"], cwd=str(tmp_path)).troubles[0].kind == "unreadable"


@posix_only
def test_patterns_do_not_go_round_in_links(tmp_path: Path) -> None:
    write(tmp_path, {"a/x.yaml": POD, "a/.hidden/y.yaml": POD, "a/b/c/z.yaml": POD, "[d]/x.yaml": POD})
    for number in range(3):
        (tmp_path / "a" / f"up{number}").symlink_to(tmp_path)
    assert uris(tmp_path, "**") == ["[d]/x.yaml", "a/b/c/z.yaml", "a/x.yaml"]
    assert uris(tmp_path, "**/x.yaml") == ["[d]/x.yaml", "a/x.yaml"]
    assert uris(tmp_path, "**/b/**/*.yaml") == ["a/b/c/z.yaml"]
    assert uris(tmp_path, "a/**/z.yaml") == ["a/b/c/z.yaml"]
    assert uris(tmp_path, str(tmp_path / "*" / "**" / "x.yaml")) == [
        str(tmp_path / folder / "x.yaml") for folder in ("[d]", "a")
    ]


@posix_only
def test_special_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "folder.yaml").mkdir()
    write(tmp_path, {"folder.yaml/in.yaml": POD})
    assert uris(tmp_path) == ["folder.yaml/in.yaml"]
    found = discover(["pipe.yaml"], cwd=str(tmp_path))
    (trouble,) = read_sources(found.files).troubles
    assert (trouble.kind, trouble.message) == ("unreadable", "cannot be read: nothing came through this pipe")
    with pytest.raises(OSError, match="folder"):
        read_file(str(tmp_path))


@posix_only
def test_a_pipe_is_read_to_its_end() -> None:
    reader, writer = os.pipe()
    os.write(writer, POD.encode())
    os.close(writer)
    try:
        reading = read_source(SourceFile("pipe", f"/dev/fd/{reader}", named=True))
        assert not isinstance(reading, PassedOver)
        assert len(reading.objects) == 1
    finally:
        os.close(reader)


@posix_only
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root reads everything")
def test_unreadable_files_and_folders(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": POD, "sub/b.yaml": POD, "c.yaml": POD})
    (tmp_path / "a.yaml").chmod(0)
    (tmp_path / "sub").chmod(0)
    try:
        found = discover(["."], cwd=str(tmp_path))
        assert [(t.kind, t.uri) for t in found.troubles] == [("notice", "sub")]
        reading = read_sources(found.files)
        assert len(reading.objects) == 1
        assert [(t.kind, t.severity, t.uri) for t in reading.troubles] == [("notice", "warning", "a.yaml")]
    finally:
        (tmp_path / "sub").chmod(0o700)


def test_files_that_cannot_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str, *rest: object) -> bytes:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(module, "read_file", refuse)
    named, met = (read_source(SourceFile("a.yaml", "/a.yaml", named)) for named in (True, False))
    assert not isinstance(named, PassedOver)
    assert not isinstance(met, PassedOver)
    assert (named.troubles[0].kind, named.troubles[0].severity) == ("unreadable", "error")
    assert (met.troubles[0].kind, met.troubles[0].severity) == ("notice", "warning")
    assert met.troubles[0].message == "cannot be read: Permission denied"


def test_folders_that_cannot_be_entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"a/x.yaml": POD, "b/y.yaml": POD})
    real = os.scandir

    def scandir(path: str) -> object:
        if path.endswith("a"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = discover(["."], cwd=str(tmp_path))
    assert [f.uri for f in found.files] == ["b/y.yaml"]
    assert [(t.kind, t.uri) for t in found.troubles] == [("notice", "a")]


def test_files_that_are_too_large(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": POD})
    with pytest.raises(OSError, match="larger than 0 MiB"):
        read_file(str(tmp_path / "a.yaml"), limit=5)


def judged(root: Path, named: bool = False) -> list[tuple[str, str, str]]:
    found = discover([str(p) for p in sorted(root.iterdir())] if named else ["."], cwd=str(root))
    return [(t.kind, t.severity, os.path.basename(t.uri)) for t in read_sources(found.files).troubles]


def test_files_met_by_searching_that_do_not_parse(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "bad-manifest.yaml": POD + "spec: [\n",
            "bad-other.yaml": "hosts: [\n  kind: x\n",
            "binary.yaml": b"\x7fELF\x00\x01\xff\xfe\x00",
            "json.json": '{\n  "apiVersion": "v1",\n  "kind": "Pod",\n',
            "wide.yaml": b"\xff\xfe" + POD.encode("utf-16-le"),
            "wide-other.yaml": b"\xff\xfe" + b"a\x00",
        },
    )
    notice, finding = ("notice", "warning"), ("yaml-syntax", "error")
    assert judged(tmp_path) == [
        (*finding, "bad-manifest.yaml"),
        (*notice, "bad-other.yaml"),
        (*notice, "binary.yaml"),
        (*finding, "json.json"),
        (*notice, "wide-other.yaml"),
        (*finding, "wide.yaml"),
    ]
    assert {kind for kind, _, _ in judged(tmp_path, named=True)} == {"yaml-syntax"}
    assert read_stdin_bytes(b"hosts: [\n").troubles[0].kind == "yaml-syntax"


CHART: dict[str, str | bytes] = {
    "chart/Chart.yaml": "apiVersion: v2\nname: c\n",
    "chart/templates/broken.yaml": "apiVersion: v1\nkind: Pod\n{{- if .Values.x }}\nspec: {}\n{{- end }}\n",
    "chart/templates/plain.yaml": POD.replace("name: a", "name: a, x: y") + "spec:\n  nodeName: a-{{ .Values.x }}\n",
    "chart/templates/comment.yaml": "# {{ .Values.x }}\n" + POD,
    "chart/templates/deep/quoted.yaml": POD + "data:\n  a: '{{ $labels.x }}'\n  b: |\n    {{ range }}\n",
    "chart/templates/none.yaml": POD,
    "chart/charts/sub/Chart.yaml": "name: s\n",
    "chart/charts/sub/templates/x.yaml": "{{ x }}\n",
    "other/templates/x.yaml": POD + "  {{ x }}\n",
}


def test_templates_of_charts_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path, CHART)
    reading = read_sources(discover(["."], cwd=str(tmp_path)).files)
    assert [d.uri for d in reading.documents if isinstance(d.data, dict) and "kind" in d.data] == [
        "chart/templates/deep/quoted.yaml",
        "chart/templates/none.yaml",
    ]
    assert [(t.kind, t.severity, t.uri) for t in reading.troubles] == [
        ("yaml-syntax", "error", "other/templates/x.yaml"),
        ("notice", "info", "chart/charts/sub"),
        ("notice", "info", "chart"),
    ]
    assert "3 templates are not rendered" in reading.troubles[2].message
    assert "1 template is not rendered" in reading.troubles[1].message
    assert "`helm template chart`" in reading.troubles[2].message


def test_named_templates_too_and_from_inside(tmp_path: Path) -> None:
    write(tmp_path, CHART)
    found = discover(["templates/broken.yaml"], cwd=str(tmp_path / "chart"))
    assert read_source(found.files[0]) == PassedOver(".", "templates/broken.yaml")
    found = discover(["broken.yaml"], cwd=str(tmp_path / "chart" / "templates"))
    assert read_sources(found.files).troubles[0].uri == (tmp_path / "chart").as_posix()
    found = discover([str(tmp_path / "chart" / "templates" / "broken.yaml")])
    assert read_sources(found.files).troubles[0].uri == (tmp_path / "chart").as_posix()


def test_braces_outside_of_charts_are_judged(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": POD + "x: a-{{ y }}\n"})
    (document,) = read_sources(discover(["."], cwd=str(tmp_path)).files).documents
    assert document.data["x"] == "a-{{ y }}"


def test_progress(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": POD, "b.yaml": POD})
    seen: list[int] = []
    read_sources(discover(["."], cwd=str(tmp_path)).files, lambda: seen.append(1))
    assert seen == [1, 1]


def test_find_upwards(tmp_path: Path) -> None:
    write(tmp_path, {"top.yaml": "", "repo/.git/x": "", "repo/own.yaml": "", "repo/a/b/x": ""})
    start = str(tmp_path / "repo" / "a" / "b")
    assert find_upwards(start, ["no", "own.yaml"]) == str(tmp_path / "repo" / "own.yaml")
    assert find_upwards(start, ["top.yaml"], stop_at=".git") is None
    assert find_upwards(start, ["top.yaml"]) == str(tmp_path / "top.yaml")


def test_nothing_to_find() -> None:
    assert discover([]) == Found()
