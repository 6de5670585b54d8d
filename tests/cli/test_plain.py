from __future__ import annotations

from typing import Any

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unpend.cli.check import command
from unpend.cli.plain import FLAGS, ONCE, REPEATABLE, parse

WORDS = ("app.yaml", "-", "error", "strict", "json:out.json", "never", "2026-12-31", "a,b", "--", "--max-warnings", "3")


def with_click(arguments: list[str]) -> dict[str, Any] | None:
    """What click makes of the arguments; None where it complains or prints help."""
    try:
        context = command.make_context("check", list(arguments))
    except (click.ClickException, click.exceptions.Exit):
        return None
    return dict(context.params)


def test_the_tables_are_those_of_the_command() -> None:
    kinds = {}
    for parameter in command.params:
        if not isinstance(parameter, click.Option):
            continue
        for option in parameter.opts:
            kind = "flag" if parameter.is_flag else "repeatable" if parameter.multiple else "once"
            choices = tuple(parameter.type.choices) if isinstance(parameter.type, click.Choice) else ()
            kinds[option] = (kind, parameter.name, choices)
    assert {name: ("flag", parameter, ()) for name, parameter in FLAGS.items()} == {
        name: value for name, value in kinds.items() if value[0] == "flag"
    }
    assert {name: ("repeatable", parameter, ()) for name, parameter in REPEATABLE.items()} == {
        name: value for name, value in kinds.items() if value[0] == "repeatable"
    }
    known = {name: ("once", *value) for name, value in ONCE.items()}
    assert known == {n: v for n, v in kinds.items() if v[0] == "once" and n != "--max-warnings"}


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from((*FLAGS, *ONCE, *REPEATABLE, *WORDS, "-qo", "--sel", "--output=json", "-o=json", ""))))
def test_what_is_plain_means_what_click_says(arguments: list[str]) -> None:
    plain = parse(arguments)
    if plain is not None:
        assert plain == with_click(arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--no-such-option"],
        ["--fail-on", "sometimes"],
        ["--output"],
        ["--select", "--ignore"],
        ["--max-warnings", "3"],
        ["--", "app.yaml"],
        ["-qo", "json"],
    ],
)
def test_the_rest_is_left_to_click(arguments: list[str]) -> None:
    assert parse(arguments) is None


def test_everyday_command_lines_are_plain() -> None:
    assert parse(["app.yaml", "--pools", "nodes.yaml", "-o", "json", "--fail-on=warning", "-q"]) is not None
    assert parse([]) is not None
