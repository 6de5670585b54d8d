"""Tags of an Auto Scaling group by which Cluster Autoscaler imagines a node of it (C-216), and those that find it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from unpend.algebra.taints import EFFECTS
from unpend.model.node_groups.taints import EKS_EFFECTS
from unpend.model.pod import Amount, Label, Taint
from unpend.model.quantities import milli_of

TEMPLATE = "k8s.io/cluster-autoscaler/node-template/"
LABEL = TEMPLATE + "label/"
TAINT = TEMPLATE + "taint/"
RESOURCE = TEMPLATE + "resources/"
DISCOVERY = "k8s.io/cluster-autoscaler/"
EKS = "eks:"


def label_tags(tags: Mapping[str, Label]) -> dict[str, Label]:
    """The labels that tags give to the imagined node; tags that begin `eks:` become labels without that (C-218)."""
    found: dict[str, Label] = {}
    for key, tag in tags.items():
        if key.startswith(LABEL) and len(key) > len(LABEL):
            found[key[len(LABEL) :]] = Label(key[len(LABEL) :], tag.value, tag.place)
        elif key.startswith(EKS):
            found[key[len(EKS) :]] = Label(key[len(EKS) :], tag.value, tag.place)
    return found


def taint_tags(tags: Mapping[str, Label]) -> tuple[Taint, ...]:
    """The taints that tags give to the imagined node: `<value>:<Effect>`; everything else is silently ignored."""
    found = []
    for key, tag in tags.items():
        if key.startswith(TAINT) and len(key) > len(TAINT) and taint_tag_fault(tag.value) is None:
            value, _, effect = tag.value.partition(":")
            found.append(Taint(key[len(TAINT) :], value, effect, tag.place))
    return tuple(found)


def taint_tag_fault(value: str) -> str | None:
    """Why the autoscaler drops a taint tag with this value, None when it takes it; says what to write."""
    head, colon, effect = value.partition(":")
    if colon and effect in EFFECTS:
        return None
    if not colon:
        if value in EFFECTS or value in EKS_EFFECTS:
            return f'"{value}" has no colon; for a taint without a value write ":{EKS_EFFECTS.get(value, value)}"'
        return f'"{value}" lacks the effect; write "{value}:NoSchedule"'
    if effect in EKS_EFFECTS:
        return f'the effect is spelled as in the EKS API; write "{head}:{EKS_EFFECTS[effect]}"'
    return f'"{effect}" is no effect; write "{head}:NoSchedule"'


def resource_tags(tags: Mapping[str, Label]) -> dict[str, Amount]:
    """The resources that tags give to the imagined node, in place of those of the type; what is no quantity is left."""
    found: dict[str, Amount] = {}
    for key, tag in tags.items():
        if key.startswith(RESOURCE):
            milli = milli_of(tag.value)
            if milli is not None:
                found[key[len(RESOURCE) :]] = Amount(milli, tag.value, tag.place)
    return found


def resource_tags_only(tags: Mapping[str, Label]) -> dict[str, Label]:
    """Of the tags of a managed group itself: the autoscaler asks EKS for resources only (C-219, trap 4)."""
    return {key: tag for key, tag in tags.items() if key.startswith(RESOURCE)}


def malformed_taint_tags(tags: Mapping[str, Label]) -> Iterator[tuple[Label, str]]:
    """Taint tags that the autoscaler ignores, each with why."""
    for key, tag in tags.items():
        if key.startswith(TAINT):
            fault = taint_tag_fault(tag.value)
            if fault is not None:
                yield tag, fault


def discovery_tag(tags: Mapping[str, Label]) -> Label | None:
    """A tag that tells Cluster Autoscaler to scale the group."""
    for key, tag in tags.items():
        if key.startswith(DISCOVERY):
            return tag
    return None
