from __future__ import annotations

import pytest

from unpend.engine.features import Features
from unpend.model.reading import read_objects
from unpend.rule import Feature
from unpend.settings import Settings
from unpend.source.document import objects_of

SPECS: dict[Feature, str] = {
    "spread": "topologySpreadConstraints",
    "pod-affinity": "affinity",
    "node-selection": "nodeSelector",
    "tolerations": "tolerations",
}
VALUES = {
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
    "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}]}},
    "nodeSelector": {"a": "b"},
    "tolerations": [{"operator": "Exists"}],
}


def features(*fields: str) -> Features:
    spec = {"containers": [{"name": "a", "image": "a"}], **{field: VALUES[field] for field in fields}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}
    return Features(read_objects(objects_of([pod]), Settings()))


@pytest.mark.parametrize("feature", SPECS)
def test_each_feature_is_seen_by_its_field_alone(feature: Feature) -> None:
    assert features(SPECS[feature]).all((feature,))
    assert not features(*(field for other, field in SPECS.items() if other != feature)).all((feature,))


def test_all_are_wanted() -> None:
    assert features("tolerations", "nodeSelector").all(("tolerations", "node-selection"))
    assert not features("tolerations").all(("tolerations", "spread"))
    assert features().all(())
