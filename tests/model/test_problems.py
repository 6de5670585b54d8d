"""Wrong types and illegal values: a problem at its place, and the rest of the object is read."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from unpend.model.inventory import Inventory
from unpend.model.reading import read_objects
from unpend.settings import Settings
from unpend.source.document import objects_of
from unpend.source.reading import read_text

POD_CASES: list[tuple[str, str, str]] = [
    ("nodeSelector: {spot: true}", "scheduler:A-743", "nodeSelector.spot"),
    ("nodeSelector: {spot: 'a b'}", "scheduler:A-1501", "nodeSelector.spot"),
    ("nodeSelector: {'a//b': x}", "scheduler:A-1502", "nodeSelector['a//b']"),
    ("nodeSelector: [a]", "scheduler:A-743", "nodeSelector"),
    ("hostNetwork: 'true'", "scheduler:A-743", "hostNetwork"),
    ("tolerations: [{key: a, operator: equals}]", "scheduler:A-1532", "tolerations[0].operator"),
    ("tolerations: [{key: a, operator: Exists, value: x}]", "scheduler:A-1532", "tolerations[0].value"),
    ("tolerations: [{value: x}]", "scheduler:A-1531", "tolerations[0]"),
    ("tolerations: [{key: 'a b', operator: Exists}]", "scheduler:A-1531", "tolerations[0].key"),
    ("tolerations: [{key: a, effect: NO_SCHEDULE}]", "scheduler:A-1534", "tolerations[0].effect"),
    ("tolerations: [{key: a, tolerationSeconds: 5}]", "scheduler:A-1533", "tolerations[0].tolerationSeconds"),
    ("tolerations: [{key: a, value: 1}]", "scheduler:A-743", "tolerations[0].value"),
    (
        "topologySpreadConstraints: [{topologyKey: z, whenUnsatisfiable: DoNotSchedule}]",
        "scheduler:A-1521",
        "[0].maxSkew",
    ),
    (
        "topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]",
        "scheduler:A-1521",
        "[0].topologyKey",
    ),
    (
        "topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: Never}]",
        "scheduler:A-1521",
        "Unsatisfiable",
    ),
    (
        "topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule},"
        " {maxSkew: 2, topologyKey: z, whenUnsatisfiable: DoNotSchedule}]",
        "scheduler:A-1522",
        "topologySpreadConstraints[1]",
    ),
    (
        "topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}]",
        "scheduler:A-1523",
        "minDomains",
    ),
    (
        "topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule,"
        " matchLabelKeys: [app], labelSelector: {matchLabels: {app: x}}}]",
        "scheduler:A-1517",
        "matchLabelKeys[0]",
    ),
    (
        "topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule,"
        " nodeTaintsPolicy: honor}]",
        "scheduler:A-1524",
        "nodeTaintsPolicy",
    ),
    ("containers: [{name: c, resources: {requests: {cpu: 1 Gi}}}]", "scheduler:A-741", "requests.cpu"),
    ("containers: [{name: c, resources: {requests: {cpu: [1]}}}]", "scheduler:A-743", "requests.cpu"),
    ("containers: [{name: c, resources: {requests: {cpu: -1}}}]", "scheduler:A-734", "requests.cpu"),
    ("containers: [{name: c, resources: {requests: {cpu: 2}, limits: {cpu: 1}}}]", "scheduler:A-1542", "requests.cpu"),
    ("containers: [{name: c, resources: {requests: {gpu: 1}}}]", "scheduler:A-1541", "requests.gpu"),
    (
        "containers: [{name: c, resources: {requests: {nvidia.com/gpu: 1}}}]",
        "scheduler:A-731",
        "requests['nvidia.com/gpu']",
    ),
    (
        "containers: [{name: c, resources: {limits: {nvidia.com/gpu: 0.5}}}]",
        "scheduler:A-731",
        "limits['nvidia.com/gpu']",
    ),
    (
        "containers: [{name: c, resources: {requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 2}}}]",
        "scheduler:A-731",
        "requests['nvidia.com/gpu']",
    ),
    ("containers: [{name: c, resources: {limits: {hugepages-2Mi: 4Mi}}}]", "scheduler:A-732", "hugepages-2Mi"),
    ("containers: [{name: c, resources: {limits: {cpu: 1, hugepages-2Mi: 3Mi}}}]", "scheduler:A-732", "hugepages-2Mi"),
    ("containers: [{name: c}, {name: c}]", "scheduler:A-1503", "containers[1].name"),
    ("containers: [{name: C}]", "scheduler:A-1503", "containers[0].name"),
    ("containers: []", "scheduler:A-1503", "containers"),
    ("containers: [{name: c, ports: [{containerPort: 80, hostPort: 99999}]}]", "scheduler:A-1548", "hostPort"),
    (
        "{hostNetwork: true, containers: [{name: c, ports: [{containerPort: 80, hostPort: 81}]}]}",
        "scheduler:A-205",
        "ports[0].hostPort",
    ),
    (
        "containers: [{name: c, ports: [{containerPort: 80, hostPort: 80}, {containerPort: 81, hostPort: 80}]}]",
        "scheduler:A-606",
        "ports[1]",
    ),
    ("initContainers: [{name: i, restartPolicy: always}]", "scheduler:A-1543", "restartPolicy"),
    ("resources: {requests: {ephemeral-storage: 1Gi}}", "scheduler:A-735", "ephemeral-storage"),
    (
        "{resources: {requests: {cpu: 1}}, containers: [{name: c, resources: {requests: {cpu: 2}}}]}",
        "scheduler:A-735",
        "resources.requests.cpu",
    ),
    ("restartPolicy: always", "scheduler:A-1544", "restartPolicy"),
    ("overhead: {cpu: 1}", "scheduler:A-1549", "overhead"),
    ("volumes: [{name: a}, {name: a}]", "scheduler:A-1546", "volumes[1].name"),
    (
        "containers: [{name: c, volumeMounts: [{name: gone, mountPath: /x}]}]",
        "scheduler:A-1546",
        "volumeMounts[0].name",
    ),
    ("activeDeadlineSeconds: 0", "scheduler:A-1550", "activeDeadlineSeconds"),
]

AFFINITY_CASES: list[tuple[str, str, str]] = [
    ("{required: {nodeSelectorTerms: []}}", "scheduler:A-1512", "nodeSelectorTerms"),
    (
        "{required: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: in, values: [b]}]}]}}",
        "scheduler:A-1513",
        "operator",
    ),
    ("{required: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In}]}]}}", "scheduler:A-1513", "values"),
    (
        "{required: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists, values: [b]}]}]}}",
        "scheduler:A-1513",
        "values",
    ),
    (
        "{required: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: [1]}]}]}}",
        "scheduler:A-743",
        "values[0]",
    ),
    (
        "{required: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [a, b]}]}]}}",
        "scheduler:A-1514",
        "values",
    ),
    (
        "{required: {nodeSelectorTerms: [{matchFields: [{key: spec.x, operator: In, values: [a]}]}]}}",
        "scheduler:A-1514",
        "key",
    ),
    ("{preferred: [{weight: 0, preference: {}}]}", "scheduler:A-1515", "weight"),
]

POD_AFFINITY_CASES: list[tuple[str, str, str]] = [
    ("{required: [{labelSelector: {matchLabels: {a: b}}}]}", "scheduler:A-1516", "topologyKey"),
    (
        "{required: [{topologyKey: z, labelSelector: {matchExpressions: [{key: a, operator: Gt, values: ['1']}]}}]}",
        "scheduler:A-1516",
        "operator",
    ),
    ("{required: [{topologyKey: z, matchLabelKeys: [a]}]}", "scheduler:A-1517", "matchLabelKeys"),
    (
        "{required: [{topologyKey: z, labelSelector: {}, matchLabelKeys: [a], mismatchLabelKeys: [a]}]}",
        "scheduler:A-1517",
        "mismatchLabelKeys[0]",
    ),
    ("{preferred: [{weight: 200, podAffinityTerm: {topologyKey: z}}]}", "scheduler:A-1515", "weight"),
]


def read_pod(spec: dict[str, Any]) -> Inventory:
    spec = {"containers": [{"name": "c", "image": "c"}], **spec}
    data = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    return read_objects(objects_of([data]), Settings())


def check(inventory: Inventory, semantics: str, ending: str) -> None:
    assert [(p.semantics, p.refused) for p in inventory.problems] == [(semantics, True)]
    (problem,) = inventory.problems
    assert str(problem.place).endswith(ending)
    (workload,) = inventory.workloads
    assert workload.refusals[0].message == problem.message


@pytest.mark.parametrize(("written", "semantics", "ending"), POD_CASES)
def test_an_illegal_value_is_refused_at_its_place(written: str, semantics: str, ending: str) -> None:
    check(read_pod(yaml.safe_load(written)), semantics, ending)


def _expand(written: str) -> Any:
    for word in ("required", "preferred"):
        written = written.replace(f"{word}:", f"{word}DuringSchedulingIgnoredDuringExecution:")
    return yaml.safe_load(written)


@pytest.mark.parametrize(("written", "semantics", "ending"), AFFINITY_CASES)
def test_an_illegal_node_affinity_is_refused(written: str, semantics: str, ending: str) -> None:
    check(read_pod({"affinity": {"nodeAffinity": _expand(written)}}), semantics, ending)


@pytest.mark.parametrize("field", ["podAffinity", "podAntiAffinity"])
@pytest.mark.parametrize(("written", "semantics", "ending"), POD_AFFINITY_CASES)
def test_an_illegal_pod_affinity_is_refused(written: str, semantics: str, ending: str, field: str) -> None:
    check(read_pod({"affinity": {field: _expand(written)}}), semantics, ending)


def test_the_rest_of_the_object_is_still_read() -> None:
    written = (
        "{nodeSelector: {a: 1, b: x}, tolerations: [7, {key: k, operator: Exists}], containers: [null, 5, {name: c}]}"
    )
    inventory = read_pod(yaml.safe_load(written))
    spec = inventory.workloads[0].template.spec
    assert [label.key for label in spec.node_selector] == ["b"]
    assert [t.key for t in spec.tolerations] == ["k"]
    assert [c.name for c in spec.containers] == ["", "c"]


def test_a_word_that_was_probably_meant_is_named() -> None:
    def messages(written: str) -> str:
        return " ".join(p.message for p in read_pod(yaml.safe_load(written)).problems)

    assert "did you mean NoSchedule?" in messages("tolerations: [{key: a, effect: NO_SCHEDULE}]")
    assert 'write it in quotes: "true"' in messages("nodeSelector: {spot: true}")
    assert "Gi" in messages("containers: [{name: c, resources: {requests: {memory: 1GB}}}]")


@pytest.mark.parametrize(
    ("spec", "path", "said"),
    [
        ({"toleration": []}, "spec.template.spec.toleration", "did you mean `tolerations`?"),
        ({"nodeSelectors": {}}, "spec.template.spec.nodeSelectors", "did you mean `nodeSelector`?"),
        ({"topologySpreadConstraint": []}, "spec.template.spec.topologySpreadConstraint", "topologySpreadConstraints"),
        ({"runtimeClass": "x"}, "spec.template.spec.runtimeClass", "did you mean `runtimeClassName`?"),
    ],
)
def test_misspelt_placement_fields_are_reported(spec: dict[str, Any], path: str, said: str) -> None:
    problems = read_deployment({}, spec).problems
    assert [(p.semantics, p.refused, p.part, str(p.place)) for p in problems] == [
        ("scheduler:A-1551", False, "key", path)
    ]
    assert said in problems[0].message


def read_deployment(outer: dict[str, Any], spec: dict[str, Any], template: dict[str, Any] | None = None) -> Inventory:
    pod = {"containers": [{"name": "c", "image": "c"}], **spec}
    data = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {
            "selector": {"matchLabels": {"app": "d"}},
            "template": {"metadata": {"labels": {"app": "d"}}, "spec": pod, **(template or {})},
            **outer,
        },
    }
    return read_objects(objects_of([data]), Settings())


def test_misplaced_placement_fields_are_reported() -> None:
    def told(inventory: Inventory) -> list[tuple[str, str]]:
        return [(p.semantics, str(p.place)) for p in inventory.problems]

    assert told(read_deployment({"tolerations": []}, {})) == [("scheduler:A-1551", "spec.tolerations")]
    assert told(read_deployment({}, {}, {"nodeSelector": {}})) == [("scheduler:A-1551", "spec.template.nodeSelector")]
    container = {"name": "c", "image": "c", "nodeSelector": {}}
    assert told(read_deployment({}, {"containers": [container]})) == [
        ("scheduler:A-1551", "spec.template.spec.containers[0].nodeSelector")
    ]


def test_unknown_fields_that_mean_nothing_to_placement_are_fine() -> None:
    assert read_deployment({"someNewField": 1}, {"futureField": {}}).problems == ()


def test_values_that_yaml_tools_turn_into_numbers_are_taken() -> None:
    inventory = read_deployment({"replicas": 3.0}, {"terminationGracePeriodSeconds": None, "nodeSelector": None})
    assert inventory.workloads[0].replicas == 3
    assert inventory.problems == ()


@pytest.mark.parametrize("value", ["3", True, -1, 2**40, 1.5, [], {}])
def test_a_wrong_number_of_replicas(value: Any) -> None:
    inventory = read_deployment({"replicas": value}, {})
    (problem,) = inventory.problems
    assert (str(problem.place), problem.refused) == ("spec.replicas", True)
    assert inventory.workloads[0].replicas is None


def test_a_placeholder_is_a_fact_that_is_not_given() -> None:
    inventory = read_deployment(
        {"replicas": "${REPLICAS}"},
        {
            "nodeSelector": {"zone": "{{ zone }}", "$KEY": "x"},
            "containers": [{"name": "c", "image": "c", "resources": {"requests": {"cpu": "$(CPU)"}}}],
        },
    )
    assert {(p.severity, p.refused) for p in inventory.problems} == {("info", False)}
    (workload,) = inventory.workloads
    assert workload.refusals == ()
    assert len(workload.unknown) == 4


@pytest.mark.parametrize("word", ["on", "off", "y", "No", "YES"])
def test_a_bare_word_that_counts_as_a_boolean_is_quoted_as_it_is_written(word: str) -> None:
    text = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec: {{nodeSelector: {{spot: {word}}}}}\n"
    reading = read_text(text, "a.yaml")
    found = [p.message for p in read_objects(reading.objects, Settings()).problems if str(p.place).endswith("spot")]
    value = "true" if word.lower() in ("on", "y", "yes") else "false"
    assert found == [f'`spot` must be text, but a bare {word} counts as {value} in YAML; write it in quotes: "{word}"']


@pytest.mark.parametrize(("value", "beyond"), [("1e999999999", True), ("1e3", False), ("a lot", False)])
def test_a_number_beyond_those_of_yaml_is_text(value: str, beyond: bool) -> None:
    (problem,) = read_deployment({}, {"terminationGracePeriodSeconds": value}).problems
    assert ("beyond the numbers that YAML has" in problem.message) is beyond
