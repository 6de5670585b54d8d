from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from unpend_schemas import load_json

POOLS = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  weight: 10
  limits: {cpu: "100"}
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 1m
    budgets:
    - nodes: 10%
    - {nodes: "0", schedule: "0 9 * * mon-fri", duration: 8h}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
      - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m6i, c6i]}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: compute}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      - {key: karpenter.k8s.aws/instance-family, operator: In, values: [c6i]}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: broken}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      taints: [{key: dedicated, value: batch, effect: NoSchedule}]
      requirements:
      - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m7g]}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: default
  managedFields: [{manager: kubectl}]
  annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}", "y": "yes"}
spec:
  amiSelectorTerms: [{alias: al2023@v20260101}]
  role: node
  subnetSelectorTerms: [{tags: {a: b}}]
  securityGroupSelectorTerms: [{tags: {a: b}}]
status:
  subnets:
  - {id: subnet-1, zone: us-east-1a, zoneID: use1-az1}
  - {id: subnet-2, zone: us-east-1b, zoneID: use1-az2}
"""
AGENT = """\
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
      - name: agent
        image: example.com/agent:1
        env: [{name: PASSWORD, value: hunter2}]
        resources: {requests: {cpu: 100m, memory: 64Mi}}
"""


@pytest.fixture
def pools(project: Path) -> Path:
    (project / "nodes.yaml").unlink()
    (project / "infra").mkdir()
    (project / "infra" / "pools.yaml").write_text(POOLS, encoding="utf-8")
    (project / "infra" / "agent.yaml").write_text(AGENT, encoding="utf-8")
    return project


def test_the_text_says_what_every_pool_is(unpend: Any, pools: Path) -> None:
    done = unpend("pools", "--complete", "app.yaml", "infra/pools.yaml")
    assert (done.code, done.err) == (0, "")
    assert all(len(line) <= 100 for line in done.out.splitlines())
    assert "3 pools (2 can have nodes, 1 cannot); there is no other capacity" in done.out
    general, compute, broken = done.out.split("\nNodePool/")[1:]
    assert "at infra/pools.yaml:1:1" in general
    assert "number 1, weight 10" in general
    assert "16 types, 32 pairs of type and zone" in general
    assert "c6i.large: " in general
    assert "$0.085 an hour" in general
    assert "limits         cpu 100" in general
    assert "takes Deployment/shop/web" in general
    assert "NodePool/compute, 8 types in common; this pool is tried before it, by weight" in general
    assert "none may go: Mon 09:00 to Mon 17:00" in general
    assert "this pool is tried after it, by weight" in compute
    assert "filtered out all available instance types" in " ".join(broken.split())
    assert "dedicated=batch:NoSchedule" in broken


def test_a_narrow_terminal_gets_a_narrower_table(unpend: Any, pools: Path) -> None:
    done = unpend("pools", COLUMNS="80")
    assert all(len(line) <= 80 for line in done.out.splitlines())
    assert "there may be others" in " ".join(done.out.split())


def test_colours_do_not_change_the_text(unpend: Any, pools: Path) -> None:
    import re

    plain, coloured = unpend("pools"), unpend("pools", "--color", "always")
    assert "\x1b[" in coloured.out
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured.out) == plain.out


def test_json_follows_its_schema(unpend: Any, pools: Path) -> None:
    done = unpend("pools", "--output", "json")
    data = json.loads(done.out)
    jsonschema.validate(data, load_json("pools.schema.json"))
    general = data["pools"][0]
    assert (general["pool"], general["order"], general["weight"]) == ("NodePool/general", 1, 10)
    assert general["zones"] == ["us-east-1a", "us-east-1b"]
    assert general["overlaps"] == [
        {"pool": "NodePool/compute", "triedFirst": "NodePool/general", "weighted": True, "types": 8}
    ]
    assert [slot["frozen"] for slot in general["budgets"]["Drifted"]][:3] == [False, True, False]
    assert data["clusters"] == [{"name": None, "complete": False, "workloads": 2, "settings": []}]
    broken = next(pool for pool in data["pools"] if pool["pool"] == "NodePool/broken")
    assert (broken["usable"], broken["types"], broken["workloads"]) == ("no", 0, [])


def test_nodes_are_pools_and_many_of_them_are_one(unpend: Any, project: Path) -> None:
    done = unpend("pools", "--output", "json")
    assert [pool["pool"] for pool in json.loads(done.out)["pools"]] == ["Node/gpu-1"]
    many = "---\n".join((project / "nodes.yaml").read_text().replace("gpu-1", f"n{i}") for i in range(30))
    (project / "nodes.yaml").write_text(many, encoding="utf-8")
    done = unpend("pools", "--output", "json")
    data = json.loads(done.out)
    jsonschema.validate(data, load_json("pools.schema.json"))
    assert [(pool["pool"], pool["size"]["minimum"]) for pool in data["pools"]] == [("Nodes", 30)]


def test_exit_codes(unpend: Any, project: Path) -> None:
    assert unpend("pools").code == 0
    assert unpend("pools", "no-such-file.yaml").code == 2
    assert unpend("pools", "--isolated", "--config", "x").code == 2
    (project / "empty").mkdir()
    done = unpend("pools", "empty")
    assert (done.code, done.err) == (3, "unpend: no Kubernetes object was met\n")


def _verdicts(done: Any) -> dict[str, Any]:
    data = json.loads(done.out)
    return {
        w["workload"]: (
            w["verdict"],
            w["cause"],
            w["replicas"],
            w["zones"],
            [(p["pool"], p["verdict"], p["types"]) for p in w["pools"]],
        )
        for w in data["workloads"]
    }


def test_a_snapshot_gives_the_same_verdicts(unpend: Any, pools: Path) -> None:
    done = unpend("pools", "--complete", "infra", "--export", "snapshot.yaml", "--today", "2026-05-01")
    assert (done.code, done.err) == (0, "unpend: wrote snapshot.yaml\n")
    text = (pools / "snapshot.yaml").read_text(encoding="utf-8")
    assert "hunter2" not in text
    assert "managedFields" not in text
    head, *objects = yaml.safe_load_all(text)
    assert (head["kind"], head["spec"]["exportedOn"]) == ("Snapshot", "2026-05-01")
    assert head["spec"]["sources"] == ["infra/agent.yaml", "infra/pools.yaml"]
    assert [item["kind"] for item in objects] == ["DaemonSet", "NodePool", "NodePool", "NodePool", "EC2NodeClass"]
    assert objects[-1]["metadata"]["annotations"] == {"y": "yes"}
    original = unpend("explain", "app.yaml", "infra", "-o", "json")
    again = unpend("explain", "app.yaml", "--pools", "snapshot.yaml", "-o", "json")
    assert _verdicts(original) == _verdicts(again)
    # What it holds is told where it was exported: here only the workloads are checked.
    findings = json.loads(unpend("check", "app.yaml", "--pools", "snapshot.yaml", "-o", "json").out)["findings"]
    assert {f["location"]["uri"] for f in findings} <= {"app.yaml"}


def test_a_snapshot_is_the_same_whenever_it_is_written_but_for_its_date(unpend: Any, pools: Path) -> None:
    one = unpend("pools", "infra", "--export", "-", "--today", "2026-05-01").out
    other = unpend("pools", "infra", "--export", "-", "--today", "2026-05-02").out
    assert one.replace("2026-05-01", "2026-05-02") == other
    assert one != other


def test_the_settings_of_a_cluster_travel_with_its_snapshot(unpend: Any, pools: Path) -> None:
    infra = POOLS[: POOLS.index("status:")]
    (pools / "infra" / "pools.yaml").write_text(infra, encoding="utf-8")
    entry: dict[str, Any] = {
        "pools": ["infra/*.yaml"],
        "region": "eu-west-1",
        "zones": ["eu-west-1a"],
        "zoneIds": {"eu-west-1a": "euw1-az1"},
        "kubernetes": "1.33",
        "karpenter": {"version": "1.9", "preferencePolicy": "Ignore", "featureGates": {"StaticCapacity": True}},
        "world": {"daemonsets": "closed"},
    }
    (pools / ".unpend.yaml").write_text(yaml.safe_dump({"clusters": {"prod": entry}}), encoding="utf-8")
    assert unpend("pools", "infra", "--export", "apps-snapshot.yaml").code == 0
    original = unpend("explain", "app.yaml", "-o", "json")
    (pools / ".unpend.yaml").write_text("clusters: {prod: {pools: [apps-snapshot.yaml]}}\n", encoding="utf-8")
    again = unpend("explain", "app.yaml", "-o", "json")
    assert _verdicts(original) == _verdicts(again)
    head = next(yaml.safe_load_all((pools / "apps-snapshot.yaml").read_text(encoding="utf-8")))
    settings = head["spec"]["settings"]
    assert (settings["region"], settings["kubernetes"]) == ("eu-west-1", "1.33")
    assert settings["karpenter"]["featureGates"] == {"StaticCapacity": True}
    assert settings["world"] == {"daemonsets": "closed"}


def test_no_snapshot_of_half_a_cluster(unpend: Any, pools: Path) -> None:
    (pools / "infra" / "more.yaml").write_text("apiVersion: v1\nkind: Node\nmetadata: {name: [\n", encoding="utf-8")
    done = unpend("pools", "infra", "--export", "snapshot.yaml")
    assert done.code == 2
    assert "is not written" in done.err
    assert not (pools / "snapshot.yaml").exists()
    (pools / "infra" / "more.yaml").unlink()
    assert unpend("pools", "app.yaml", "--export", "snapshot.yaml").code == 2


def test_a_snapshot_is_of_one_cluster(unpend: Any, pools: Path) -> None:
    config = "clusters: {prod: {pools: [infra/*.yaml]}, test: {pools: [infra/pools.yaml]}}\n"
    (pools / ".unpend.yaml").write_text(config, encoding="utf-8")
    done = unpend("pools", "--export", "snapshot.yaml")
    assert done.code == 2
    assert "--cluster (prod, test)" in done.err
    assert unpend("pools", "--export", "snapshot.yaml", "--cluster", "test").code == 0


def test_settings_of_karpenter_are_shown_where_they_were_found(unpend: Any, pools: Path) -> None:
    deployment = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: karpenter, namespace: kube-system}
spec:
  template:
    spec:
      containers:
      - name: controller
        image: public.ecr.aws/karpenter/controller:1.9.2
        env:
        - {name: PREFERENCE_POLICY, value: Ignore}
"""
    (pools / "infra" / "karpenter.yaml").write_text(deployment, encoding="utf-8")
    done = unpend("pools")
    assert "preferencePolicy: Ignore  (infra/karpenter.yaml:11)" in done.out
    assert "version: 1.9  (infra/karpenter.yaml:9)" in done.out
    data = json.loads(unpend("pools", "-o", "json").out)
    jsonschema.validate(data, load_json("pools.schema.json"))
    assert {s["name"]: s["value"] for s in data["clusters"][0]["settings"]} == {
        "karpenter.preferencePolicy": "Ignore",
        "karpenter.version": "1.9",
        "karpenter.interruptionQueue": False,
    }
