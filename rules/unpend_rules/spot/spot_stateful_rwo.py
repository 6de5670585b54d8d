"""A StatefulSet with a volume that one node mounts, on spot nodes.

## What it checks

StatefulSets with ReadWriteOnce volumes whose pods may land on spot nodes and do not ask for one. With three or more
replicas it is a hint: such stores mostly live on with one member missing.

## Why it matters

After an interruption the volume has to be detached, and a node found in its zone, before the pod runs again. That takes
minutes, and in a zone without spot capacity longer.

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
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 1
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: db, image: db:1, resources: {requests: {cpu: 100m}}}]
  volumeClaimTemplates:
    - metadata: {name: data}
      spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 10Gi}}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
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
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 1
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      nodeSelector: {karpenter.sh/capacity-type: on-demand}
      containers: [{name: db, image: db:1, resources: {requests: {cpu: 100m}}}]
  volumeClaimTemplates:
    - metadata: {name: data}
      spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 10Gi}}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
```

## Options

None.

## References

- [EKS best practices: Karpenter](https://docs.aws.amazon.com/eks/latest/best-practices/karpenter.html)
- karpenter:V-16
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.spot import spot_choices
from unpend.rule import Facts, Finding, Related, Rule

ONE_NODE = frozenset({"ReadWriteOnce", "ReadWriteOncePod"})
MEMBERS = 3


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at its first such claim template."""
    for choice in spot_choices(facts):
        workload = choice.workload
        if workload.kind != "StatefulSet" or choice.chosen is not None:
            continue
        claim = next(
            (c for c in workload.claim_templates if c.access_modes and ONE_NODE.issuperset(c.access_modes)), None
        )
        if claim is None:
            continue
        yield Finding(
            claim.place,
            f"Volume {claim.name} is mounted by one node at a time, and that may be a spot node of {choice.pools[0]}: after an "
            "interruption it has to be detached first, and only its zone will do.",
            related=tuple(Related(f"NodePool/{p.name} makes spot nodes", p.place) for p in choice.node_pools[:1]),
            severity="info" if choice.verdict.replicas.needed >= MEMBERS else None,
            certainty="assumed",
            workload=workload.id,
            repair="ask for on-demand nodes",
        )


RULE = Rule(
    name="spot-stateful-rwo",
    topic="spot",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    enabled=False,
    profiles=("reliability",),
)
