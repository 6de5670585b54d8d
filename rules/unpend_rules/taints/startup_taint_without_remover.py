"""A startup taint that nothing among the manifests removes.

## What it checks

Each of `startupTaints` of a NodePool: is there a workload that is known to remove it (Cilium, CSI drivers, Istio CNI …), or one
that names its key in a toleration, an argument or an environment variable? Taints of Kubernetes, the cloud controller and Karpenter
are removed by those, if the effect is theirs too: `karpenter.sh/unregistered:NoSchedule` stays, which is an error. Else the rule
speaks only where the DaemonSets are known to be complete (`world: {daemonsets: closed}`); agents that an add-on of the cloud
provider installs must then be among the files.

## Why it matters

Until the taint is gone the node is not initialized: no pod that does not tolerate it binds there, Karpenter neither consolidates
nor replaces the node, and it starts another one for the pods that still wait.

## Example

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: []
      startupTaints:
        - {key: example.com/agent-not-ready, effect: NoSchedule}
```

## Instead

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: []
      startupTaints:
        - {key: example.com/agent-not-ready, effect: NoSchedule}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: kube-system}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      tolerations: [{operator: Exists}]
      containers:
        - {name: agent, image: agent:1, args: [--remove-taint=example.com/agent-not-ready]}
```

## Options

None.

## References

- [Karpenter: NodePools, startup taints](https://karpenter.sh/docs/concepts/nodepools/#spectemplatespecstartuptaints)
- karpenter:A-2, karpenter:A-3, karpenter:A-4
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.karpenter.startup_agents import agent_for, other_effect, removed_by_the_cluster, removers
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each startup taint without a remover."""
    closed = facts.settings.world.daemonsets == "closed"
    for pool in facts.inventory.node_pools:
        for taint in pool.startup_taints:
            other = other_effect(taint)
            if other is not None:
                yield Finding(
                    taint.place,
                    f"{other[0][0].upper()}{other[0][1:]} removes {taint.key} with the effect {other[1]} only: this one, with "
                    f"{taint.effect}, stays, and no pod that does not tolerate it ever runs on these nodes.",
                    severity="error",
                    salient=f"{taint.key}:{taint.effect}",
                    repair="drop the startup taint: it is set and removed without your help",
                    assumes_closed=(),
                )
                continue
            if not closed or removed_by_the_cluster(taint) or next(removers(taint, facts.inventory), None):
                continue
            agent = agent_for(taint.key)
            who = (
                f"{agent.name}, which removes it, is not among the workloads" if agent else "no workload knows its key"
            )
            yield Finding(
                taint.place,
                f"Nothing removes the startup taint {taint.key} ({who}): the nodes of this pool never become ready for pods.",
                certainty="heuristic",
                salient=f"{taint.key}:{taint.effect}",
                repair="deploy the agent, or drop the startup taint",
            )


RULE = Rule(
    name="startup-taint-without-remover",
    topic="taints",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("nodepools",),
    assumes_closed=("daemonsets", "workloads"),
)
