"""Places lead to the lines of the text they were read from."""

from __future__ import annotations

from unpend.model.admission import admit
from unpend.model.inventory import Inventory
from unpend.model.reading import read_objects
from unpend.settings import Settings
from unpend.source.place import Place
from unpend.source.reading import read_text

TEXT = """\
apiVersion: v1
kind: List
items:
  - apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          toleration: []
          nodeSelector:
            spot: true
            disk: ssd
          containers:
            - name: web
              image: web
              resources:
                limits:
                  cpu: 2
  - apiVersion: v1
    kind: LimitRange
    metadata: {name: limits}
    spec:
      limits:
        - type: Container
          max: {memory: 1Gi}
"""


def _read() -> Inventory:
    return read_objects(read_text(TEXT, "app.yaml").objects, Settings())


def _line(place: Place, part: str = "value") -> str:
    location = place.location("key" if part == "key" else "value")
    assert location is not None
    assert location.uri == "app.yaml"
    (start, end) = location.span
    assert start.line == end.line
    return TEXT.splitlines()[start.line][start.column : end.column]


def test_problems_stand_at_the_value_or_the_key() -> None:
    told = {problem.semantics: _line(problem.place, problem.part) for problem in _read().problems}
    assert told == {"scheduler:A-743": "true", "scheduler:A-1551": "toleration"}


def test_admitted_values_stand_where_they_come_from() -> None:
    inventory = _read()
    effective = admit(inventory.workloads[0], inventory, Settings())
    assert [_line(place) for place in effective.request_places["cpu"]] == ["2"]
    assert [_line(place) for place in effective.request_places["memory"]] == ["1Gi"]
    assert [_line(label.place) for label in effective.spec.node_selector] == ["ssd"]
