"""A workload that scales to zero makes its first caller wait for a whole start.

## What it checks

ScaledObjects that go down to zero (`minReplicaCount` 0 or not written, or `idleReplicaCount: 0`), where a start typically takes at least
`seconds`. Triggers that read a queue or a clock (Kafka, SQS, RabbitMQ, cron …) are left alone: nobody waits at the other end.

## Why it matters

The first request after a quiet time waits until KEDA polls its trigger (30 s by default), and then for the pod: seconds on a warm node, a
minute or more where a node has to be made.

## Example

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260101}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - {name: web, image: "example.com/web:1", resources: {requests: {cpu: "1", memory: 1Gi}}}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {name: web}
  minReplicaCount: 0
  maxReplicaCount: 10
  triggers:
    - {type: prometheus, metadata: {serverAddress: "http://prometheus:9090", query: rate, threshold: "10"}}
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
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260101}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - {name: web, image: "example.com/web:1", resources: {requests: {cpu: "1", memory: 1Gi}}}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {name: web}
  minReplicaCount: 1
  maxReplicaCount: 10
  triggers:
    - {type: prometheus, metadata: {serverAddress: "http://prometheus:9090", query: rate, threshold: "10"}}
```

## Options

- `seconds` (30): the least typical start that is reported.

## References

- [KEDA: scaling deployments](https://keda.sh/docs/latest/concepts/scaling-deployments/)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Option, Related, Rule
from unpend.source.place import Place
from unpend.startup.analysis import starts_in
from unpend.startup.stages import PATH_TITLES, shown_range

_ASYNCHRONOUS = (
    "activemq", "apache-kafka", "artemis-queue", "aws-dynamodb-streams", "aws-kinesis-stream", "aws-sqs-queue", "azure-blob",
    "azure-eventhub", "azure-pipelines", "azure-queue", "azure-servicebus", "beanstalkd", "cron", "gcp-pubsub", "gcp-storage",
    "gcp-cloudtasks", "github-runner", "huawei-cloudeye", "ibmmq", "kafka", "liiklus", "mongodb", "mssql", "mysql", "nats-jetstream",
    "openstack-swift", "postgresql", "pulsar", "rabbitmq", "redis", "redis-cluster", "redis-sentinel", "redis-streams",
    "redis-cluster-streams", "redis-sentinel-streams", "solace-event-queue", "stan",
)  # fmt: skip
"""Triggers behind which no caller waits."""


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each ScaledObject, where it says how low it goes."""
    workloads = {(w.kind, w.namespace, w.name): w for w in facts.inventory.workloads}
    for scaler in facts.inventory.autoscalers:
        if scaler.kind != "ScaledObject":
            continue
        spec = scaler.place.at("spec")
        place = _zero(spec)
        workload = workloads.get((scaler.target_kind, scaler.namespace, scaler.target_name))
        if place is None or workload is None or _asynchronous(spec.value):
            continue
        start = starts_in(facts).of(workload)
        slowest = start.slowest
        if slowest is None or slowest.longest.total.typical < options["seconds"]:
            continue
        path = slowest.longest
        yield Finding(
            place,
            f"{workload.id} goes down to zero, and a start takes {shown_range(path.total)} ({PATH_TITLES[path.kind]}, {slowest.pool}): "
            "the first caller waits that long.",
            related=(Related("what is started", workload.template.spec.place),),
            certainty="heuristic",
            workload=workload.id,
            repair="keep one replica, or room on a node for it",
        )


def _zero(spec: Place) -> Place | None:
    """Where it says that it goes down to zero, None when it does not."""
    data = spec.value
    if not isinstance(data, Mapping):
        return None
    if data.get("idleReplicaCount") == 0:
        return spec.at("idleReplicaCount")
    least = data.get("minReplicaCount", 0)
    if least is None or (isinstance(least, int) and least == 0):
        return spec.at("minReplicaCount") if "minReplicaCount" in data else spec
    return None


def _asynchronous(spec: Any) -> bool:
    triggers = spec.get("triggers")
    kinds = [t.get("type") for t in triggers if isinstance(t, Mapping)] if isinstance(triggers, list) else []
    return not kinds or any(kind in _ASYNCHRONOUS for kind in kinds)


RULE = Rule(
    name="keda-scale-to-zero-cold-start",
    topic="cold-start",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("autoscalers", "workloads", "pools"),
    options=(Option("seconds", 30, "the least typical start that is reported", 0),),
    enabled=False,
    profiles=("strict",),
)
