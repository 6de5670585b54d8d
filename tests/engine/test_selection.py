"""Which rules run: profile, select, ignore, config; and every error of names and options with its place."""

from __future__ import annotations

from typing import Any

import pytest

from unpend.config.errors import ConfigError
from unpend.config.load import read_config
from unpend.engine.options import RunOptions
from unpend.engine.registry import PackError, Registry, load_registry, registry_of
from unpend.engine.selection import Selection, select_rules
from unpend.rule import Option, Pack


@pytest.fixture
def registry(bench: Any) -> Registry:
    options = (
        Option("min-types", 15, "at least", minimum=1),
        Option("share", 0.5, "of a node"),
        Option("strictly", False, "or not"),
        Option("keys", ("a",), "labels"),
        Option("word", "x", "text"),
    )
    found: Registry = bench.registry(
        bench.rule("red", bench.nothing, options=options),
        bench.rule("green", bench.nothing, enabled=False),
        bench.rule("blue", bench.nothing, enabled=False, profiles=("cost",), topic="cold-start"),
    )
    return found


def _select(registry: Registry, config: str = "", **options: Any) -> Selection:
    return select_rules(registry, RunOptions.from_config(read_config(config), **options))


def _names(selection: Selection) -> list[str]:
    return [r.entry.name for r in selection.rules if r.entry.topic != "meta"]


@pytest.mark.parametrize(
    ("config", "options", "expected"),
    [
        ("", {}, ["red"]),
        ("profile: strict", {}, ["blue", "green", "red"]),
        ("profile: cost", {}, ["blue", "red"]),
        ("profile: strict", {"profile": "reliability"}, ["red"]),
        ("select: [green]", {}, ["green"]),
        ("select: [green]", {"select": ("cold-start/*",)}, ["blue"]),
        ("ignoreRules: [red]", {}, []),
        ("ignoreRules: [red]", {"profile": "strict", "ignore": ("colours/*",)}, ["blue"]),
        ("rules: {green: {severity: error}}", {}, ["green", "red"]),
        ("rules: {red: {severity: off}}", {}, []),
        ("rules: {red: {severity: 'off'}, colours/*: {severity: info}}", {}, ["green"]),
        ("", {"select": ("*",)}, ["blue", "green", "red"]),
    ],
)
def test_selection(registry: Registry, config: str, options: Any, expected: list[str]) -> None:
    assert _names(_select(registry, config, **options)) == expected


def test_what_speaks_about_the_run_itself_is_always_selected(registry: Registry) -> None:
    assert [r.entry.name for r in _select(registry, select=("red",)).rules] == ["internal-error", "red", "yaml-syntax"]
    assert [r.entry.name for r in _select(registry, ignore=("*",)).rules] == ["internal-error"]


def test_severity_and_options(registry: Registry) -> None:
    selection = _select(registry, "rules: {red: {severity: error, min-types: 3, share: 1, keys: b, strictly: true}}")
    (red,) = [r for r in selection.rules if r.entry.name == "red"]
    assert red.severity == "error"
    assert red.options == {"min-types": 3, "share": 1, "strictly": True, "keys": ("b",), "word": "x"}
    assert next(e for e in selection.entries() if e.name == "red").severity == "error"


def test_all_errors_at_once_with_their_places(registry: Registry) -> None:
    config = (
        "rules:\n"
        "  read: {severity: error}\n"
        "  red: {severty: error, min-types: 0, share: much, strictly: 1, keys: [1]}\n"
        "  colour/*: {severity: error}\n"
        "  colours/*: {min-types: 3}\n"
    )
    with pytest.raises(ConfigError) as caught:
        _select(registry, config, select=("gren",), ignore=("topic/*",))
    assert list(caught.value.messages) == [
        ".unpend.yaml:2:3: rules.read: there is no rule 'read', did you mean 'red'?",
        ".unpend.yaml:3:9: rules.red.severty: unknown key, did you mean 'severity'?",
        ".unpend.yaml:3:36: rules.red['min-types']: must be at least 1, found 0".replace("['min-types']", ".min-types"),
        ".unpend.yaml:3:46: rules.red.share: expected a number, found the text 'much'",
        ".unpend.yaml:3:62: rules.red.strictly: expected true or false, found the number 1",
        ".unpend.yaml:3:72: rules.red.keys[0]: expected a text, found the number 1",
        ".unpend.yaml:4:3: rules['colour/*']: there is no topic 'colour', did you mean 'colours'?",
        ".unpend.yaml:5:15: rules['colours/*'].min-types: unknown key; known are severity",
        "--select: there is no rule 'gren', did you mean 'green'?",
        "--ignore: there is no topic 'topic'; the topics are cold-start, colours, meta",
    ]


@pytest.mark.parametrize("key", ["select", "ignoreRules"])
@pytest.mark.parametrize(("written", "place"), [("[red, gren]", "[1]"), ("gren", "")])
def test_names_in_the_config_are_blamed_at_their_place(registry: Any, key: str, written: str, place: str) -> None:
    with pytest.raises(ConfigError) as caught:
        _select(registry, f"failOn: info\n{key}: {written}\n")
    column = len(key) + (9 if place else 3)
    assert caught.value.messages == (
        f".unpend.yaml:2:{column}: {key}{place}: there is no rule 'gren', did you mean 'green'?",
    )


class TestRegistry:
    def test_a_part_of_a_name_leads_to_the_whole(self) -> None:
        assert load_registry().complaint("tolerate-ev").endswith("did you mean 'tolerate-everything'?")

    def test_a_plugin_of_the_config_is_blamed_at_its_place(self) -> None:
        config = read_config("plugins:\n- acme\n- other\n")
        with pytest.raises(PackError) as caught:
            registry_of(config.plugins, config.path, config.root)
        assert [message.partition(" no rule pack")[0] for message in caught.value.messages] == [
            ".unpend.yaml:2:3: plugins[0]:",
            ".unpend.yaml:3:3: plugins[1]:",
        ]

    def test_the_built_in_pack_is_found_by_its_name(self) -> None:
        registry = load_registry()
        assert {"internal-error", "yaml-syntax", "invalid-manifest"} <= set(registry.entries)
        assert list(registry.entries) == sorted(registry.entries)

    def test_two_rules_of_one_name(self, bench: Any) -> None:
        packs = [Pack.of("one", bench.images), Pack.of("two", bench.images)]
        with pytest.raises(PackError, match="rule pack 'two' has a rule 'loose-image', which is a rule of 'one'"):
            Registry.of(packs)

    def test_a_plugin_that_is_not_installed(self) -> None:
        with pytest.raises(PackError, match="plugins: no rule pack 'acme' is installed"):
            load_registry(("acme",))

    def test_a_plugin_that_does_not_load_is_blamed_by_its_distribution(
        self, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self._install(tmp_path, "broken", "import nothing_like_this\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        with pytest.raises(PackError, match="'acme' of distribution 'broken-unpend' does not load: ModuleNotFound"):
            load_registry(("broken-unpend",))

    def test_a_plugin_is_loaded_when_it_is_named(self, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self._install(
            tmp_path,
            "fine",
            "from unpend.rule import Pack, Rule\n"
            "PACK = Pack.of('fine', Rule('acme-rule', 'acme', 'info', 'A page.', lambda facts, options: ()))\n",
        )
        monkeypatch.syspath_prepend(str(tmp_path))
        assert "acme-rule" in load_registry(("Fine_Unpend",)).entries
        assert "acme-rule" not in load_registry().entries

    @staticmethod
    def _install(folder: Any, name: str, source: str) -> None:
        (folder / f"{name}_pack.py").write_text(source, encoding="utf-8")
        info = folder / f"{name}_unpend-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-unpend\nVersion: 1.0\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(f"[unpend.rules]\nacme = {name}_pack:PACK\n", encoding="utf-8")
