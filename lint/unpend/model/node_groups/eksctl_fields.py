"""The fields of a node group in a ClusterConfig of eksctl: which of them decide something, which do not and why."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from unpend.model.problems import Problems
from unpend.source.place import Place

USED = frozenset(
    {
        "ami",
        "amiFamily",
        "availabilityZones",
        "capacityReservation",
        "desiredCapacity",
        "iam",
        "instanceMarketOptions",
        "instanceSelector",
        "instanceType",
        "instanceTypes",
        "instancesDistribution",
        "kubeletExtraConfig",
        "labels",
        "launchTemplate",
        "localZones",
        "maxPodsPerNode",
        "maxSize",
        "minSize",
        "name",
        "overrideBootstrapCommand",
        "propagateASGTags",
        "spot",
        "subnets",
        "tags",
        "taints",
        "volumeSize",
    }
)
"""Fields of a group that decide something here."""

IGNORED: Mapping[str, str] = {
    "additionalEncryptedVolume": "further disks hold no pod storage",
    "additionalVolumes": "further disks hold no pod storage",
    "asgMetricsCollection": "says nothing about placement",
    "asgSuspendProcesses": "says nothing about placement",
    "bottlerocket": "settings of the image; its kubelet settings are not read",
    "classicLoadBalancerNames": "says nothing about placement",
    "clusterDNS": "says nothing about placement",
    "containerRuntime": "says nothing about placement",
    "cpuCredits": "says nothing about placement",
    "disableIMDSv1": "says nothing about placement",
    "disablePodIMDS": "says nothing about placement",
    "ebsOptimized": "says nothing about placement",
    "efaEnabled": "the number of EFA devices follows from the type",
    "enableDetailedMonitoring": "says nothing about placement",
    "instanceName": "a tag for people",
    "instancePrefix": "a tag for people",
    "maxInstanceLifetime": "nodes are replaced, not refused",
    "nodeRepairConfig": "nodes are replaced, not refused",
    "outpostARN": "an Outpost offers what it holds",
    "placement": "a placement group refuses instances at launch only",
    "preBootstrapCommands": "shell text",
    "privateNetworking": "says nothing about placement",
    "releaseVersion": "the image of the same family",
    "securityGroups": "says nothing about placement",
    "ssh": "says nothing about placement",
    "targetGroupARNs": "says nothing about placement",
    "updateConfig": "decides how nodes are replaced",
    "volumeEncrypted": "says nothing about placement",
    "volumeIOPS": "says nothing about placement",
    "volumeKmsKeyID": "says nothing about placement",
    "volumeName": "says nothing about placement",
    "volumeThroughput": "says nothing about placement",
    "volumeType": "says nothing about placement",
}
"""Fields of a group that are known and decide nothing here, each with why."""


def check_names(entry: dict[str, Any], place: Place, problems: Problems) -> None:
    """Fields that look like misspelt ones: eksctl reads strictly, but newer releases know further fields."""
    known = USED | IGNORED.keys()
    for key in entry:
        if key not in known:
            close = get_close_matches(str(key), sorted(known), 1, 0.85)
            if close:
                message = f"eksctl knows no field `{key}` here; did you mean `{close[0]}`?"
                problems.note(place.at(key), message, "autoscaler:§6.2", "error", "key")
