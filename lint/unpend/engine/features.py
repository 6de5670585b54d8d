"""What the pods of an inventory use: rules about something that none of them uses are not imported."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from unpend.model.inventory import Inventory
from unpend.model.pod import PodSpec
from unpend.rule import Feature


class Features:
    """Answers for one inventory, each feature looked for once."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._found: dict[Feature, bool] = {}

    def all(self, wanted: Iterable[Feature]) -> bool:
        """Whether each of the features is used by some workload."""
        return all(self._has(feature) for feature in wanted)

    def _has(self, feature: Feature) -> bool:
        found = self._found.get(feature)
        if found is None:
            uses = _USES[feature]
            found = self._found[feature] = any(uses(w.template.spec) for w in self._inventory.workloads)
        return found


_USES: dict[Feature, Callable[[PodSpec], bool]] = {
    "spread": lambda spec: bool(spec.spread),
    "pod-affinity": lambda spec: bool(
        spec.affinity.pod_required
        or spec.affinity.pod_preferred
        or spec.affinity.anti_required
        or spec.affinity.anti_preferred
    ),
    "node-selection": lambda spec: bool(
        spec.node_selector or spec.affinity.required is not None or spec.affinity.preferred
    ),
    "tolerations": lambda spec: bool(spec.tolerations),
}
