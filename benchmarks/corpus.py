"""Generated manifests that look like what Helm renders: about 75 lines a document, deterministic.

One workload in twelve has something wrong: a pool that does not exist, a taint that is not tolerated, a request that no
node can meet.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

ZONES = ("eu-central-1a", "eu-central-1b", "eu-central-1c")


NODE_POOL = """apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  limits: {cpu: "1000"}
  template:
    metadata:
      labels: {pool: general}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [eu-central-1a, eu-central-1b, eu-central-1c]}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: example
  amiSelectorTerms: [{alias: al2023@v20260601}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: example}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: example}}]
"""


def labels(name: str, indent: int) -> str:
    pad = " " * indent
    return (
        f"{pad}app.kubernetes.io/name: {name}\n{pad}app.kubernetes.io/instance: {name}-prod\n"
        f'{pad}app.kubernetes.io/version: "1.{len(name)}.0"\n{pad}app.kubernetes.io/managed-by: Helm\n'
        f"{pad}helm.sh/chart: {name}-0.3.{len(name)}\n"
    )


def workload(rng: random.Random, number: int) -> str:
    kind = rng.choices(("Deployment", "StatefulSet", "DaemonSet"), (75, 24, 1))[0]
    name = f"svc-{number}"
    replicas = f"  replicas: {rng.randint(1, 6)}\n" if kind != "DaemonSet" else ""
    pool = rng.choices(("general", "batch", "gpuu"), (75, 20, 5))[0]
    toleration = (
        "      tolerations:\n        - key: dedicated\n          operator: Equal\n          value: batch\n"
        "          effect: NoSchedule\n"
        if rng.random() < (0.9 if pool == "batch" else 0.2)
        else ""
    )
    cpu = rng.choices(("100m", "250m", "500m", "1", "400"), (30, 30, 25, 14, 1))[0]
    return f"""apiVersion: apps/v1
kind: {kind}
metadata:
  name: {name}
  namespace: team-{number % 40}
  labels:
{labels(name, 4)}  annotations:
    meta.helm.sh/release-name: {name}
    meta.helm.sh/release-namespace: team-{number % 40}
spec:
{replicas}  selector:
    matchLabels:
      app.kubernetes.io/name: {name}
      app.kubernetes.io/instance: {name}-prod
  template:
    metadata:
      labels:
{labels(name, 8)}      annotations:
        checksum/config: {rng.getrandbits(128):032x}
    spec:
      serviceAccountName: {name}
      nodeSelector:
        kubernetes.io/os: linux
        pool: {pool}
{toleration}      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - key: topology.kubernetes.io/zone
                    operator: In
                    values: [{", ".join(rng.sample(ZONES, 2))}]
      securityContext:
        runAsNonRoot: true
        runAsUser: 10001
      containers:
        - name: app
          image: registry.example.com/team-{number % 40}/{name}:1.{number}.0
          imagePullPolicy: IfNotPresent
          ports:
            - name: http
              containerPort: 8080
              protocol: TCP
          env:
            - name: LOG_LEVEL
              value: info
            - name: DB_HOST
              value: "db-{number % 7}.data.svc"
          readinessProbe:
            httpGet:
              path: /healthz
              port: http
            periodSeconds: 10
          resources:
            requests:
              cpu: {cpu}
              memory: {rng.choice((128, 256, 512, 1024))}Mi
            limits:
              memory: 1Gi
          volumeMounts:
            - name: config
              mountPath: /etc/{name}
      volumes:
        - name: config
          configMap:
            name: {name}-config
"""


def other(rng: random.Random, number: int) -> str:
    name = f"svc-{number}"
    lines = "".join(f"    setting-{i}=value-{rng.getrandbits(32)}\n" for i in range(30))
    return rng.choice(
        (
            f"apiVersion: v1\nkind: Service\nmetadata:\n  name: {name}\n  namespace: team-{number % 40}\n  labels:\n"
            f"{labels(name, 4)}spec:\n  type: ClusterIP\n  ports:\n    - port: 80\n      targetPort: http\n"
            f"      name: http\n  selector:\n    app.kubernetes.io/name: {name}\n",
            f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}-config\n  namespace: team-{number % 40}\n"
            f"data:\n  app.properties: |\n{lines}",
        )
    )


def documents(count: int, seed: int = 7) -> Iterator[str]:
    """`count` documents, three in four of them workloads."""
    rng = random.Random(seed)
    for number in range(count):
        yield workload(rng, number) if rng.random() < 0.75 else other(rng, number)


def nodes(count: int = 1_200) -> str:
    """Node objects in three zones with room for a corpus of `count` documents, twelve at least."""
    parts = []
    for index in range(max(12, count // 100)):
        pool = ("general", "general", "batch")[index % 3]
        taint = "  taints:\n    - {key: dedicated, value: batch, effect: NoSchedule}\n" if pool == "batch" else ""
        parts.append(
            f"apiVersion: v1\nkind: Node\nmetadata:\n  name: node-{index}\n  labels:\n"
            f"    kubernetes.io/hostname: node-{index}\n    kubernetes.io/os: linux\n    pool: {pool}\n"
            f"    topology.kubernetes.io/zone: {ZONES[index // 3 % len(ZONES)]}\nspec:\n  providerID: aws:///x/{index}\n{taint}"
            'status:\n  capacity: {cpu: "192", memory: 768Gi, pods: "737"}\n'
            '  allocatable: {cpu: 191450m, memory: 740Gi, pods: "737"}\n'
        )
    return "---\n".join(parts)


def write_files(folder: Path, count: int) -> None:
    """One file a document, and the nodes in `nodes.yaml` one level up."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(documents(count)):
        (folder / f"{number:05d}.yaml").write_text(text, encoding="utf-8")
