"""Cluster Autoscaler does not know what the nodes of an empty group are, because no tag tells it.

## What it checks

Groups that may be empty and that Cluster Autoscaler scales. On self-managed Auto Scaling groups: labels that some pod selects and
taints, each without its `node-template` tag. On every AWS group: `ephemeral-storage`, huge pages, Neuron and EFA that some pod
requests and the nodes have. In all: taints that an agent takes off later and that are no startup taints of the autoscaler. EKS
managed groups are asked for their labels and taints through the EKS API and need no tags for them.

hardeneks asks a running account how Cluster Autoscaler discovers its groups; this rule reads the groups from files
and asks what it can know of one without a node.

## Why it matters

Without a living node the autoscaler imagines one from the tags of the Auto Scaling group alone. A label that is missing there means
NotTriggerScaleUp ("node(s) didn't match Pod's node affinity/selector") until somebody resizes the group by hand; a taint that is
missing means nodes that come in vain.

## Example

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: prod, region: us-east-1}
nodeGroups:
  - name: gpu
    instanceType: g4dn.xlarge
    minSize: 0
    maxSize: 4
    labels: {role: gpu}
    iam: {withAddonPolicies: {autoScaler: true}}
---
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  nodeSelector: {role: gpu}
  containers: [{name: train, image: train:1}]
```

## Instead

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: prod, region: us-east-1}
nodeGroups:
  - name: gpu
    instanceType: g4dn.xlarge
    minSize: 0
    maxSize: 4
    labels: {role: gpu}
    tags: {k8s.io/cluster-autoscaler/node-template/label/role: gpu}
    iam: {withAddonPolicies: {autoScaler: true}}
---
apiVersion: v1
kind: Pod
metadata: {name: train}
spec:
  nodeSelector: {role: gpu}
  containers: [{name: train, image: train:1}]
```

## Options

None.

## References

- [Cluster Autoscaler on AWS: auto-discovery and tags](https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/aws/README.md)
- [eksctl-io/eksctl#1479](https://github.com/eksctl-io/eksctl/issues/1479)
- [kubernetes/autoscaler#2418](https://github.com/kubernetes/autoscaler/issues/2418)
- autoscaler:C-201, autoscaler:C-205, autoscaler:C-215, autoscaler:C-216, autoscaler:C-219
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.node_groups.tags import LABEL, RESOURCE, TAINT
from unpend.placement.cluster_autoscaler.group_facts import (
    grows_from_zero,
    is_declared_by_tags,
    undeclared_agents,
    unseen_labels,
    unseen_resources,
    unseen_taints,
    wanted_labels,
)
from unpend.placement.cluster_autoscaler.groups import Group
from unpend.placement.facts import node_groups_of
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each fact about the nodes that the autoscaler cannot know."""
    groups = node_groups_of(facts)
    workloads = facts.inventory.workloads
    wanted = frozenset(key for workload in workloads for key in wanted_labels(workload))
    requested = frozenset(name for workload in workloads for name in facts.effective(workload).requests)
    for group in groups.groups:
        if not grows_from_zero(group):
            continue
        if is_declared_by_tags(group):
            yield from _untagged(group, wanted)
        for name in unseen_resources(group, requested):
            yield Finding(
                group.group.tags_place or group.group.place,
                f"Pods ask for {name}, and Cluster Autoscaler does not know that nodes of {group.name} have it while "
                "the group is empty.",
                salient=f"{group.group.name} {name}",
                repair=f"tag the Auto Scaling group with {RESOURCE}{name}",
            )
        for taint in undeclared_agents(group, groups):
            yield Finding(
                taint.place,
                f"An agent takes the taint {taint.key} off running nodes, but Cluster Autoscaler imagines nodes of "
                f"{group.name} with it, so that no ordinary pod fits while the group is empty.",
                salient=f"{group.group.name} {taint.key}",
                repair=f"start Cluster Autoscaler with --startup-taint={taint.key}",
            )


def _untagged(group: Group, wanted: frozenset[str]) -> Iterator[Finding]:
    for label in unseen_labels(group, wanted):
        yield Finding(
            label.place,
            f"Pods select {label.key}={label.value}, and no tag tells Cluster Autoscaler that nodes of {group.name} have "
            "it: while the group is empty it adds none (pod didn't trigger scale-up).",
            salient=f"{group.group.name} {label.key}",
            repair=f"tag the Auto Scaling group with {LABEL}{label.key} = {label.value}",
        )
    if any(tag.startswith(TAINT) for tag in group.group.tags):
        # Tags that say it wrongly are reported where they stand.
        return
    for taint in unseen_taints(group):
        yield Finding(
            taint.place,
            f"No tag tells Cluster Autoscaler of the taint {taint.key}: while {group.name} is empty it adds nodes for pods "
            "that the taint then keeps away.",
            salient=f"{group.group.name} {taint.key}",
            repair=f'tag the Auto Scaling group with {TAINT}{taint.key} = "{taint.value}:{taint.effect}"',
        )


RULE = Rule(
    name="nodegroup-scale-from-zero-labels",
    topic="nodegroups",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("nodegroups",),
)
