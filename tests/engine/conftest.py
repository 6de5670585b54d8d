"""A tiny pack and a way to run it over a text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from unpend.config.load import read_config
from unpend.engine.registry import Registry
from unpend.engine.result import Result
from unpend.engine.run import RunOptions, cluster_input, run
from unpend.rule import Facts, Finding, Option, Pack, Rule
from unpend.settings import Settings
from unpend.source.reading import read_text

Check = Callable[[Facts, Mapping[str, Any]], Iterable[Finding]]


def rule(name: str, check: Check, **fields: Any) -> Rule:
    """A rule with as few words as a test needs."""
    fields = {"topic": "colours", "severity": "warning", "doc": f"{name}.", **fields}
    return Rule(name=name, check=check, **fields)


def nothing(facts: Facts, options: Mapping[str, Any]) -> Iterable[Finding]:
    return ()


def each_image(facts: Facts, options: Mapping[str, Any]) -> Iterable[Finding]:
    """A finding at every image that is not pinned."""
    for workload in facts.inventory.workloads:
        for index, container in enumerate(workload.template.spec.containers):
            if container.image.endswith(options.get("tag", ":latest")):
                place = workload.template.spec.place.at("containers", index, "image")
                yield Finding(place, f"image {container.image}", workload=workload.id)


ENGINE_RULES = tuple(
    rule(name, nothing, topic="meta", severity="error")
    for name in ("internal-error", "yaml-syntax", "unused-suppression")
)
IMAGES = rule("loose-image", each_image, options=(Option("tag", ":latest", "the tag"),))


class Bench:
    """Runs rules over texts."""

    rule = staticmethod(rule)
    images = IMAGES
    each_image = staticmethod(each_image)
    nothing = staticmethod(nothing)

    def registry(self, *rules: Rule) -> Registry:
        return Registry.of([Pack.of("test", *rules, *ENGINE_RULES)])

    def run(
        self,
        text: str,
        *rules: Rule,
        config: str = "",
        settings: Settings | None = None,
        uri: str = "app.yaml",
        clusters: tuple[str, ...] = ("",),
        **options: Any,
    ) -> Result:
        """The result of a text in one or several clusters."""
        parsed = read_config(config)
        given = RunOptions.from_config(parsed, **{"verdicts": False, **options})
        inputs = [cluster_input(name, read_text(text, uri), settings or Settings(cluster=name)) for name in clusters]
        return run(inputs, given, self.registry(*(rules or (self.images,))))


@pytest.fixture
def bench() -> Bench:
    return Bench()
