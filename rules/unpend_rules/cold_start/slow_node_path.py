"""A pool chooses what makes its nodes slow to start.

## What it checks

What pools and their node classes add to the start of a node: a volume from a snapshot without `volumeInitializationRate`, a script in
`userData`, Windows, bare-metal types only, `taints` or more startup taints that agents have to remove.

## Why it matters

Images on a disk made from a snapshot are meant to save the pull. Without an initialisation rate (or fast snapshot restore) each block is
fetched on first use, and a start that took seconds takes minutes. Scripts, Windows and bare metal add their own minutes before the node is
there; each startup taint waits for an agent that has to be pulled first.

## Example

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: cached}
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: cached}
spec:
  role: nodes
  amiSelectorTerms: [{alias: bottlerocket@v1.50.0}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
  blockDeviceMappings:
    - deviceName: /dev/xvdb
      ebs:
        volumeSize: 80Gi
        volumeType: gp3
        snapshotID: snap-0123456789abcdef0
```

## Instead

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: cached}
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: cached}
spec:
  role: nodes
  amiSelectorTerms: [{alias: bottlerocket@v1.50.0}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
  blockDeviceMappings:
    - deviceName: /dev/xvdb
      ebs:
        volumeSize: 80Gi
        volumeType: gp3
        snapshotID: snap-0123456789abcdef0
        volumeInitializationRate: 200
```

## Options

- `taints` (3): the least number of startup taints that is reported.

## References

- [Amazon EBS: initialise volumes](https://docs.aws.amazon.com/ebs/latest/userguide/initalize-volume.html)
- [Karpenter: NodeClasses, block device mappings](https://karpenter.sh/docs/concepts/nodeclasses/#specblockdevicemappings)
- karpenter:A-4
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Option, Rule
from unpend.source.place import Place
from unpend.startup.nodes import pool_starts
from unpend.startup.profile import builtin
from unpend.startup.stages import shown_range

_REPAIRS = {
    "snapshot-volume": "set volumeInitializationRate, or switch fast snapshot restore on",
    "user-data": "move what the script does into the node image",
    "windows": "keep such nodes ahead of demand",
    "metal": "allow other types too, or keep such nodes ahead of demand",
}


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each choice, where it is made; a node class that several pools use is told once."""
    told: set[Place] = set()
    for pool in pool_starts(facts.inventory, {}).values():
        figures = builtin(pool.base)
        for one in pool.slower:
            if one.place in told:
                continue
            told.add(one.place)
            yield Finding(
                one.place,
                f"Nodes of {pool.name} start later: {one.message} ({shown_range(figures.figure(one.stage).interval)} more).",
                certainty="heuristic",
                salient=one.stage,
                repair=_REPAIRS[one.stage],
            )
        if len(pool.startup_taints) >= options["taints"]:
            yield Finding(
                pool.startup_taints[0].place,
                f"Nodes of {pool.name} wait for {len(pool.startup_taints)} agents that each have to remove a startup taint.",
                certainty="heuristic",
                salient="startup-taints",
                repair="keep only the taints that protect something",
            )


RULE = Rule(
    name="slow-node-path",
    topic="cold-start",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("pools",),
    options=(Option("taints", 3, "the least number of startup taints that is reported", 1),),
    enabled=False,
    profiles=("strict",),
)
