"""Reading must leave time for the rules: measured against PyYAML's fastest loader in the same process."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from statistics import median

import pytest
import yaml

from unpend.source.reading import read_text
from unpend.source.syntax import HAS_LIBYAML

DOCUMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web-{0}
  namespace: shop
  labels: {{app: web, tier: front}}
spec:
  replicas: 3
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
      annotations:
        prometheus.io/scrape: "true"
    spec:
      priorityClassName: high
      nodeSelector:
        kubernetes.io/arch: arm64
      tolerations:
      - key: dedicated
        operator: Equal
        value: web
        effect: NoSchedule
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: DoNotSchedule
          labelSelector:
            matchLabels: {{app: web}}
      containers:
        - name: web
          image: "registry.example/web:1.{0}.0"
          args: ["--port=8080", "--verbose"]
          ports:
            - containerPort: 8080
              protocol: TCP
          env:
            - name: MODE
              value: "production"
          resources:
            requests:
              cpu: {0}m
              memory: 512Mi
            limits:
              memory: 1Gi
          readinessProbe:
            httpGet: {{path: /healthz, port: 8080}}
"""


@pytest.fixture
def _no_collection() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


@pytest.mark.slow
@pytest.mark.skipif(not HAS_LIBYAML, reason="PyYAML was built without libyaml")
@pytest.mark.usefixtures("_no_collection")
def test_reading_is_faster_than_the_loader_of_pyyaml() -> None:
    stream = "---\n".join(DOCUMENT.format(number) for number in range(2_000)).encode()
    ratios = []
    for _ in range(5):
        loader = seconds(lambda: list(yaml.load_all(stream, yaml.CSafeLoader)))
        ratios.append(loader / seconds(lambda: read_text(stream, "s.yaml")))
    print(f"read_text is {median(ratios):.2f} times as fast as CSafeLoader")
    assert median(ratios) >= 1.8
