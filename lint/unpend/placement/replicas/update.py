"""How many pods a rolling update adds and takes away (S-1601, S-1604)."""

from __future__ import annotations

from unpend.model.inventory import IntOrPercent, Workload
from unpend.records import dataclass


@dataclass(frozen=True, slots=True)
class Surge:
    """Pods that an update may add, and pods that it may take away first."""

    extra: int
    unavailable: int

    def deadlocks(self, replicas: int, at_most: int) -> bool:
        """Whether no new pod can come before an old one goes, and none may go."""
        return self.unavailable == 0 and self.extra > 0 and at_most <= replicas


def surge_of(workload: Workload, replicas: int) -> Surge | None:
    """The surge of a Deployment's update; None where updates never add a pod first (S-1604, S-1615).

    Percentages of the surge round up, those of unavailable pods down; both zero makes one pod unavailable (S-1601).
    """
    if workload.kind != "Deployment" or replicas <= 0:
        return None
    strategy = workload.strategy
    if strategy is not None and strategy.kind == "Recreate":
        return None
    extra = _resolved(strategy.max_surge if strategy else None, replicas, up=True)
    unavailable = _resolved(strategy.max_unavailable if strategy else None, replicas, up=False)
    if extra == 0 and unavailable == 0:
        unavailable = 1
    return Surge(extra, unavailable)


def _resolved(value: IntOrPercent | None, replicas: int, *, up: bool) -> int:
    if value is not None and value.number is not None:
        return max(0, value.number)
    percent = 25 if value is None or value.percent is None else value.percent
    return max(0, -(-replicas * percent // 100) if up else replicas * percent // 100)
