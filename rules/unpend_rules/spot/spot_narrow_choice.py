"""Spot nodes from few instance types.

## What it checks

How many instance types are left as spot nodes for a workload, after its own constraints and those of the NodePools that
take it; fewer than 15 are few. Where on-demand nodes take the pods too it is a hint. It speaks of a pool once where the
pool itself is that narrow, and of the workload where its own constraints make the choice narrow.

## Why it matters

Each pair of instance type and zone is a market of its own. With few of them an interruption is likelier, a replacement may
not be had, and Karpenter replaces a spot node by a cheaper one only where at least 15 types are left.

## Example

```yaml
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260101}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: spot}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
        - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m5]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1b]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Instead

```yaml
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260101}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: spot}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1b]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Options

- `min-types` (number, 15): how many types are enough.
- `min-accelerated-types` (number, 4): the same for pods that ask for GPUs or other accelerators.

## References

- [Karpenter: Disruption, spot consolidation](https://karpenter.sh/docs/concepts/disruption/#spot-consolidation)
- [Best practices for EC2 Spot](https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-best-practices.html) -
  karpenter:U-11, karpenter:U-12
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.karpenter_labels import ZONE
from unpend.placement.spot import SpotChoice, spot_choices
from unpend.rule import Facts, Finding, Option, Related, Rule
from unpend.source.place import Place


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each narrow pool, and for each workload that is narrow by its own text."""
    told: set[tuple[str, ...]] = set()
    for choice in spot_choices(facts):
        count, fewest = len(choice.types), choice.fewest
        accelerated = any("/" in name for name in facts.effective(choice.workload).requests)
        enough = options["min-accelerated-types"] if accelerated else options["min-types"]
        if fewest is None or count >= enough or not choice.node_pools:
            continue
        by_pool = choice.wide < enough
        if by_pool and choice.pools in told:
            continue
        told.add(choice.pools)
        pool = choice.node_pools[0]
        where = pool.place.at("spec", "template", "spec", "requirements")
        noun = "type is" if count == 1 else "types are"
        zones = f" ({fewest[1]} in {fewest[0]})" if choice.zones_known and fewest[1] < count else ""
        who = f"of {choice.pools[0]}" if by_pool else "for these pods"
        yield Finding(
            where if by_pool else _narrowing(choice),
            f"{count} instance {noun} left {who} as spot nodes{zones}; fewer than {enough} make interruptions likelier, and "
            "Karpenter never replaces such a node by a cheaper spot node.",
            related=() if by_pool else (Related(f"of {choice.pools[0]}", where),),
            severity="info" if choice.on_demand else None,
            certainty="catalog",
            workload=None if by_pool else choice.workload.id,
            repair="allow more families, sizes and generations",
        )


def _narrowing(choice: SpotChoice) -> Place:
    """What in the pod most likely narrows the choice."""
    spec = choice.workload.template.spec
    for label in spec.node_selector:
        if label.key != ZONE:
            return label.place
    for term in spec.affinity.required or ():
        for expression in term.expressions:
            if expression.key != ZONE:
                return expression.place
    return spec.place


RULE = Rule(
    name="spot-narrow-choice",
    topic="spot",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodepools"),
    options=(
        Option("min-types", 15, "how many types are enough", minimum=1),
        Option("min-accelerated-types", 4, "the same for pods that ask for accelerators", minimum=1),
    ),
)
