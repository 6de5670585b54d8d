"""A pod asks for more ephemeral storage than the volume of the nodes has.

## What it checks

The `ephemeral-storage` request of a pod against the disk that the node class of the nearest NodePool gives its nodes: the mapping with
`rootVolume`, else the one for the data volume of the image family (`/dev/xvda`, on Bottlerocket `/dev/xvdb`), else 20Gi; local disks
count with `instanceStorePolicy: RAID0`. 1Gi and 10 % of it are not for pods. The rule speaks when the disk alone keeps the pod out.

## Why it matters

Karpenter says "no instance type has enough resources": no instance type has a larger disk, since the disk comes from the node class.
With the default of 20Gi only 17Gi are left for pods.

## Example

```yaml
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: KarpenterNode
  amiSelectorTerms: [{alias: al2023@v20260115}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1b]}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: web, image: web:1, resources: {requests: {ephemeral-storage: 30Gi}}}]
```

## Instead

```yaml
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: KarpenterNode
  amiSelectorTerms: [{alias: al2023@v20260115}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
  blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 100Gi}}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1b]}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: web, image: web:1, resources: {requests: {ephemeral-storage: 30Gi}}}]
```

## Options

None.

## References

- [Karpenter: NodeClasses, block device mappings](https://karpenter.sh/docs/concepts/nodeclasses/#specblockdevicemappings)
- [aws/karpenter-provider-aws#6214](https://github.com/aws/karpenter-provider-aws/issues/6214)
- karpenter:M-5
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.algebra.quantity import render
from unpend.placement.blame import blamed
from unpend.placement.demand import demand_of
from unpend.placement.facts import managed_pools_of
from unpend.placement.karpenter.pod_facts import EPHEMERAL, kept_out_by_storage, named, root_volume
from unpend.rule import Facts, Finding, Related, Rule, unplaced


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload that the disk alone keeps from its nearest NodePool."""
    for workload, verdict, blame in blamed(facts, "resources"):
        pod = facts.effective(workload)
        if not pod.requests.get(EPHEMERAL):
            continue
        found = named(managed_pools_of(facts), blame.pool.pool)
        if found is None or found.node_class is None:
            continue
        storage = kept_out_by_storage(found, demand_of(pod), {**pod.requests, "pods": 1000})
        if storage is None:
            continue
        volume = root_volume(found.node_class)
        places = pod.request_places.get(EPHEMERAL, ())
        wanted = str(places[0].value) if len(places) == 1 else render(pod.requests[EPHEMERAL], EPHEMERAL)
        yield unplaced(
            verdict,
            places[0] if places else workload.template.spec.place,
            f"The pod asks for {wanted} of ephemeral-storage; nodes of {found.name} have at most "
            f"{render(max(storage.most, 0), EPHEMERAL)} for pods, by {volume.phrase}{blame.elsewhere()}.",
            (Related(f"the disk of {found.name}", volume.place),),
            severity="error" if verdict.verdict in ("never", "loop") else None,
            repair="raise volumeSize of the node class, or ask for less",
        )


RULE = Rule(
    name="ephemeral-storage-over-root-volume",
    topic="resources",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodepools"),
    rank=42,
    competes=True,
    assumes_closed=("pools",),
)
