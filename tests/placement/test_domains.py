"""Domains of topology keys, who waits for whom, spot capacity: what the rules about whole workloads stand on."""

from __future__ import annotations

from typing import Any

import yaml

from unpend.model.inventory import Workload
from unpend.model.reading import read_objects
from unpend.placement.domains import shown, topology_of
from unpend.placement.peers import peers_of
from unpend.placement.spot import spot_choices
from unpend.rule import Facts
from unpend.settings import Settings, World
from unpend.source.document import objects_of

ZONE = "topology.kubernetes.io/zone"

CLASS = """
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260101}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
"""


def node(name: str, zone: str, *taints: str, **labels: str) -> str:
    listed = ", ".join(f"{{key: {taint}, effect: NoSchedule}}" for taint in taints)
    more = "".join(f", {key}: {value}" for key, value in labels.items())
    return f"""
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}, {ZONE}: {zone}{more}}}}}
spec: {{taints: [{listed}]}}
status: {{allocatable: {{cpu: "4", memory: 16Gi, pods: "58"}}}}
"""


def pool(name: str, *requirements: str, taint: str = "") -> str:
    lines = "".join(f"\n        - {{{one}}}" for one in requirements)
    taints = f"\n      taints: [{{key: {taint}, effect: NoSchedule}}]" if taint else ""
    return f"""
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  template:
    spec:
      nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}{taints}
      requirements:{lines}
"""


def within(key: str, *values: str) -> str:
    return f"key: {key}, operator: In, values: [{', '.join(values)}]"


def deployment(name: str, spec: str = "", replicas: int = 1) -> str:
    return f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      {spec or "restartPolicy: Always"}
      containers: [{{name: web, image: web:1, resources: {{requests: {{cpu: 100m}}}}}}]
"""


def affinity(*apps: str) -> str:
    selector = f"{{matchExpressions: [{{key: app, operator: In, values: [{', '.join(apps)}]}}]}}"
    term = f"{{topologyKey: {ZONE}, labelSelector: {selector}}}"
    return f"affinity: {{podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{term}]}}}}"


def facts_of(*texts: str) -> Facts:
    objects: list[dict[str, Any]] = [yaml.safe_load(text) for text in texts]
    settings = Settings(world=World.all_closed())
    return Facts(read_objects(objects_of(objects), settings), settings)


def workload(facts: Facts, name: str) -> Workload:
    return next(w for w in facts.inventory.workloads if w.name == name)


def test_zones_of_nodes_and_what_stays_empty() -> None:
    facts = facts_of(node("n1", "a"), node("n2", "b"), node("n3", "c", "gpu"), deployment("web"))
    web = workload(facts, "web")
    found = topology_of(facts).of(web, ZONE)
    assert (found.reachable, found.exact) == (("a", "b"), True)
    assert [(d.value, d.pool) for d in found.dead] == [("c", "Node/n3")]
    assert topology_of(facts).of(web, ZONE, taints="Honor").dead == ()


def test_nodes_that_the_pod_does_not_select_count_only_when_ignored() -> None:
    facts = facts_of(node("n1", "a", team="x"), node("n2", "b"), deployment("web", "nodeSelector: {team: x}"))
    web = workload(facts, "web")
    assert topology_of(facts).of(web, ZONE).dead == ()
    assert [d.value for d in topology_of(facts).of(web, ZONE, affinity="Ignore").dead] == ["b"]


def test_a_key_that_is_missing() -> None:
    facts = facts_of(node("n1", "a"), deployment("web"))
    found = topology_of(facts).of(workload(facts, "web"), "rack")
    assert (found.reachable, found.exact) == ((), True)
    assert [pool.pool for pool in found.lacking] == ["Node/n1"]


def test_hostnames_of_pools_that_grow_are_not_all_known() -> None:
    facts = facts_of(CLASS, pool("general", within("kubernetes.io/arch", "amd64")), deployment("web"))
    topology = topology_of(facts)
    assert not topology.of(workload(facts, "web"), "kubernetes.io/hostname").exact
    assert not topology.of(workload(facts, "web"), ZONE).exact


def test_karpenter_counts_zones_of_other_pools() -> None:
    facts = facts_of(
        CLASS,
        pool("general", within(ZONE, "us-east-1a", "us-east-1b")),
        pool("gpu", within(ZONE, "us-east-1c"), taint="gpu"),
        deployment("web"),
    )
    topology, web = topology_of(facts), workload(facts, "web")
    assert [(d.value, d.pool) for d in topology.beyond(web, ZONE, False)] == [("us-east-1c", "NodePool/gpu")]
    assert topology.beyond(web, ZONE, True) == ()


def test_many_nodes_are_known_by_zone_alone() -> None:
    facts = facts_of(*(node(f"n{i}", "ab"[i % 2], rack="r1") for i in range(30)), deployment("web"))
    topology, web = topology_of(facts), workload(facts, "web")
    assert topology.of(web, ZONE).reachable == ("a", "b")
    assert not topology.of(web, "rack").exact


def test_names_in_messages() -> None:
    assert [shown("abcdef"[:n]) for n in range(6)] == [
        "",
        "a",
        "a and b",
        "a, b and c",
        "a, b and 2 more",
        "a, b and 3 more",
    ]


def test_who_waits_for_whom() -> None:
    facts = facts_of(
        node("n1", "a"),
        deployment("left", affinity("right")),
        deployment("right", affinity("left")),
        deployment("after", affinity("left")),
        deployment("flock", affinity("flock")),
        deployment("fine", affinity("left", "flock")),
        deployment("lost", affinity("nobody")),
        deployment("off", affinity("off"), replicas=0),
        deployment("of-off", affinity("off")),
    )
    peers = peers_of(facts)
    assert [[wish.workload.name for wish in group] for group in peers.stuck] == [["left", "right"], ["after"]]
    assert [wish.workload.name for wish in peers.missing] == ["lost", "of-off"]


def test_spot_choice() -> None:
    spot = within("karpenter.sh/capacity-type", "spot")
    facts = facts_of(
        CLASS,
        pool("spot", spot, within("karpenter.k8s.aws/instance-family", "m5"), within(ZONE, "us-east-1a")),
        pool("od", within("karpenter.sh/capacity-type", "on-demand"), taint="od"),
        deployment("web"),
        deployment("both", "tolerations: [{key: od, operator: Exists}]"),
        deployment("meant", "nodeSelector: {karpenter.sh/capacity-type: spot}"),
        deployment("other", "{nodeSelector: {karpenter.sh/capacity-type: on-demand}}"[1:-1]),
    )
    found = {choice.workload.name: choice for choice in spot_choices(facts)}
    assert sorted(found) == ["both", "meant", "web"]
    assert found["web"].families == {"m5"}
    assert found["web"].pools == ("NodePool/spot",)
    assert 0 < len(found["web"].types) == found["web"].wide < 15
    assert [found[name].on_demand for name in ("web", "both", "meant")] == [False, True, False]
    assert found["web"].chosen is None
    assert found["meant"].chosen is not None
