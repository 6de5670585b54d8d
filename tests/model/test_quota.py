"""ResourceQuota admission (A-238)."""

from __future__ import annotations

import pytest

from unpend.model.admission import admit
from unpend.model.reading import read_objects
from unpend.settings import Settings, World
from unpend.source.reading import read_text

CLOSED = Settings(world=World.all_closed(), admission="all")
TEXT = """
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: shop}
spec: %s
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec:
  initContainers: [{name: first, image: a, resources: {requests: {cpu: "1"}}}]
  containers: [{name: web, image: a, resources: {requests: {cpu: "2"}, limits: {cpu: "2"}}}]
"""


def refusals(quota: str, settings: Settings = CLOSED) -> list[str]:
    inventory = read_objects(read_text(TEXT % quota, "a.yaml").objects, settings)
    pod = admit(inventory.workloads[0], inventory, settings)
    assert all(one.semantics == "scheduler:A-238" for one in pod.refusals)
    return [one.message for one in pod.refusals]


@pytest.mark.parametrize(
    ("quota", "words"),
    [
        ("{hard: {requests.cpu: 1500m}}", ["2 of cpu"]),
        ("{hard: {cpu: 1}}", ["2 of cpu"]),
        ("{hard: {pods: 0}}", ["1 pod"]),
        ("{hard: {requests.memory: 1Gi}}", ['"web" has no memory request', '"first" has no memory request']),
        ("{hard: {limits.cpu: 4}}", ['"first" has no cpu limit']),
        ("{hard: {requests.cpu: 2, pods: 1, services: 0, requests.storage: 0}}", []),
        ("{hard: {requests.memory: 1Gi}, scopes: [BestEffort]}", []),
    ],
)
def test_what_a_quota_refuses(quota: str, words: list[str]) -> None:
    found = refusals(quota)
    assert len(found) == len(words)
    assert all(word in message for word, message in zip(words, found, strict=True))


def test_a_limit_range_may_fill_in_what_is_missing() -> None:
    missing = "{hard: {requests.memory: 1Gi}}"
    assert refusals(missing, Settings(admission="all")) == []
    assert refusals("{hard: {cpu: 1}}", Settings(admission="all"))
    assert refusals(missing, Settings(world=World.all_closed(), admission="none")) == []
