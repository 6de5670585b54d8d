"""A label key or value that no pool has is almost one that a pool has.

## What it checks

A key of `nodeSelector` or required node affinity that no pool defines, when some pool defines one that differs by a typo or by
its prefix alone; and a value that no pool has, when some pool has one that differs by a typo, in upper and lower case, or that
is the usual other name of it (`x86_64` for `amd64`, `aarch64` for `arm64`).

## Why it matters

Labels are compared as texts. The pod stays Pending, and the message of the scheduler does not say which letter is wrong.

## Example

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {accelerator: nvidia-a10g, kubernetes.io/hostname: n1}
status:
  allocatable: {cpu: "4", memory: 16Gi, pods: "58"}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeSelector: {acelerator: nvidia-a10g}
  containers: [{name: web, image: web:1}]
```

## Instead

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {accelerator: nvidia-a10g, kubernetes.io/hostname: n1}
status:
  allocatable: {cpu: "4", memory: 16Gi, pods: "58"}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeSelector: {accelerator: nvidia-a10g}
  containers: [{name: web, image: web:1}]
```

## Options

None.

## References

- [Well-Known Labels, Annotations and Taints](https://kubernetes.io/docs/reference/labels-annotations-taints/)
- scheduler:P-502, scheduler:P-519
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.facts import label_supply_of
from unpend.placement.label_supply import LabelSupply, PoolLabels
from unpend.placement.near_miss import nearest_key, nearest_value
from unpend.placement.required_labels import NeededLabel, required_labels
from unpend.rule import Edit, Facts, Finding, Fix, Related, Rule, unplaced
from unpend.source.place import Place


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each needed key or value with a near neighbour among the labels of the pools."""
    supply = label_supply_of(facts)
    if not supply.pools or supply.opaque:
        return
    for workload in facts.inventory.workloads:
        verdict = facts.verdicts.get(workload.id)
        if verdict is None or verdict.verdict not in ("never", "loop"):
            continue
        for needed in required_labels(workload.template.spec):
            found = _near_miss(needed, supply)
            if found is None:
                continue
            wrong, right, pool, is_key = found
            place = needed.place if is_key or needed.value_place is None else needed.value_place
            yield unplaced(
                verdict,
                place,
                f"No node has {wrong}; {pool.pool} has {right}.",
                (Related(f"{right} is here", pool.places.get(right.split("=")[0], pool.place)),),
                part="key" if is_key and needed.place.step == needed.key else "value",
                salient=wrong,
                repair=f"change {wrong} to {right}",
                fixes=_fixes(needed, place, right, is_key),
            )


def _fixes(needed: NeededLabel, place: Place, right: str, is_key: bool) -> tuple[Fix, ...]:
    """The label that a pool has in place of the one that is written."""
    title = f"Change it to {right}"
    if not is_key:
        return (Fix(title, "unsafe", (Edit("set", place, right.partition("=")[2]),)),)
    if place.step != needed.key:
        where = place if place.step == "key" else place.at("key")
        return (Fix(title, "unsafe", (Edit("set", where, right),)),)
    beside = (place.parent or place).at(right)
    return (Fix(title, "unsafe", (Edit("remove", place), Edit("add", beside, place.value))),)


def _near_miss(needed: NeededLabel, supply: LabelSupply) -> tuple[str, str, PoolLabels, bool] | None:
    """What is written, what a pool has instead, that pool, and whether it is the key that differs."""
    if not supply.defines(needed.key):
        key = nearest_key(needed.key, supply.values)
        if key is None:
            return None
        pool = next(p for p in supply.pools if key in p.labels)
        return needed.key, key, pool, True
    values = supply.values.get(needed.key, frozenset())
    if len(needed.values) != 1 or not values or supply.admits(needed.key, needed.values[0]):
        return None
    value = nearest_value(needed.values[0], values)
    if value is None:
        return None
    pool = next(p for p in supply.pools if p.of(needed.key).admits(value))
    return f"{needed.key}={needed.values[0]}", f"{needed.key}={value}", pool, False


RULE = Rule(
    name="label-near-miss",
    topic="labels",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    rank=20,
    competes=True,
    assumes_closed=("pools",),
)
