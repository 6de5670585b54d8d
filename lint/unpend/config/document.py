"""The shape of `.unpend.yaml`: every key with its type, and the JSON Schema that follows from it."""

from __future__ import annotations

from typing import Any

from unpend.algebra.duration import PATTERN as DURATION
from unpend.config.shape import Anything, Flag, ListOf, MapOf, Number, Record, Text

PROFILES = ("default", "strict", "cost", "reliability")
FAIL_ON = ("error", "warning", "info", "none")
SEVERITIES = ("error", "warning", "info")

_OPENNESS = Text(("open", "closed"))
_DATE = r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$"
_VERSION = r"^\d+\.\d+(\.\d+)?$"

WORLD = Record(
    dict.fromkeys(("pools", "nodes", "workloads", "daemonsets", "pdbs", "namespaces", "classes", "claims"), _OPENNESS),
    doc="Which kinds of objects are complete: what is not among the files does not exist.",
)

KARPENTER = Record(
    {
        "version": Text(pattern=_VERSION, example="1.14"),
        "preferencePolicy": Text(("Respect", "Ignore")),
        "minValuesPolicy": Text(("Strict", "BestEffort")),
        "vmMemoryOverheadPercent": Number(whole=False, minimum=0, maximum=1),
        "interruptionQueue": Flag(doc="Whether interruption warnings reach the controller."),
        "zonalShift": Flag(),
        "ignoreDRARequests": Flag(),
        "featureGates": MapOf(Flag()),
    },
    doc="What the Karpenter controller of this cluster was started with.",
)

CLUSTER_AUTOSCALER = Record(
    {
        "skipNodesWithLocalStorage": Flag(),
        "skipNodesWithSystemPods": Flag(),
        "expendablePodsPriorityCutoff": Number(),
        "maxGracefulTerminationSec": Number(minimum=0),
        "startupTaints": ListOf(Text(), doc="Taint keys that it leaves out of the nodes that it imagines."),
        "balanceSimilarNodeGroups": Flag(),
    },
    doc="Flags of Cluster Autoscaler that change a verdict.",
)

TOLERATION = Record(
    {
        "key": Text(),
        "operator": Text(("Equal", "Exists")),
        "value": Text(),
        "effect": Text(("NoSchedule", "PreferNoSchedule", "NoExecute")),
    },
    doc="A toleration that admission or an add-on gives to every pod.",
)

CLUSTER = Record(
    {
        "pools": ListOf(Text(), single=True, doc="Files that describe the capacity, or an exported snapshot; closed."),
        "workloads": ListOf(Text(), single=True, doc="Which files belong to this cluster; all when not given."),
        "world": WORLD,
        "region": Text(),
        "zones": ListOf(Text()),
        "zoneIds": MapOf(Text(), doc="Zone names of this account and the zone IDs that they stand for."),
        "nodeClasses": MapOf(Record({"zones": ListOf(Text())}), doc="What is known of a node class by its name."),
        "kubernetes": Text(pattern=_VERSION, example="1.34"),
        "karpenter": KARPENTER,
        "clusterAutoscaler": CLUSTER_AUTOSCALER,
        "nodeGroups": Record({"autoscaler": Text(("cluster-autoscaler", "karpenter", "none"))}),
        "catalog": ListOf(Text(), doc="Names of built-in catalogues, or files of the published catalogue schema."),
        "injectedTolerations": ListOf(TOLERATION),
        "knownLabels": ListOf(Text(), doc="Node label keys set by add-ons; `*` is allowed, as in `example.com/*`."),
    },
    doc="One cluster: its capacity, its files and what is known of it.",
)

IGNORE = Record(
    {
        "path": ListOf(Text(), single=True, doc="Path patterns, relative to the config file."),
        "rules": ListOf(Text(), single=True, doc="Rules or `topic/*`; all when not given."),
        "objects": ListOf(Text(), single=True, doc="Patterns of `Kind/namespace/name`."),
        "reason": Text(),
        "until": Text(pattern=_DATE, example="2027-01-31"),
    },
    doc="Findings that do not count.",
)

VALUE_SET = Record(
    {
        "values": ListOf(Text(), single=True, doc="Files of values, relative to the config file."),
        "set": ListOf(Text(), single=True, doc="Single values, as `image.tag=v1`."),
        "clusters": ListOf(Text(), single=True, doc="The clusters that are installed so; all when not given."),
    },
    doc="One way in which a chart is installed.",
)

CHART = Record(
    {
        "path": Text(doc="The folder of the chart, relative to the config file."),
        "release": Text(doc="Name of the release; that of the chart when not given."),
        "namespace": Text(doc="The namespace that it is installed into."),
        "values": ListOf(Text(), single=True, doc="Files of values for every set, relative to the config file."),
        "set": ListOf(Text(), single=True, doc="Single values for every set, as `image.tag=v1`."),
        "sets": MapOf(VALUE_SET, doc="Sets of values by name; a finding that not all of them share names them."),
    },
    doc="A Helm chart that `unpend check --helm` renders.",
)

# Options are checked against the rules later (engine); here only that they can be options at all.
_RULE_SCHEMA = {
    "type": ["object", "null"],
    "properties": {"severity": {"type": ["string", "boolean"], "enum": [*SEVERITIES, "off", False]}},
    "additionalProperties": {"type": ["string", "number", "boolean", "array"]},
}

ROOT = Record(
    {
        "clusters": MapOf(CLUSTER, doc="Clusters by name. With one entry, it is used without `--cluster`."),
        "rules": MapOf(Anything(_RULE_SCHEMA), doc="Severity and options by rule; `topic/*` for severities."),
        "ignore": ListOf(IGNORE),
        "charts": ListOf(CHART, doc="Helm charts and the sets of values to check them with."),
        "exclude": ListOf(Text(), single=True, doc="Path patterns that searching passes over."),
        "startup": Record(
            {"profile": Text(), "budget": MapOf(Text(pattern=DURATION, example="90s"))},
            doc="Measurements for cold starts, and how long one may take.",
        ),
        "profile": Text(PROFILES, doc="Which rules are on."),
        "select": ListOf(Text(), single=True, doc="Exactly these rules (or `topic/*`), not those of the profile."),
        "ignoreRules": ListOf(Text(), single=True, doc="Rules (or `topic/*`) that are off."),
        "failOn": Text(FAIL_ON, doc="The least severity of a finding that fails the run."),
        "plugins": ListOf(Text(), single=True, doc="Rule packs to load: names of distributions or entry points."),
        "images": ListOf(Text(), single=True, doc="Files with image sizes for cold starts."),
        "baseline": Text(doc="File with the findings that are known (`unpend baseline write`)."),
        "docsUrl": Text(pattern=r"^https?://\S+$", example="https://example.com/unpend"),
    },
    doc="Configuration of unpend: `.unpend.yaml` at the root of a repository.",
    title="unpend configuration",
)


def config_schema() -> dict[str, Any]:
    """The JSON Schema of `.unpend.yaml` as plain data."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **ROOT.schema()}
