"""A Karpenter object of an API version that the controller does not serve any more.

## What it checks

`apiVersion` of Provisioner, AWSNodeTemplate, Machine (gone since Karpenter 0.33) and of NodePool, NodeClaim and EC2NodeClass in
`v1beta1` or older (dropped in 1.1), against the Karpenter version of the configuration. Fields that have moved since then are
listed with their new place.

## Why it matters

The API server answers "no matches for kind", so the pool is not there: its workloads find no capacity, or land on a pool that
was not meant for them. Linters for deprecated APIs of Kubernetes, such as Pluto, know the built-in kinds; this rule knows
Karpenter's, and where each field went.

## Example

```yaml
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, name: default}
      requirements: []
  disruption: {consolidationPolicy: WhenUnderutilized, expireAfter: 168h}
```

## Instead

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: []
      expireAfter: 168h
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
```

## Options

None.

## References

- [Karpenter: v1 migration](https://karpenter.sh/v1.0/upgrading/v1-migration/)
- karpenter §1.9
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.karpenter.manifest_problems import manifest_problems
from unpend.rule import Facts, Finding, Related, Rule, illegal
from unpend.source.place import Place

MOVED: dict[tuple[str, ...], str] = {
    ("spec", "provider"): "became an EC2NodeClass",
    ("spec", "providerRef"): "became spec.template.spec.nodeClassRef",
    ("spec", "labels"): "became spec.template.metadata.labels",
    ("spec", "annotations"): "became spec.template.metadata.annotations",
    ("spec", "requirements"): "became spec.template.spec.requirements",
    ("spec", "taints"): "became spec.template.spec.taints",
    ("spec", "startupTaints"): "became spec.template.spec.startupTaints",
    ("spec", "kubeletConfiguration"): "became spec.kubelet of the EC2NodeClass",
    ("spec", "limits", "resources"): "became spec.limits itself",
    ("spec", "ttlSecondsAfterEmpty"): "became consolidationPolicy WhenEmpty with consolidateAfter",
    ("spec", "ttlSecondsUntilExpired"): "became spec.template.spec.expireAfter",
    ("spec", "consolidation"): "became spec.disruption.consolidationPolicy",
    ("spec", "disruption", "expireAfter"): "belongs in spec.template.spec; left here it is dropped and 720h counts",
    ("spec", "template", "spec", "kubelet"): "became spec.kubelet of the EC2NodeClass",
    ("spec", "template", "spec", "nodeClassRef", "apiVersion"): "became group, without the version",
}
POLICY = ("spec", "disruption", "consolidationPolicy")


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each object of an older version, with the fields that moved."""
    problems = facts.memo("karpenter-problems", lambda: manifest_problems(facts.inventory))
    for told in problems.get("older-version", ()):
        yield illegal(told.problem, tuple(_moved(told.problem.place)), tags=("deprecated",))


def _moved(api_version: Place) -> Iterator[Related]:
    root = api_version.parent or api_version
    if root.at("kind").value not in ("NodePool", "Provisioner"):
        return
    for path, became in MOVED.items():
        place = root.at(*path)
        if place.value is not None and not (len(path) == 2 and root.at("kind").value == "NodePool"):
            yield Related(f"{path[-1]} {became}", place)
    if root.at(*POLICY).value == "WhenUnderutilized":
        yield Related("WhenUnderutilized is called WhenEmptyOrUnderutilized in v1", root.at(*POLICY))


RULE = Rule(
    name="nodepool-old-api",
    topic="pools",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("karpenter",),
    rank=100,
    competes=True,
)
