from __future__ import annotations

from collections.abc import Callable

import pytest

from unpend.model.inventory import Inventory
from unpend.settings import Settings

Read = Callable[..., Inventory]

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  annotations: {helm.sh/hook: test}
spec:
  replicas: 3
  strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 0}}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {disk: ssd}
      tolerations: [{key: gpu, operator: Exists, effect: NoSchedule}]
      containers:
        - name: web
          image: web
          resources: {requests: {cpu: 250m, memory: 1Gi}, limits: {memory: 2Gi}}
          ports: [{containerPort: 80}]
"""


def test_a_deployment_is_read_with_places(read: Read) -> None:
    inventory = read(DEPLOYMENT)
    (workload,) = inventory.workloads
    assert inventory.problems == ()
    assert workload.id == "Deployment/shop/web"
    assert (workload.replicas, workload.hook, workload.admitted) == (3, "test", False)
    assert str(workload.replicas_place) == "spec.replicas"
    assert workload.strategy is not None
    assert workload.strategy.kind == "RollingUpdate"
    assert workload.strategy.max_surge is not None
    assert workload.strategy.max_surge.percent == 25
    assert workload.strategy.max_unavailable is not None
    assert workload.strategy.max_unavailable.number == 0
    spec = workload.template.spec
    assert workload.template_path == str(workload.template.place) == "spec.template"
    assert str(spec.node_selector[0].place) == "spec.template.spec.nodeSelector.disk"
    assert spec.node_selector[0].place.value == "ssd"
    assert str(spec.tolerations[0].place) == "spec.template.spec.tolerations[0]"
    container = spec.containers[0]
    assert container.requests["memory"].milli == 2**30 * 1000
    assert container.requests["cpu"].place.value == "250m"
    assert (container.ports[0].container_port, container.ports[0].protocol) == (80, "TCP")


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("apps/v1", "ReplicaSet"),
        ("apps/v1", "StatefulSet"),
        ("apps/v1", "DaemonSet"),
        ("apps/v1beta1", "Deployment"),
        ("extensions/v1beta1", "Deployment"),
    ],
)
def test_other_kinds_share_the_shape(read: Read, api_version: str, kind: str) -> None:
    text = DEPLOYMENT.replace("apps/v1", api_version).replace("kind: Deployment", f"kind: {kind}")
    (workload,) = read(text).workloads
    assert workload.id == f"{kind}/shop/web"
    assert workload.replicas == (None if kind == "DaemonSet" else 3)
    assert workload.template.spec.containers[0].name == "web"


def test_a_selector_may_be_absent_only_before_apps_v1(read: Read) -> None:
    without = DEPLOYMENT.replace("  selector: {matchLabels: {app: web}}\n", "")
    (problem,) = read(without).problems
    assert (problem.semantics, problem.refused, str(problem.place)) == ("scheduler:A-1545", True, "spec.selector")
    assert read(without.replace("apps/v1", "extensions/v1beta1")).problems == ()


def test_a_selector_that_misses_the_template_is_refused(read: Read) -> None:
    inventory = read(DEPLOYMENT.replace("matchLabels: {app: web}", "matchLabels: {app: api}"))
    (problem,) = inventory.problems
    assert problem.semantics == "scheduler:A-1545"
    assert 'there app is "web"' in problem.message
    assert str(problem.place) == "spec.selector.matchLabels.app"
    assert [r.semantics for r in inventory.workloads[0].refusals] == ["scheduler:A-1545"]


def test_jobs_and_cron_jobs(read: Read) -> None:
    inventory = read(
        """
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  parallelism: 4
  completions: 8
  suspend: true
  template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}
---
apiVersion: batch/v1beta1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 3 * * *"
  jobTemplate: {spec: {parallelism: 2, template: {spec: {containers: [{name: a, image: a}]}}}}
"""
    )
    job, cron = inventory.workloads
    assert (job.id, job.parallelism, job.completions, job.suspended) == ("Job/once", 4, 8, True)
    assert (cron.schedule, cron.parallelism, cron.template_path) == ("0 3 * * *", 2, "spec.jobTemplate.spec.template")
    (problem,) = inventory.problems
    assert problem.semantics == "scheduler:A-1544"
    assert "Always (its default)" in problem.message
    assert str(problem.place) == "spec.jobTemplate.spec.template.spec.restartPolicy"


def test_a_replication_controller_has_a_plain_selector(read: Read) -> None:
    text = """
apiVersion: v1
kind: ReplicationController
metadata: {name: old}
spec:
  replicas: 2
  selector: {app: old}
  template: {metadata: {labels: {app: old}}, spec: {containers: [{name: a, image: a}]}}
"""
    inventory = read(text)
    (workload,) = inventory.workloads
    assert workload.selector is not None
    assert workload.selector.expressions[0].values == ("old",)
    assert inventory.problems == ()


def test_objects_without_a_namespace_belong_to_that_of_the_settings(read: Read) -> None:
    text = DEPLOYMENT.replace("  namespace: shop\n", "")
    assert read(text).workloads[0].id == "Deployment/web"
    (workload,) = read(text, settings=Settings(namespace="prod")).workloads
    assert (workload.id, workload.template.namespace) == ("Deployment/prod/web", "prod")


def test_claim_templates_of_a_stateful_set(read: Read) -> None:
    text = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: db}}
  volumeClaimTemplates:
    - metadata: {name: data}
      spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 10Gi}}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: db, image: db, volumeMounts: [{name: data, mountPath: /d}, {name: cache, mountPath: /c}]}]
"""
    inventory = read(text)
    (workload,) = inventory.workloads
    (claim,) = workload.claim_templates
    assert (claim.name, claim.namespace, claim.storage_class) == ("data", "shop", None)
    assert claim.request is not None
    assert claim.request.milli == 10 * 2**30 * 1000
    assert workload.pod_management == "Parallel"
    (problem,) = inventory.problems
    assert (problem.semantics, problem.place.value) == ("scheduler:A-1546", "cache")


def test_what_another_object_made_is_no_workload_of_its_own(read: Read) -> None:
    owned = """
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: web-1
  namespace: shop
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, controller: true}]
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}
---
apiVersion: v1
kind: Pod
metadata:
  name: web-1-a
  namespace: shop
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, controller: true}]
spec: {containers: [{name: web, image: web}]}
"""
    assert [w.id for w in read(DEPLOYMENT, owned).workloads] == ["Deployment/shop/web"]
    assert [w.id for w in read(owned).workloads] == ["ReplicaSet/shop/web-1"]


def test_bound_finished_and_pending_pods(read: Read) -> None:
    inventory = read(
        """
apiVersion: v1
kind: Pod
metadata: {name: runs, deletionTimestamp: "2026-01-01T00:00:00Z"}
spec: {nodeName: n1, containers: [{name: a, image: a, resources: {requests: {cpu: 1}}}]}
status:
  phase: Running
  containerStatuses: [{name: a, allocatedResources: {cpu: 2}, resources: {requests: {cpu: 500m}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: done}
spec: {nodeName: n1, containers: [{name: a, image: a}]}
status: {phase: Succeeded}
---
apiVersion: v1
kind: Pod
metadata: {name: waits, uid: 1-2-3}
spec: {containers: [{name: a, image: a}], tolerations: [{operator: Equal}]}
"""
    )
    (bound,) = inventory.bound_pods
    assert (bound.name, bound.node_name, bound.terminating) == ("runs", "n1", True)
    assert bound.status_requests["a"]["cpu"].milli == 2000
    (waiting,) = inventory.workloads
    assert (waiting.id, waiting.admitted, waiting.refusals) == ("Pod/waits", True, ())
    assert [o.name for o in inventory.others] == ["done"]
    assert inventory.problems == ()
