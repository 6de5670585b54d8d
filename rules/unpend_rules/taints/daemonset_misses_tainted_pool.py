"""A node agent does not tolerate the taint of a pool, so it is missing on the nodes of that pool.

## What it checks

DaemonSets that are meant for every node (in one of the `namespaces`, or with the priority class `system-node-critical`, and without
node selector or required node affinity) against the lasting `NoSchedule` and `NoExecute` taints of NodePools and Nodes. Startup
taints do not count, nor do those that Kubernetes sets by itself.

## Why it matters

Logs, metrics, network policy, storage or device plugins are missing there. Where the agent is what makes a node ready (a device
plugin, a CSI driver), Karpenter never sees the node initialized and its pods stay Pending.

## Example

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: []
      taints: [{key: nvidia.com/gpu, value: "true", effect: NoSchedule}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: log-agent, namespace: kube-system}
spec:
  selector: {matchLabels: {app: log-agent}}
  template:
    metadata: {labels: {app: log-agent}}
    spec:
      containers: [{name: agent, image: agent:1}]
```

## Instead

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: []
      taints: [{key: nvidia.com/gpu, value: "true", effect: NoSchedule}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: log-agent, namespace: kube-system}
spec:
  selector: {matchLabels: {app: log-agent}}
  template:
    metadata: {labels: {app: log-agent}}
    spec:
      tolerations: [{operator: Exists}]
      containers: [{name: agent, image: agent:1}]
```

## Options

`namespaces` (default `kube-system`): where every DaemonSet is taken for a node agent.

## References

- [DaemonSet: taints and tolerations](https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/#taints-and-tolerations)
- scheduler:P-402, scheduler:S-1621, karpenter:A-4
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from unpend.algebra.taints import tolerates
from unpend.model.inventory import Workload
from unpend.model.pod import Taint
from unpend.placement.taint_supply import BUILT_IN
from unpend.rule import Facts, Finding, Option, Related, Rule

NOT_A_NODE = ("virtual-kubelet.io/", "eks.amazonaws.com/compute-type")


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each agent that cannot enter some pool, with the taints that keep it out."""
    pools = list(_tainted(facts))
    if not pools:
        return
    for workload in facts.inventory.workloads:
        if not _is_agent(workload, options["namespaces"]):
            continue
        spec = facts.effective(workload).spec
        missed: dict[str, Taint] = {}
        for name, taints in pools:
            refused = [t for t in taints if not any(tolerates(one, t) for one in spec.tolerations)]
            if refused:
                missed[name] = refused[0]
        if not missed:
            continue
        texts = list(dict.fromkeys(_text(taint) for taint in missed.values()))
        place = workload.template.spec.place
        yield Finding(
            place.at("tolerations") if workload.template.spec.tolerations else place,
            f"This agent does not tolerate {_listed(texts)}, so it does not run on the nodes of {_listed(list(missed))}.",
            related=tuple(Related(f"taint of {name}", taint.place) for name, taint in list(missed.items())[:5]),
            certainty="heuristic",
            workload=workload.id,
            salient=" ".join(texts),
            repair="tolerate the taint, or every taint with `operator: Exists`",
        )


def _text(taint: Taint) -> str:
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _tainted(facts: Facts) -> Iterator[tuple[str, list[Taint]]]:
    for pool in facts.inventory.node_pools:
        if not pool.refusals:
            yield f"NodePool/{pool.name}", list(_lasting(pool.taints))
    for node in facts.inventory.nodes:
        yield f"Node/{node.name}", list(_lasting(node.taints))


def _lasting(taints: Iterable[Taint]) -> Iterator[Taint]:
    for taint in taints:
        if taint.effect in ("NoSchedule", "NoExecute") and not taint.key.startswith((*BUILT_IN, *NOT_A_NODE)):
            yield taint


def _is_agent(workload: Workload, namespaces: tuple[str, ...]) -> bool:
    spec = workload.template.spec
    if workload.kind != "DaemonSet" or spec.node_selector or spec.affinity.required is not None:
        return False
    return workload.namespace in namespaces or spec.priority_class == "system-node-critical"


RULE = Rule(
    name="daemonset-misses-tainted-pool",
    topic="taints",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("daemonsets", "pools"),
    options=(Option("namespaces", ("kube-system",), "namespaces in which every DaemonSet is taken for a node agent"),),
)
