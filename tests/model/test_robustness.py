"""Whatever stands where a value should be: no crash, every place can be told, nothing is judged twice as different."""

from __future__ import annotations

import copy
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from unpend.model.admission import admit
from unpend.model.inventory import Inventory
from unpend.model.reading import READERS, read_objects
from unpend.settings import Settings, World
from unpend.source.document import objects_of

POD = """
metadata: {labels: {app: a}, annotations: {x: y}}
spec:
  nodeSelector: {disk: ssd}
  runtimeClassName: gvisor
  priorityClassName: high
  hostNetwork: true
  overhead: {cpu: 1}
  resources: {requests: {cpu: 1}, limits: {cpu: 2}}
  schedulingGates: [{name: g}]
  resourceClaims: [{name: r}]
  tolerations: [{key: k, operator: Exists, effect: NoExecute, tolerationSeconds: 3}]
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchExpressions: [{key: zone, operator: In, values: [a]}]
            matchFields: [{key: metadata.name, operator: In, values: [n]}]
      preferredDuringSchedulingIgnoredDuringExecution:
        - {weight: 1, preference: {matchExpressions: [{key: zone, operator: Exists}]}}
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        - {topologyKey: z, namespaces: [a], matchLabelKeys: [b], labelSelector: {matchLabels: {a: b}}}
      preferredDuringSchedulingIgnoredDuringExecution:
        - {weight: 1, podAffinityTerm: {topologyKey: z, namespaceSelector: {}}}
  topologySpreadConstraints:
    - {maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, minDomains: 2, matchLabelKeys: [x]}
  volumes: [{name: v, persistentVolumeClaim: {claimName: c}}, {name: e, ephemeral: {volumeClaimTemplate: {}}}]
  initContainers: [{name: i, image: i, restartPolicy: Always}]
  containers:
    - name: c
      image: c
      ports: [{containerPort: 80, hostPort: 80}]
      volumeMounts: [{name: v, mountPath: /v}]
      resources: {requests: {cpu: 1, a.b/c: 1, hugepages-2Mi: 2Mi}, limits: {cpu: 2, a.b/c: 1}}
"""

OTHERS = """
{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: gvisor}, overhead: {podFixed: {cpu: 1}},
 scheduling: {nodeSelector: {a: b}, tolerations: [{key: a, operator: Exists}]}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 3, globalDefault: true}
---
{apiVersion: v1, kind: LimitRange, metadata: {name: l},
 spec: {limits: [{type: Container, min: {cpu: 1}, max: {cpu: 2}, default: {cpu: 2}, maxLimitRequestRatio: {cpu: 2}},
                 {type: Pod, max: {cpu: 9}}, {type: PersistentVolumeClaim, max: {storage: 1Gi}}]}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: a, labels: {pod-security.kubernetes.io/enforce: baseline}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n, labels: {a: b}}, spec: {taints: [{key: a, effect: NoSchedule}]},
 status: {capacity: {cpu: 1}, allocatable: {cpu: 1}}}
---
{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h},
 spec: {scaleTargetRef: {kind: Deployment, name: w}, minReplicas: 1, maxReplicas: 3}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: p}, spec: {minAvailable: 50%, selector: {}}}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: s}, provisioner: x,
 allowedTopologies: [{matchLabelExpressions: [{key: z, values: [a]}]}]}
---
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n},
 spec: {drivers: [{name: d, allocatable: {count: 1}}]}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv},
 spec: {capacity: {storage: 1Gi}, claimRef: {name: c}, nodeAffinity: {required: {nodeSelectorTerms: [{}]}}}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {resources: {requests: {storage: 1Gi}}}}
"""


def _manifests() -> list[dict[str, Any]]:
    pod = yaml.safe_load(POD)
    job = {"parallelism": 1, "completions": 2, "template": pod}
    spec = {
        "replicas": 2,
        "strategy": {"rollingUpdate": {"maxSurge": "25%"}},
        "selector": {"matchLabels": {"app": "a"}, "matchExpressions": [{"key": "app", "operator": "Exists"}]},
        "volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}],
        "template": pod,
    }
    pods = [
        {"apiVersion": "v1", "kind": "Pod", **pod},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"uid": "1"}, "spec": {**pod["spec"], "nodeName": "n"}}
        | {"status": {"containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": 1}}}]}},
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "w"}, "spec": job},
        {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": {"name": "w"},
            "spec": {"jobTemplate": {"spec": job}},
        },
        {"apiVersion": "v1", "kind": "ReplicationController", "spec": {"selector": {"app": "a"}, "template": pod}},
        {"apiVersion": "example.com/v1", "kind": "Odd", "metadata": {"name": "w"}, "spec": {"list": [spec]}},
    ]
    pods += [
        {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "w"}, "spec": spec}
        for kind in ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")
    ]
    return pods + list(yaml.safe_load_all(OTHERS))


MANIFESTS = _manifests()
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.sampled_from(["", "a", "1", "-1", "1Gi", "1e999999", "true", "é", "\ud800", "a/b/c", "x" * 300, "{{ x }}"]),
    st.sampled_from([[], {}, [[]], [{}], [None], {"a": None}, {"": 1}, {"key": []}, [1, "a", {"b": 2}], {"spec": 1}]),
)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += _paths(item, (*path, key))
    return found


CHOICES = [
    (i, path) for i, data in enumerate(MANIFESTS) for path in _paths(data) if path[0] not in {"apiVersion", "kind"}
]


def _changed(choice: tuple[int, tuple[Any, ...]], junk: Any, into: list[dict[str, Any]]) -> None:
    index, path = choice
    place: Any = into[index]
    for step in path[:-1]:
        try:
            place = place[step]
        except (KeyError, IndexError, TypeError):
            return
    last = path[-1]
    if isinstance(place, dict) or (isinstance(place, list) and isinstance(last, int) and last < len(place)):
        place[last] = copy.deepcopy(junk)


def _everything_can_be_told(inventory: Inventory) -> None:
    for problem in inventory.problems:
        assert problem.message
        assert str(problem.place) or problem.place.parent is None
        assert problem.place.value is None or problem.place.path
        assert problem.semantics
    repr(inventory)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(CHOICES), JUNK), min_size=1, max_size=4), st.booleans())
def test_wrong_values_never_crash(changes: list[tuple[tuple[int, tuple[Any, ...]], Any]], closed: bool) -> None:
    data = copy.deepcopy(MANIFESTS)
    for choice, junk in changes:
        _changed(choice, junk, data)
    chosen = Settings(world=World.all_closed() if closed else World())
    inventory = read_objects(objects_of(data), chosen)
    assert inventory.object_count == len(MANIFESTS)
    _everything_can_be_told(inventory)
    for workload in inventory.workloads:
        effective = admit(workload, inventory, chosen)
        assert all(amount >= 0 for amount in effective.requests.values())
        assert effective.requests.keys() == effective.request_places.keys()
        assert all(refusal.message and refusal.semantics for refusal in effective.refusals)


TREES = st.recursive(
    JUNK,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["spec", "metadata", "template", "containers", "name", "image", "status", "labels", "x"]),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=25,
)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([*READERS, ("example.com", "Odd")]), TREES, TREES, TREES)
def test_random_trees_never_crash(kind: tuple[str, str], spec: Any, metadata: Any, status: Any) -> None:
    group, name = kind
    version = f"{group}/v1" if group else "v1"
    data = {"apiVersion": version, "kind": name, "spec": spec, "metadata": metadata, "status": status, "value": spec}
    inventory = read_objects(objects_of([data]), Settings())
    _everything_can_be_told(inventory)
    for workload in inventory.workloads:
        admit(workload, inventory, Settings())


def test_the_unchanged_manifests_are_what_they_should_be() -> None:
    inventory = read_objects(objects_of(copy.deepcopy(MANIFESTS)), Settings())
    assert len(inventory.workloads) == 9
    assert len(inventory.bound_pods) == 1
    assert inventory.others == ()
