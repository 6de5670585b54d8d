from __future__ import annotations

from typing import Any

import pytest

from unpend.model.reading import read_objects
from unpend.placement.karpenter.requirements import Requirements
from unpend.placement.karpenter.template import impossible_keys, template_requirements
from unpend.settings import Settings
from unpend.source.document import objects_of


def template(requirements: list[dict[str, Any]], labels: dict[str, str] | None = None) -> Requirements:
    pool = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "general"},
        "spec": {
            "template": {
                "metadata": {"labels": labels or {}},
                "spec": {
                    "requirements": requirements,
                    "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                },
            }
        },
    }
    (read,) = read_objects(objects_of([pool]), Settings()).node_pools
    return template_requirements(read)


def test_labels_and_names_are_requirements_too() -> None:
    """`karpenter.md` §2.6."""
    found = template([{"key": "team", "operator": "In", "values": ["a", "b"], "minValues": 2}], {"team": "b"})
    assert {r.key: str(r) for r in found} == {
        "team": "In [b]",
        "karpenter.sh/nodepool": "In [general]",
        "karpenter.k8s.aws/ec2nodeclass": "In [default]",
    }
    assert found.get("team").min_values == 2


@pytest.mark.parametrize(
    ("requirements", "expected"),
    [
        ([], ()),
        ([{"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]}], ()),
        ([{"key": "kubernetes.io/arch", "operator": "DoesNotExist"}], ("kubernetes.io/arch",)),
        (
            [
                {"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]},
                {"key": "beta.kubernetes.io/arch", "operator": "In", "values": ["amd64"]},
            ],
            ("kubernetes.io/arch",),
        ),
        (
            [
                {"key": "karpenter.k8s.aws/instance-cpu", "operator": "Gt", "values": ["8"]},
                {"key": "karpenter.k8s.aws/instance-cpu", "operator": "Lt", "values": ["4"]},
            ],
            ("karpenter.k8s.aws/instance-cpu",),
        ),
        ([{"key": "karpenter.k8s.aws/instance-gpu-count", "operator": "DoesNotExist"}], ()),
        ([{"key": "team", "operator": "DoesNotExist"}], ()),
    ],
)
def test_keys_that_no_instance_type_lacks(requirements: list[dict[str, Any]], expected: tuple[str, ...]) -> None:
    assert impossible_keys(template(requirements), aws=True) == expected
