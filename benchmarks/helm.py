"""`unpend check CHART --helm`: a chart of 50 templates with five sets of values against the same with one set.

    python -m benchmarks.helm

Prints what the whole command costs, the least of several runs, and the ratio, which must be below 2 by the clock: helm
works on the next set while this one is checked. Every template changes with every set. Needs the `helm` on the PATH.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

TEMPLATES = 50
SETS = 5
ROUNDS = 5

_TEMPLATE = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-NUMBER
  labels: {app: app-NUMBER}
spec:
  replicas: {{ .Values.replicas }}
  selector:
    matchLabels: {app: app-NUMBER}
  template:
    metadata:
      labels: {app: app-NUMBER}
    spec:
      nodeSelector:
        kubernetes.io/arch: amd64
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels: {app: app-NUMBER}
      containers:
        - name: main
          image: example.com/app:{{ .Values.tag }}
          ports:
            - containerPort: 8080
          resources:
            requests: {cpu: {{ .Values.cpu }}, memory: 256Mi}
            limits: {memory: 256Mi}
"""
_POOLS = """\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  limits: {cpu: 1000}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1b]}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  amiSelectorTerms: [{alias: al2023@latest}]
  role: node
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: example}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: example}}]
"""


def write(folder: Path) -> None:
    """A chart with as many templates and sets of values as are measured, and a NodePool for it."""
    chart = folder / "chart"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: many\nversion: 0.1.0\n", encoding="utf-8")
    (chart / "values.yaml").write_text("replicas: 2\ntag: one\ncpu: 100m\n", encoding="utf-8")
    for number in range(TEMPLATES):
        text = _TEMPLATE.replace("NUMBER", str(number))
        (chart / "templates" / f"app-{number}.yaml").write_text(text, encoding="utf-8")
    for number in range(SETS):
        (folder / f"set-{number}.yaml").write_text(
            f"replicas: 2\ntag: v{number}\ncpu: {100 + number}m\n", encoding="utf-8"
        )
    (folder / "pools.yaml").write_text(_POOLS, encoding="utf-8")


class Cost(NamedTuple):
    """Seconds of one command: of the clock, and of all processors, with those of helm."""

    wall: float
    processor: float


def cost(folder: Path, sets: int) -> Cost:
    """What one command costs."""
    command = [sys.executable, "-m", "unpend", "check", "chart", "--helm", "--pools", "pools.yaml", "--isolated", "-q"]
    for number in range(sets):
        command += ["--values-set", f"set-{number}=set-{number}.yaml"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=dict(os.environ))
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise SystemExit(f"exit code {done.returncode}: {done.stderr}")
    return Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def costs(rounds: int = ROUNDS) -> tuple[Cost, Cost]:
    """The least cost with one set, and with all of them, measured in turns."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder)
        cost(folder, 1)
        one, many = [], []
        for _ in range(rounds):
            one.append(cost(folder, 1))
            many.append(cost(folder, SETS))
    return _least(one), _least(many)


def _least(measured: Sequence[Cost]) -> Cost:
    return Cost(min(c.wall for c in measured), min(c.processor for c in measured))


def main() -> int:
    """Measure and print; 1 when it takes too long by the clock (the machine should have nothing else to do)."""
    if shutil.which("helm") is None:
        print("helm is not on the PATH", file=sys.stderr)
        return 2
    one, many = costs()
    print(f"{TEMPLATES} templates, {SETS} sets of values against 1:")
    for name, before, after in (("clock", one.wall, many.wall), ("processors", one.processor, many.processor)):
        print(f"  {name:10} {before:.2f} s, {after:.2f} s: {after / before:.2f} times as much")
    return 0 if many.wall < 2 * one.wall else 1


if __name__ == "__main__":
    sys.exit(main())
