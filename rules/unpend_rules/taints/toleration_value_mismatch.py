"""A toleration names the key of a taint, but another value or effect.

## What it checks

The nearest pool refuses by a taint, and the pod has a toleration with the key of that taint that does not match it: another
value (a taint without a value is not matched by `value: "true"`), another effect (`NoExecute` does not cover
`NoSchedule`), or `operator: Equal` without a value.

## Why it matters

Somebody meant to tolerate this taint and the toleration does nothing. The scheduler's message names the taint and not
the difference.

## Example

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1}
spec:
  taints: [{key: dedicated, value: batch, effect: NoSchedule}]
status:
  allocatable: {cpu: "4", memory: 16Gi, pods: "58"}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  tolerations:
    - {key: dedicated, operator: Equal, value: checkout, effect: NoSchedule}
  containers: [{name: web, image: web:1}]
```

## Instead

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1}
spec:
  taints: [{key: dedicated, value: batch, effect: NoSchedule}]
status:
  allocatable: {cpu: "4", memory: 16Gi, pods: "58"}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  tolerations:
    - {key: dedicated, operator: Equal, value: batch, effect: NoSchedule}
  containers: [{name: web, image: web:1}]
```

## Options

None.

## References

- [Taints and Tolerations](https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/)
- scheduler:P-403, scheduler:P-407, scheduler:P-408
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.algebra.taints import tolerates
from unpend.model.pod import Taint, Toleration
from unpend.placement.blame import blamed
from unpend.rule import Edit, Facts, Finding, Fix, Related, Rule, unplaced


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each toleration that misses the taint in the way."""
    for workload, verdict, found in blamed(facts, "toleration"):
        taint = found.obstacle.taint
        if taint is None:
            continue
        for toleration in facts.effective(workload).spec.tolerations:
            if toleration.key != taint.key or tolerates(toleration, taint):
                continue
            yield unplaced(
                verdict,
                toleration.place,
                f"{_difference(toleration, taint)}, so it does not tolerate the taint {_text(taint)} of "
                f"{found.pool.pool}{found.elsewhere()}.",
                (Related(f"taint of {found.pool.pool}", taint.place),),
                fixes=_fixes(toleration, taint),
            )


def _fixes(toleration: Toleration, taint: Taint) -> tuple[Fix, ...]:
    """The value (and effect) of the taint in the toleration."""
    edits: list[Edit] = []
    if toleration.operator != "Exists" and toleration.value != taint.value:
        edits.append(Edit("set", toleration.place.at("value"), taint.value))
    if toleration.effect not in ("", taint.effect):
        edits.append(Edit("set", toleration.place.at("effect"), taint.effect))
    return (Fix(f"Tolerate {_text(taint)}", "unsafe", tuple(edits)),) if edits else ()


def _difference(toleration: Toleration, taint: Taint) -> str:
    if toleration.effect not in ("", taint.effect):
        return f"This toleration is for the effect {toleration.effect}"
    if not toleration.value:
        return "This toleration names no value and its operator is Equal"
    if not taint.value:
        return f"This toleration is for the value {toleration.value!r} and the taint has none"
    return f"This toleration is for the value {toleration.value!r}"


def _text(taint: Taint) -> str:
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"


RULE = Rule(
    name="toleration-value-mismatch",
    topic="taints",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    rank=40,
    competes=True,
    assumes_closed=("pools",),
    when=("tolerations",),
)
