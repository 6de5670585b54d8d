"""What analyses are given: the facts of one run, as far as they need them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from unpend.model.inventory import Inventory, Workload
from unpend.model.pod import EffectivePod
from unpend.placement.verdict import WorkloadVerdict
from unpend.settings import Settings


class FactsLike(Protocol):
    """`unpend.rule.Facts`, which analyses may not import, by its shape."""

    @property
    def inventory(self) -> Inventory:
        """The objects."""

    @property
    def settings(self) -> Settings:
        """The settings of the cluster."""

    @property
    def verdicts(self) -> Mapping[str, WorkloadVerdict]:
        """The verdict of every workload by its id."""

    def effective(self, workload: Workload, /) -> EffectivePod:
        """The pod of a workload after API defaulting and admission."""

    def memo(self, name: Any, compute: Callable[[], Any], /) -> Any:
        """The value kept under a name, computed on first use."""
