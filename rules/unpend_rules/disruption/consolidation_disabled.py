"""A general NodePool whose nodes are never consolidated.

## What it checks

`consolidationPolicy: WhenEmpty` on NodePools without taints (one for batch work or GPUs may want it),
`consolidateAfter: Never` and a `consolidateAfter` of `longest` hours or more on NodePools that are not static. Pools
whose labels or taints contain a word of `exempt` are left out: there it is on purpose.

## Why it matters

WhenEmpty removes a node only when nothing but DaemonSets is left on it, which steady workloads never let happen;
Never removes none at all. The pool only grows, until its nodes expire. A wait of a day means that any pod that comes
or goes starts the day anew, and from Karpenter 1.14 on such a node does not even take in the pods of another one. No
other linter reads the policy.

## Example

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: pinned}
spec:
  limits: {cpu: "100"}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: Never
```

## Instead

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: pinned}
spec:
  limits: {cpu: "100"}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
```

## Options

- `exempt` (list of words): a pool with one of them in a label or taint of its nodes is left out. - `longest` (hours,
  default 12): a consolidateAfter from it on is reported.

## References

- [Karpenter: Disruption](https://karpenter.sh/docs/concepts/disruption/) - karpenter:U-3, karpenter:U-4,
  karpenter:C-2, karpenter:C-3
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.karpenter import NodePool
from unpend.rule import Facts, Finding, Option, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each pool, at the field that switches it off."""
    for pool in facts.inventory.node_pools:
        disruption = pool.disruption
        if pool.is_static or disruption.place is None or _is_meant(pool, options["exempt"]):
            continue
        if disruption.consolidate_after.seconds is None:
            yield Finding(
                disruption.consolidate_after.place or disruption.place,
                f"No node of {pool.name} is ever consolidated, not even an empty one: consolidateAfter is Never.",
                repair="set a time, such as 1m",
            )
        elif disruption.policy == "WhenEmpty" and not pool.taints:
            yield Finding(
                disruption.place.at("consolidationPolicy"),
                f"A node of {pool.name} is only removed when nothing but DaemonSets runs on it: half-empty nodes stay.",
                repair="use WhenEmptyOrUnderutilized",
            )
        elif disruption.consolidate_after.seconds >= options["longest"] * 3600:
            yield Finding(
                disruption.consolidate_after.place or disruption.place,
                f"Each pod that comes to a node of {pool.name} or leaves it starts the {disruption.consolidate_after.text} "
                "anew, and until they are over the node is neither consolidated nor, from Karpenter 1.14 on, a place for pods "
                "of other nodes that are.",
                repair="wait for minutes, not hours",
            )


def _is_meant(pool: NodePool, words: tuple[str, ...]) -> bool:
    texts = [part for label in pool.template_labels.values() for part in (label.key, label.value)]
    texts += [part for taint in pool.taints for part in (taint.key, taint.value)]
    return any(word in text for word in words for text in texts)


RULE = Rule(
    name="consolidation-disabled",
    topic="disruption",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("nodepools",),
    options=(
        Option("exempt", ("stateful", "database"), "words in labels or taints of pools that are left out"),
        Option("longest", 12, "hours from which on consolidateAfter is reported", 1),
    ),
)
