"""A taint that an agent removes from new nodes stands under `taints` instead of `startupTaints`.

## What it checks

`spec.template.spec.taints` of NodePools against taints that are known to be removed once an agent runs: Cilium, the EBS, EFS, FSx,
S3 and Azure CSI drivers, Istio CNI, the Node Readiness Controller, Nidhogg. Other keys are not guessed.

## Why it matters

Karpenter expects a taint under `taints` to stay for the life of the node, so it makes no node for pods that do not tolerate it:
"did not tolerate taint". Workloads do not tolerate it, since the agent takes it off before they come.

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
      taints:
        - {key: node.cilium.io/agent-not-ready, value: "true", effect: NoExecute}
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
        - {key: node.cilium.io/agent-not-ready, value: "true", effect: NoExecute}
```

## Options

None.

## References

- [Karpenter: NodePools, Cilium startup taint](https://karpenter.sh/docs/concepts/nodepools/#cilium-startup-taint)
- karpenter:A-1, karpenter:A-2, karpenter:A-4
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.karpenter.startup_agents import agent_for
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each lasting taint whose key an agent removes."""
    for pool in facts.inventory.node_pools:
        for taint in pool.taints:
            agent = agent_for(taint.key)
            if agent is not None and taint.effect != "PreferNoSchedule":
                yield Finding(
                    taint.place,
                    f"{agent.name[0].upper()}{agent.name[1:]} removes {taint.key} from a node, but under `taints` Karpenter takes it "
                    "as lasting and makes no node for pods that do not tolerate it.",
                    salient=f"{taint.key}:{taint.effect}",
                    repair="move the taint to `startupTaints`",
                )


RULE = Rule(
    name="pool-taint-should-be-startup-taint",
    topic="taints",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("nodepools",),
)
