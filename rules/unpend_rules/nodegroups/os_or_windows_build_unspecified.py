"""A pod names no operating system although the cluster has Windows and Linux nodes.

## What it checks

Only where a node group, a NodePool or a Node runs Windows: workloads that a Linux and a Windows node would both take, and workloads with
`spec.os.name: windows` and no selector for Windows nodes. With Windows nodes of several builds, Windows pods without
`node.kubernetes.io/windows-build`.

## Why it matters

kube-scheduler does not look at the image. A Linux pod lands on a Windows node and fails with "no matching manifest", or the other way
round; a Windows container of another build does not start.

## Example

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: prod, region: us-east-1}
managedNodeGroups:
  - {name: linux, minSize: 1, maxSize: 5}
  - {name: windows, amiFamily: WindowsServer2022FullContainer, instanceType: m5.large, minSize: 1, maxSize: 5}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: web, image: "web:1"}]
```

## Instead

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: prod, region: us-east-1}
managedNodeGroups:
  - {name: linux, minSize: 1, maxSize: 5}
  - {name: windows, amiFamily: WindowsServer2022FullContainer, instanceType: m5.large, minSize: 1, maxSize: 5}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeSelector: {kubernetes.io/os: linux}
  containers: [{name: web, image: "web:1"}]
```

## Options

None.

## References

- [Amazon EKS best practices: Windows scheduling](https://docs.aws.amazon.com/eks/latest/best-practices/windows-scheduling.html)
- [Kubernetes: Windows containers, ensuring that pods land on the right host](https://kubernetes.io/docs/concepts/windows/user-guide/)
- autoscaler:C-217, karpenter:M-10
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.inventory import Workload
from unpend.placement.facts import node_groups_of
from unpend.placement.windows import systems_of_node_pools, windows_builds
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload that nodes of the other system would take."""
    inventory = facts.inventory
    builds = facts.memo("windows-builds", lambda: windows_builds(inventory))
    if builds is None:
        return
    from unpend.placement.cluster_autoscaler.group_facts import takers_by_system

    groups = node_groups_of(facts)
    systems = systems_of_node_pools(inventory)
    for workload in inventory.workloads:
        takers = takers_by_system(facts.effective(workload), inventory, groups)
        if systems:
            takers = {**_node_pools(facts, workload, systems), **takers}
        named = _system(workload)
        place = workload.template.spec.place
        if named != "windows" and "windows" in takers and (named == "linux" or "linux" in takers):
            yield Finding(
                place,
                f"{takers['windows']} runs Windows and would take this pod, which names no operating system.",
                workload=workload.id,
                repair="add nodeSelector kubernetes.io/os: linux (or windows)",
            )
        elif named == "windows" and "linux" in takers:
            yield Finding(
                place.at("os"),
                f"spec.os.name decides nothing about nodes: {takers['linux']} runs Linux and would take this Windows pod.",
                workload=workload.id,
                repair="add nodeSelector kubernetes.io/os: windows",
            )
        elif "windows" in takers and "linux" not in takers and len(builds) > 1 and not _names_build(workload):
            yield Finding(
                place,
                f"There are Windows nodes of {len(builds)} builds ({', '.join(sorted(builds))}), and the pod names none.",
                workload=workload.id,
                salient="build",
                repair="add nodeSelector node.kubernetes.io/windows-build",
            )


def _node_pools(facts: Facts, workload: Workload, systems: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """By operating system, the first NodePool that takes the workload."""
    verdict = facts.verdicts.get(workload.id)
    found: dict[str, str] = {}
    for one in verdict.pools if verdict is not None else ():
        if one.verdict == "fits" and one.pool in systems:
            found.setdefault(systems[one.pool][0], one.pool)
    return found


def _system(workload: Workload) -> str:
    value = workload.template.spec.place.at("os", "name").value
    return value if isinstance(value, str) else ""


def _names_build(workload: Workload) -> bool:
    spec = workload.template.spec
    keys = {label.key for label in spec.node_selector}
    for term in spec.affinity.required or ():
        keys.update(expression.key for expression in term.expressions)
    return bool(keys & {"node.kubernetes.io/windows-build", "kubernetes.io/hostname"})


RULE = Rule(
    name="os-or-windows-build-unspecified",
    topic="nodegroups",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
)
