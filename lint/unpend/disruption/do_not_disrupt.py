"""The annotation `karpenter.sh/do-not-disrupt` (`karpenter.md` §9.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from unpend.algebra.duration import go_duration
from unpend.model.karpenter_labels import release
from unpend.model.pod import Label
from unpend.records import dataclass

DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"
SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
LEGACY = {"karpenter.sh/do-not-evict": "pods", "karpenter.sh/do-not-consolidate": "nodes"}
DURATIONS_SINCE = (1, 12)


@dataclass(frozen=True, slots=True)
class Protection:
    """What a value of the annotation does: `always`, for `seconds` after the pod started, or `nothing` for a reason."""

    kind: Literal["always", "duration", "nothing"]
    seconds: float = 0
    reason: str = ""


def protection(value: str, karpenter: str) -> Protection:
    """What a value does under a release of Karpenter such as `1.14` (`D-20`)."""
    if value == "true":
        return Protection("always")
    seconds = go_duration(value)
    if seconds is not None and seconds > 0:
        if release(karpenter) < DURATIONS_SINCE:
            return Protection("nothing", reason=f"durations are known from Karpenter 1.12 on, this is {karpenter}")
        return Protection("duration", seconds)
    if seconds is not None:
        return Protection("nothing", reason="a duration has to be longer than 0")
    return Protection("nothing", reason=_why(value))


def _why(value: str) -> str:
    if value == "false":
        return "false is the same as no annotation"
    if value.lower() == "true":
        return 'only "true" in small letters counts'
    days = re.fullmatch(r"([0-9]{1,5}) ?d(?:ays?)?", value)
    if days:
        return f"a duration has hours, minutes and seconds only: {int(days[1]) * 24}h"
    spelt = re.fullmatch(r"([0-9]{1,6}) ?(h|m|s)[a-z]*", value)
    if spelt:
        return f"a duration is written {spelt[1]}{spelt[2]}"
    return 'it is neither "true" nor a duration such as 4h or 1h30m'


def annotation(annotations: Mapping[str, Label]) -> Label | None:
    """The annotation, None when it is not there."""
    return annotations.get(DO_NOT_DISRUPT)
