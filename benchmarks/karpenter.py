"""Workloads against NodePools on the AWS catalogue: 500 × 40 with every index built, and how it grows.

    python -m benchmarks.karpenter

Prints the time of the evaluation alone (objects already read), of twice as many workloads, and the peak memory.
"""

from __future__ import annotations

import random
import resource
import sys
import time
from typing import Any

from unpend.model.reading import read_objects
from unpend.placement.evaluate import evaluate_inventory
from unpend.settings import Settings, World
from unpend.source.document import objects_of

_FAMILIES = ("m5", "m6i", "m7i", "m7g", "c5", "c6i", "c7g", "r5", "r6i", "r7g", "t3", "g5", "i4i")
_ZONES = ("us-east-1a", "us-east-1b", "us-east-1c")


def objects(workloads: int, pools: int, seed: int = 1, ruled: float = 0.0) -> list[dict[str, Any]]:
    """A mixed cluster: teams with their own labels and taints, pods of many sizes, some that fit nowhere.

    `ruled` is the share of workloads with hard topology rules.
    """
    pick = random.Random(seed)
    made: list[dict[str, Any]] = [_node_class(), _daemon("agent"), _daemon("logs")]
    made += [_pool(number, pick) for number in range(pools)]
    made += [_workload(number, pools, pick) for number in range(workloads)]
    for number in range(workloads):
        if pick.random() < ruled:
            _rule(made[number - workloads], pick, pick.randrange(workloads))
    return made


def _rule(workload: dict[str, Any], pick: random.Random, other: int) -> None:
    """Give a workload a hard spread, anti-affinity, or affinity to itself or to another one."""
    template = workload["spec"]["template"]
    own = {"matchLabels": template["metadata"]["labels"]}
    kind = pick.choice(("zone", "both", "podAntiAffinity", "podAffinity", "another"))
    if kind in ("zone", "both"):
        keys = ("topology.kubernetes.io/zone", "karpenter.sh/capacity-type")[: 1 if kind == "zone" else 2]
        template["spec"]["topologySpreadConstraints"] = [
            {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": own}
            for key in keys
        ]
        return
    selector = own if kind != "another" else {"matchLabels": {"app": f"app-{other}"}}
    term = {"topologyKey": "topology.kubernetes.io/zone", "labelSelector": selector}
    rules = template["spec"].setdefault("affinity", {})
    name = "podAffinity" if kind == "another" else kind
    rules[name] = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def _node_class() -> dict[str, Any]:
    terms = [{"tags": {"karpenter.sh/discovery": "example"}}]
    spec = {
        "amiSelectorTerms": [{"alias": "al2023@latest"}],
        "role": "node",
        "subnetSelectorTerms": terms,
        "securityGroupSelectorTerms": terms,
    }
    return {"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"}, "spec": spec}


def _daemon(name: str) -> dict[str, Any]:
    requests = {"cpu": "100m", "memory": "128Mi"}
    pod = {
        "tolerations": [{"operator": "Exists"}],
        "containers": [{"name": name, "image": "example/agent", "resources": {"requests": requests}}],
    }
    spec = {
        "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}}, "spec": pod},
    }
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name, "namespace": "ops"}, "spec": spec}


def _pool(number: int, pick: random.Random) -> dict[str, Any]:
    requirements: list[dict[str, Any]] = [
        {"key": "topology.kubernetes.io/zone", "operator": "In", "values": list(_ZONES[: pick.randint(1, 3)])},
        {
            "key": "karpenter.sh/capacity-type",
            "operator": "In",
            "values": pick.choice((["spot", "on-demand"], ["spot"])),
        },
    ]
    if pick.random() < 0.5:
        values = pick.sample(_FAMILIES, pick.randint(1, 5))
        requirements.append({"key": "karpenter.k8s.aws/instance-family", "operator": "In", "values": values})
    if pick.random() < 0.5:
        bound = str(pick.choice((4, 8, 16)))
        requirements.append({"key": "karpenter.k8s.aws/instance-cpu", "operator": "Gt", "values": [bound]})
    template: dict[str, Any] = {
        "metadata": {"labels": {"team": f"team-{number % 12}"}},
        "spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
            "requirements": requirements,
        },
    }
    if number % 3 == 0:
        template["spec"]["taints"] = [{"key": "dedicated", "value": f"team-{number % 12}", "effect": "NoSchedule"}]
    spec = {"template": template, "limits": {"cpu": "1000"}, "weight": number % 7 + 1}
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": f"pool-{number}"}, "spec": spec}


def _workload(number: int, pools: int, pick: random.Random) -> dict[str, Any]:
    requests = {"cpu": f"{pick.randint(1, 160) * 100}m", "memory": f"{pick.randint(1, 512) * 128}Mi"}
    pod: dict[str, Any] = {
        "containers": [{"name": "main", "image": f"example/{number}", "resources": {"requests": requests}}]
    }
    if pick.random() < 0.6:
        pod["nodeSelector"] = {"team": f"team-{pick.randint(0, 13)}"}
    if pick.random() < 0.3:
        pod.setdefault("nodeSelector", {})["kubernetes.io/arch"] = pick.choice(("amd64", "arm64"))
    if pick.random() < 0.4:
        pod["tolerations"] = [{"key": "dedicated", "operator": "Equal", "value": f"team-{pick.randint(0, 11)}"}]
    if pick.random() < 0.2:
        values = list(pick.sample(_ZONES, 2))
        term = {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": values}]}
        required = {"nodeSelectorTerms": [term]}
        pod["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    template = {"metadata": {"labels": {"app": f"app-{number}"}}, "spec": pod}
    spec = {"replicas": pick.randint(1, 5), "selector": {"matchLabels": {"app": f"app-{number}"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": f"app-{number}"}, "spec": spec}


def measure(workloads: int, pools: int, look: bool, ruled: float = 0.0) -> tuple[float, dict[str, int]]:
    """Seconds of processor time for an evaluation, and how often each verdict comes.

    `look` makes the verdict of every pool, too.
    """
    settings = Settings(world=World.all_closed(), admission="all")
    inventory = read_objects(objects_of(objects(workloads, pools, ruled=ruled)), settings)
    before = time.process_time()
    verdicts = evaluate_inventory(inventory, settings)
    if look:
        for verdict in verdicts:
            len(verdict.pools)
    spent = time.process_time() - before
    counts: dict[str, int] = {}
    for verdict in verdicts:
        counts[verdict.verdict] = counts.get(verdict.verdict, 0) + 1
    return spent, counts


def main() -> int:
    measure(1, 1, look=False)  # The catalogue is read once.
    for look in (False, True):
        once, counts = measure(500, 40, look)
        twice, _ = measure(1000, 40, look)
        what = "with the verdict of every pool" if look else "verdicts"
        print(f"500 workloads x 40 pools, {what}: {once:.2f} s ({counts}); 1000 workloads: x {twice / once:.2f}")
    ruled, counts = measure(500, 40, look=False, ruled=0.1)
    print(f"500 workloads x 40 pools, a tenth with topology rules: {ruled:.2f} s ({counts})")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"peak memory {peak / 1024:.0f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
