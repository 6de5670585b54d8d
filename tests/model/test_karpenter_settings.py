from __future__ import annotations

from typing import Any

import pytest

from unpend.config.load import read_config
from unpend.model.found_settings import places_of, with_found_settings
from unpend.settings import KarpenterSettings, Settings
from unpend.source.reading import read_text

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: karpenter, namespace: kube-system}
spec:
  template:
    spec:
      containers:
      - name: controller
        image: public.ecr.aws/karpenter/controller:1.9.2@sha256:0123
        env:
        - {name: PREFERENCE_POLICY, value: Ignore}
        - {name: MIN_VALUES_POLICY, value: BestEffort}
        - {name: FEATURE_GATES, value: "NodeRepair=false,SpotToSpotConsolidation=true,StaticCapacity=True"}
        - {name: VM_MEMORY_OVERHEAD_PERCENT, value: "0.05"}
        - {name: ENABLE_ZONAL_SHIFT, value: "true"}
        - {name: IGNORE_DRA_REQUESTS, value: "false"}
        - {name: RESERVED_ENIS, value: "1"}
        - {name: INTERRUPTION_QUEUE, value: my-queue}
"""


def found(text: str, settings: Settings | None = None) -> Settings:
    reading = read_text(text, "karpenter.yaml")
    return with_found_settings(settings or Settings(), reading.objects, reading.documents)


def test_the_deployment_says_everything() -> None:
    settings = found(DEPLOYMENT)
    karpenter = settings.karpenter
    assert karpenter == KarpenterSettings(
        version="1.9",
        preference_policy="Ignore",
        min_values_policy="BestEffort",
        vm_memory_overhead_percent=0.05,
        interruption_queue=True,
        zonal_shift=True,
        ignore_dra_requests=False,
        feature_gates={"NodeRepair": False, "SpotToSpotConsolidation": True, "StaticCapacity": True},
        options={"reservedENIs": 1},
    )
    where = {one.field: (one.place.location(), one.value) for one in places_of(settings)}
    location, value = where["karpenter.preferencePolicy"]
    assert location is not None
    assert (location.span.start.line, value) == (10, "Ignore")
    assert where["karpenter.featureGates.NodeRepair"][1] is False


def test_the_config_wins_even_with_a_default() -> None:
    config = read_config(
        "clusters: {a: {karpenter: {preferencePolicy: Respect, version: '1.6', featureGates: {StaticCapacity: false}}}}"
    )
    karpenter = found(DEPLOYMENT, config.settings("a")).karpenter
    assert (karpenter.preference_policy, karpenter.version) == ("Respect", "1.6")
    assert karpenter.gate("StaticCapacity") is False
    assert karpenter.gate("SpotToSpotConsolidation") is True
    assert karpenter.min_values_policy == "BestEffort"


def test_a_caller_who_states_something_else_than_the_default_wins() -> None:
    stated = Settings(karpenter=KarpenterSettings(version="1.5"))
    assert found(DEPLOYMENT, stated).karpenter.version == "1.5"


def test_without_the_variable_no_queue_is_watched() -> None:
    assert Settings().karpenter.interruption_queue is None
    plain = DEPLOYMENT[: DEPLOYMENT.index("        env:")]
    assert found(plain).karpenter.interruption_queue is False
    elsewhere = plain + "        envFrom: [{secretRef: {name: karpenter}}]\n"
    assert found(elsewhere).karpenter.interruption_queue is None


def test_flags_and_config_maps_count_too() -> None:
    text = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: karpenter}
spec:
  template:
    spec:
      containers:
      - image: registry.example.com/mirror/karpenter/controller:v1.12.0
        args: [--preference-policy=Ignore, --min-values-policy, BestEffort]
        env:
        - {name: INTERRUPTION_QUEUE, valueFrom: {configMapKeyRef: {name: karpenter-env, key: queue}}}
        envFrom: [{configMapRef: {name: karpenter-env}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: karpenter-env}
data: {queue: "", VM_MEMORY_OVERHEAD_PERCENT: "0.1"}
"""
    karpenter = found(text).karpenter
    assert (karpenter.preference_policy, karpenter.min_values_policy) == ("Ignore", "BestEffort")
    assert (karpenter.version, karpenter.interruption_queue) == ("1.12", False)
    assert karpenter.vm_memory_overhead_percent == 0.1


VALUES = """\
settings:
  clusterName: demo
  interruptionQueue: demo
  preferencePolicy: Ignore
  vmMemoryOverheadPercent: 0.06
  featureGates: {spotToSpotConsolidation: true}
"""
IN_RELEASE = "".join(f"    {line}\n" for line in VALUES.splitlines())


@pytest.mark.parametrize(
    "text",
    [
        VALUES,
        "karpenter:\n" + "".join(f"  {line}\n" for line in VALUES.splitlines()),
        f"""\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: karpenter}}
spec:
  chart: {{spec: {{chart: karpenter, version: 1.11.0}}}}
  values:
{IN_RELEASE}""",
        f"""\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: karpenter}}
spec:
  source:
    chart: karpenter
    repoURL: public.ecr.aws/karpenter
    targetRevision: 1.11.0
    helm:
      valuesObject:
{"".join(f"        {line}{chr(10)}" for line in VALUES.splitlines())}""",
        f"""\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: karpenter}}
spec:
  sources:
  - chart: karpenter
    targetRevision: 1.11.0
    helm:
      parameters: [{{name: settings.preferencePolicy, value: Ignore}}]
      values: |
{"".join(f"        {line}{chr(10)}" for line in VALUES.splitlines())}""",
    ],
)
def test_values_of_the_chart(text: str) -> None:
    karpenter = found(text).karpenter
    assert (karpenter.preference_policy, karpenter.interruption_queue) == ("Ignore", True)
    assert karpenter.vm_memory_overhead_percent == 0.06
    assert dict(karpenter.feature_gates) == {"SpotToSpotConsolidation": True}
    assert karpenter.version == ("1.11" if "1.11.0" in text else "1.14")


@pytest.mark.parametrize(
    "text",
    [
        "settings: {theme: dark, preferencePolicy: Ignore}",
        DEPLOYMENT.replace("karpenter/controller:1.9.2", "acme/dashboard:1.9.2"),
        DEPLOYMENT.replace("value: Ignore", "value: Whatever").replace("FEATURE", "OTHER").replace("0.05", "9"),
        "kind: [Deployment]\napiVersion: v1\nmetadata: 7",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: karpenter}\nspec: {template: {spec: {containers: 3}}}",
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: karpenter}\nspec: {source: []}",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: karpenter-global-settings}\ndata: []",
    ],
)
def test_what_is_not_karpenters_or_not_legal_says_nothing(text: str) -> None:
    karpenter = found(text).karpenter
    assert karpenter.preference_policy == "Respect"
    assert karpenter.vm_memory_overhead_percent == 0.075
    assert not karpenter.feature_gates


def test_the_old_config_map() -> None:
    text = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: karpenter-global-settings, namespace: karpenter}
data: {aws.interruptionQueueName: queue, aws.vmMemoryOverheadPercent: "0.08"}
"""
    karpenter: Any = found(text).karpenter
    assert (karpenter.interruption_queue, karpenter.vm_memory_overhead_percent) == (True, 0.08)
