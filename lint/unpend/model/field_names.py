"""Fields that are misspelt or stand at the wrong level, so that the API server drops or refuses them (A-1551).

Only fields that decide where a pod may run are reported; unknown fields in general are another tool's business.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from unpend.model.fields import under
from unpend.model.problems import Problems
from unpend.source.place import Place

PLACEMENT_FIELDS = frozenset(
    {
        "affinity",
        "hostNetwork",
        "nodeName",
        "nodeSelector",
        "overhead",
        "priorityClassName",
        "resourceClaims",
        "runtimeClassName",
        "schedulerName",
        "schedulingGates",
        "terminationGracePeriodSeconds",
        "tolerations",
        "topologySpreadConstraints",
    }
)
POD_FIELDS = PLACEMENT_FIELDS | frozenset(
    {
        "activeDeadlineSeconds",
        "automountServiceAccountToken",
        "containers",
        "dnsConfig",
        "dnsPolicy",
        "enableServiceLinks",
        "ephemeralContainers",
        "hostAliases",
        "hostIPC",
        "hostPID",
        "hostUsers",
        "hostname",
        "hostnameOverride",
        "imagePullSecrets",
        "initContainers",
        "os",
        "preemptionPolicy",
        "priority",
        "readinessGates",
        "resources",
        "restartPolicy",
        "schedulingGroup",
        "securityContext",
        "serviceAccount",
        "serviceAccountName",
        "setHostnameAsFQDN",
        "shareProcessNamespace",
        "subdomain",
        "volumes",
        "workloadRef",
    }
)
CONTAINER_FIELDS = frozenset(
    {
        "args",
        "command",
        "env",
        "envFrom",
        "image",
        "imagePullPolicy",
        "lifecycle",
        "livenessProbe",
        "name",
        "ports",
        "readinessProbe",
        "resizePolicy",
        "resources",
        "restartPolicy",
        "restartPolicyRules",
        "securityContext",
        "startupProbe",
        "stdin",
        "stdinOnce",
        "terminationMessagePath",
        "terminationMessagePolicy",
        "tty",
        "volumeDevices",
        "volumeMounts",
        "workingDir",
    }
)
TEMPLATE_FIELDS = frozenset({"apiVersion", "kind", "metadata", "spec"})
_ASKED = PLACEMENT_FIELDS | {"containers", "initContainers", "volumes", "resources", "restartPolicy"}


def check_pod_fields(spec: dict[str, Any], place: Place, problems: Problems) -> None:
    """Report unknown fields of a pod spec that look like a placement field."""
    for key in sorted(str(key) for key in spec.keys() - POD_FIELDS):
        meant = near_miss(key, _ASKED)
        if meant is not None and meant not in spec:
            _misspelt(key, meant, place, problems)


def check_container_fields(entry: dict[str, Any], place: Place, problems: Problems) -> None:
    """Report placement fields inside a container, and a misspelt `resources`."""
    for key in sorted(str(key) for key in entry.keys() - CONTAINER_FIELDS):
        if key in _ASKED:
            _misplaced(key, "the pod spec, beside `containers`", place, problems)
        elif key in {"requests", "limits"}:
            _misplaced(key, "`resources` of the container", place, problems)
        elif near_miss(key, frozenset({"resources", "ports"})) is not None and "resources" not in entry:
            _misspelt(key, "resources" if key.lower().startswith("res") else "ports", place, problems)


def check_owner_fields(owner: dict[str, Any], template_path: str, place: Place, problems: Problems) -> None:
    """Report placement fields beside a pod template, such as `spec.tolerations` of a Deployment."""
    if _ASKED.isdisjoint(owner):
        return
    for key in sorted(owner.keys() & _ASKED):
        _misplaced(key, f"`{template_path}.spec`", place, problems)


def _misplaced(key: str, home: str, place: Place, problems: Problems) -> None:
    problems.note(
        under(place, key),
        f"`{key}` has no effect here, or the API server refuses it; it belongs in {home}",
        "scheduler:A-1551",
        part="key",
    )


def _misspelt(key: str, meant: str, place: Place, problems: Problems) -> None:
    problems.note(
        under(place, key),
        f"`{key}` is no known field, so it has no effect or the API server refuses it; did you mean `{meant}`?",
        "scheduler:A-1551",
        part="key",
    )


def near_miss(key: str, known: Collection[str]) -> str | None:
    """The known field that a misspelt one probably means: another case, a missing or added `s`, a slip of the pen."""
    folded = key.lower().replace("_", "").replace("-", "")
    for name in known:
        lower = name.lower()
        if folded == lower or folded.rstrip("s") == lower.rstrip("s"):
            return name
    from difflib import get_close_matches

    close = get_close_matches(key, sorted(known), 1, 0.85)
    return close[0] if close else None
