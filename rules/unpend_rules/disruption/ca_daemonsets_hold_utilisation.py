"""DaemonSets alone keep every node above the threshold for scale-down.

## What it checks

The requests of the DaemonSets that land on the nodes of a group against what a node of it offers, cpu and memory,
compared with `scale-down-utilization-threshold` (0.5) where Cluster Autoscaler resizes the group. With
`--ignore-daemonsets-utilization` it is silent.

## Why it matters

Utilisation counts the requests of DaemonSets. If they take more than the threshold, no node of the group ever counts
as underused, however few other pods are left on it, and the group does not shrink.

## Example

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: example, region: us-east-1}
managedNodeGroups:
  - name: workers
    instanceType: m5.large
    minSize: 1
    maxSize: 5
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: shop}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers:
        - name: app
          image: registry.example.com/agent:1
          resources: {requests: {cpu: 1100m, memory: 512Mi}}
```

## Instead

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: example, region: us-east-1}
managedNodeGroups:
  - name: workers
    instanceType: m5.2xlarge
    minSize: 1
    maxSize: 5
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: shop}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers:
        - name: app
          image: registry.example.com/agent:1
          resources: {requests: {cpu: 1100m, memory: 512Mi}}
```

## Options

None.

## References

- [Cluster Autoscaler FAQ](https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md) -
  autoscaler:C-402
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.algebra.quantity import render
from unpend.disruption.daemon_share import daemon_shares
from unpend.disruption.landing import autoscaled
from unpend.disruption.scale_down import scale_down_flags
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each group, at its instance types."""
    flags = scale_down_flags(facts)
    if not flags.daemonset_utilisation or not autoscaled(facts):
        return
    for found in daemon_shares(facts):
        if found.share > flags.threshold and not found.group.size.is_fixed:
            types = found.group.instance_types
            yield Finding(
                types[0].place if types else found.group.place,
                f"DaemonSets request {render(found.taken, found.resource)} of {render(found.whole, found.resource)} "
                f"{found.resource} on a node of {found.group.name} ({found.share:.0%}): it never counts as underused, and is "
                "never removed.",
                certainty="catalog",
                salient=found.resource,
                repair="use larger nodes, or start Cluster Autoscaler with --ignore-daemonsets-utilization",
            )


RULE = Rule(
    name="ca-daemonsets-hold-utilisation",
    topic="disruption",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("daemonsets", "nodegroups"),
)
