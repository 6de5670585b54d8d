"""The nodes of one NodePool as kube-scheduler sees them: a space whose shapes are pairs of type and offering."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import overload

from unpend.algebra import values as true_values
from unpend.algebra.taints import FILTERING_EFFECTS
from unpend.algebra.values import ValueSet
from unpend.catalog.index import Resources
from unpend.model.karpenter_labels import HOSTNAME, OLDER_NAMES, normalized
from unpend.model.pod import ContainerPort, Taint, Toleration
from unpend.placement.karpenter.attach_limits import EBS, most_ebs_volumes
from unpend.placement.karpenter.grid import Grid
from unpend.placement.karpenter.requirement import Requirement
from unpend.placement.karpenter.requirements import Requirements
from unpend.placement.space import Interval, LabelIndex, Masks, Provenance, Shape, Space, TakenPort, ports_clash

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
ADDED_BY_ADD_ONS = frozenset({"topology.ebs.csi.aws.com/zone"})
"""Older names of labels that only an add-on puts on nodes: there or not, with the value of the label itself."""


def label_of_any_node(requirement: Requirement) -> ValueSet:
    """The values of a custom label over all nodes that a pool makes: pods narrow it as they like (`karpenter.md` §2.7).

    NotIn may also end as no label at all, when a pod asks for that.
    """
    if not requirement.complement:
        return true_values.one_of(requirement.values) if requirement.values else true_values.absent()
    if requirement.gte is None and requirement.lte is None:
        excluded = true_values.none_of(requirement.values)
        return excluded if requirement.values else true_values.exists()
    numbers = true_values.exists()
    if requirement.gte is not None:
        numbers = numbers.meet(true_values.at_least(requirement.gte))
    if requirement.lte is not None:
        numbers = numbers.meet(true_values.at_most(requirement.lte))
    if requirement.values:
        # Excluded values are lost when the bounds are written back, and a pod may ask for absence.
        return ValueSet(True, numbers.form, numbers.names, numbers.low, numbers.high)
    return numbers


_NUMBERS = true_values.at_least(0)
_MINTED = ValueSet(True, _NUMBERS.form, _NUMBERS.names, _NUMBERS.low, _NUMBERS.high)
"""No label, or a random number."""


class PoolLabelIndex(LabelIndex):
    """The labels of a pool's nodes: those of types and offerings from the grid, all others from the pool."""

    def __init__(
        self,
        grid: Grid,
        within: int,
        narrowed: Requirements,
        custom: Mapping[str, ValueSet],
        open_keys: frozenset[str],
        perhaps: frozenset[str] = ADDED_BY_ADD_ONS,
        minted: frozenset[str] = frozenset(),
    ) -> None:
        """`open_keys` may have any value or none; `perhaps` are older names that are there or not.

        `minted` are there, with a random number, on nodes that are launched for some of the pods (§2.7).
        """
        self.minted = minted
        self.perhaps = perhaps
        self.grid = grid
        self.everything = within
        self.narrowed = narrowed
        self.custom = custom
        self.open_keys = open_keys
        self._answers: dict[tuple[str, ValueSet], Masks] = {}

    def over(self, within: int) -> PoolLabelIndex:
        """The same labels over other shapes of the grid."""
        return PoolLabelIndex(self.grid, within, self.narrowed, self.custom, self.open_keys, self.perhaps, self.minted)

    @property
    def keys(self) -> Iterable[str]:
        """The labels that the pool gives."""
        return self.custom.keys()

    def values(self, key: str) -> Mapping[str, int]:
        """The known values of a label, each with the shapes that can have it."""
        if key in self.custom:
            return dict.fromkeys(self.custom[key].values or (), self.everything)
        return {value: mask & self.everything for value, mask in self.grid.values(normalized(key)).items()}

    def odd(self, key: str) -> Mapping[str, int]:
        """Nothing: types and pools have legal label values only."""
        return {}

    def ask(self, key: str, wanted: ValueSet) -> Masks:
        """The shapes whose label is in the set."""
        found = self._answers.get((key, wanted))
        if found is None:
            found = self._answers[key, wanted] = self._find(key, wanted)
        return found

    def _find(self, key: str, wanted: ValueSet) -> Masks:
        known = self.custom.get(key)
        if known is None and self.of_grid(key):
            name = normalized(key)
            answer = self.grid.actual(name, wanted, self.narrowed.by_key.get(name))
            sure, possible = answer.sure & self.everything, answer.possible & self.everything
            if key in self.perhaps:
                return Masks(sure if wanted.admits_absent else 0, self.everything if wanted.admits_absent else possible)
            return Masks(sure, possible)
        relation = self.unlisted(key, known).relation(wanted)
        return Masks(
            self.everything if relation == "surely" else 0,
            self.everything if relation != "never" else 0,
        )

    def of_grid(self, key: str) -> bool:
        """Whether types and offerings decide the label."""
        return key in OLDER_NAMES or key in self.grid.well_known or self.grid.defines(key)

    def unlisted(self, key: str, known: ValueSet | None) -> ValueSet:
        """The values of a label that no type carries."""
        if known is not None:
            return known
        if key == HOSTNAME:
            return true_values.exists()
        if key in self.open_keys:
            return true_values.anything()
        return _MINTED if key in self.minted else true_values.absent()

    def at(self, key: str, bit: int) -> str | ValueSet | None:
        """The label of one shape."""
        known = self.custom.get(key)
        if known is None and self.of_grid(key):
            value = self.grid.value_at(normalized(key), bit)
            narrowed = self.narrowed.by_key.get(normalized(key))
            if isinstance(value, ValueSet) and value.values is not None and narrowed is not None:
                left = [name for name in value.values if narrowed.has(name)]
                return left[0] if len(left) == 1 else true_values.one_of(left)
            return value
        values = self.unlisted(key, known)
        if values == true_values.absent():
            return None
        listed = values.values
        return next(iter(listed)) if listed and len(listed) == 1 and not values.admits_absent else values


class _Labels(Mapping[str, str | ValueSet]):
    """The labels of one shape, looked up when they are asked for."""

    def __init__(self, index: PoolLabelIndex, bit: int) -> None:
        self._index = index
        self._bit = bit

    def __getitem__(self, key: str) -> str | ValueSet:
        value = self._index.at(key, self._bit)
        if value is None:
            raise KeyError(key)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._index.custom)

    def __len__(self) -> int:
        return len(self._index.custom)


class _Amounts(Mapping[str, Interval]):
    def __init__(self, low: Resources, high: Resources, number: int) -> None:
        self._low, self._high, self._number = low, high, number

    def __getitem__(self, name: str) -> Interval:
        if name not in self._low.names:
            raise KeyError(name)
        low, high = self._low.amount(name, self._number)[0], self._high.amount(name, self._number)[0]
        return Interval(low, high) if name == "cpu" else Interval(low // 1000, high // 1000)

    def __iter__(self) -> Iterator[str]:
        return iter(self._low.names)

    def __len__(self) -> int:
        return len(self._low.names)


class _Totals(Mapping[str, int]):
    def __init__(self, resources: Resources, number: int) -> None:
        self._resources, self._number = resources, number

    def __getitem__(self, name: str) -> int:
        if name not in self._resources.names:
            raise KeyError(name)
        amount = self._resources.amount(name, self._number)[0]
        return amount if name == "cpu" else amount // 1000

    def __iter__(self) -> Iterator[str]:
        return iter(self._resources.names)

    def __len__(self) -> int:
        return len(self._resources.names)


class _Shapes(Sequence[Shape]):
    """Shapes that are made when somebody looks at one: a pool has thousands."""

    def __init__(self, space: PoolSpace) -> None:
        self._space = space

    @overload
    def __getitem__(self, number: int) -> Shape: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Shape]: ...
    def __getitem__(self, number: int | slice) -> Shape | Sequence[Shape]:
        if isinstance(number, slice):
            return [self._space.shape(n) for n in range(*number.indices(len(self)))]
        if not 0 <= number < len(self):
            raise IndexError(number)
        return self._space.shape(number)

    def __len__(self) -> int:
        return self._space.everything.bit_length()


class PoolSpace(Space):
    """A space over the grid of a catalogue. Only the bits in `everything` are shapes of the pool.

    `low` is what is left when every DaemonSet that may land there does, `high` when only those that surely do. `ports`
    are the host ports that DaemonSets hold, with the shapes where they surely, and possibly, do. `devices` has for some
    resources the only shapes that get them: those that a device plugin comes to.
    """

    labels: PoolLabelIndex

    def __init__(
        self,
        grid: Grid,
        within: int,
        labels: PoolLabelIndex,
        taints: tuple[Taint, ...],
        resources: tuple[Resources, Resources, Resources],
        ports: Sequence[tuple[TakenPort, Masks]],
        source: Provenance,
        devices: Mapping[str, int] | None = None,
    ) -> None:
        self.grid = grid
        self.everything = within
        self.devices: Mapping[str, int] = devices or {}
        self.labels = labels
        self.pool_taints = tuple(taint for taint in taints if taint.effect in FILTERING_EFFECTS)
        self.cordoned = self.disked = self.limited = self.uncounted = 0
        self.memo = {}
        self.total, self.low, self.high = resources
        self.taken = tuple(ports)
        self.source = source
        self._shape_memo: dict[int, Shape] = {}
        self._overfull = self._overfull_types()
        self._taint_sets = {self.pool_taints: within} if self.pool_taints else {}
        self._tolerated: dict[tuple[Toleration, ...], int] = {}
        self.shapes = _Shapes(self)
        self.slots = self.with_free("pods", 1)

    def named(self, name: str) -> int:
        """Nothing: nobody knows the name of a node that does not exist yet (P-511)."""
        return 0

    def _overfull_types(self) -> int:
        """Types on which the DaemonSets together do not fit: then one of them waits, and leaves room."""
        return self.grid.types & ~self.high.usable.sure if self.high is not self.total else 0

    def with_free(self, resource: str, amount: int) -> Masks:
        """The shapes with at least this much left, memory as configured (A7)."""
        if amount <= 0:
            return Masks(self.everything, self.everything)
        return self._with_free(resource, amount)

    def room(self, requests: Mapping[str, int]) -> Masks:
        """The shapes with a pod slot and all of these (amounts in the units of `Demand.requests`) left."""
        if any(group.resources is not None for group in self.grid.groups) or self.devices:
            masks = self.slots
            for resource, amount in requests.items():
                masks = masks.both(self.with_free(resource, amount))
            return masks
        sure = possible = self.grid.types
        for resource, amount in (("pods", 1), *requests.items()):
            low, high = self._types_with(resource, amount)
            sure &= low
            possible &= high
        spread = self.grid.spread(possible)
        return Masks(spread if sure == possible else self.grid.spread(sure), spread)

    def _types_with(self, resource: str, amount: int) -> tuple[int, int]:
        milli = amount if resource == "cpu" else amount * 1000
        sure = self.low.fits(resource, milli).sure
        possible = sure if self.high is self.low else self.high.fits(resource, milli).sure
        if self._overfull:
            possible |= self.total.fits(resource, milli).sure & self._overfull
        return sure, possible

    def _with_free(self, resource: str, amount: int) -> Masks:
        milli = amount if resource == "cpu" else amount * 1000
        sure, possible = self._types_with(resource, amount)
        spread = self.grid.spread(possible)
        masks = [spread if sure == possible else self.grid.spread(sure), spread]
        for number, group in enumerate(self.grid.groups):
            if group.resources is not None:
                # What DaemonSets take of such an offering is not subtracted: an upper bound, and a sure one for none.
                here = group.possible << number * self.grid.width
                own = group.resources.fits(resource, milli).sure << number * self.grid.width
                masks[1] = masks[1] & ~here | own & here
                masks[0] = masks[0] & ~here | (own & here if self.low is self.total else 0)
        within = self.everything & self.devices.get(resource, self.everything)
        possible = masks[1] & within
        return Masks(possible if masks[0] is masks[1] else masks[0] & within, possible)

    def richest(self, resource: str, mask: int) -> int:
        """The shape of a (non-empty) mask that has most of a resource left, the first of equals."""
        most = -1
        found = (mask & -mask).bit_length() - 1
        types = self.grid.collapse(mask)
        while types:
            lowest = types & -types
            number = lowest.bit_length() - 1
            amount = self.high.amount(resource, number)[0]
            if amount > most:
                most, found = amount, number
            types ^= lowest
        width = self.grid.width
        column = sum(1 << group * width for group in range(len(self.grid.groups))) << found % width
        here = mask & column
        return (here & -here).bit_length() - 1

    def with_port(self, port: ContainerPort) -> Masks:
        """The shapes on which no DaemonSet holds a host port (S-602)."""
        sure = possible = 0
        for use, masks in self.taken:
            if ports_clash(port, use.port):
                sure |= masks.sure
                possible |= masks.possible
        return Masks(self.everything & ~possible, self.everything & ~sure)

    def most_volumes(self, driver: str) -> Mapping[int, int]:
        """How many volumes of a driver the types take that are known for it, with their shapes."""
        found: dict[int, int] = {}
        if driver == EBS:
            for name, mask in self.labels.values(INSTANCE_TYPE).items():
                most = most_ebs_volumes(name)
                if most is not None:
                    found[most] = found.get(most, 0) | mask
        return found

    def shape(self, number: int) -> Shape:
        """One shape in full."""
        found = self._shape_memo.get(number)
        if found is None:
            column = number % self.grid.width
            amounts = _Amounts(self.low, self.high, column)
            most = most_ebs_volumes(self.grid.type(number).name)
            slots = self.low.amount("pods", column)[0] // 1000, self.high.amount("pods", column)[0] // 1000
            found = self._shape_memo[number] = Shape(
                name=None,
                labels=_Labels(self.labels, number),
                taints=self.pool_taints,
                unschedulable=False,
                allocatable=_Totals(self.total, column),
                free=amounts,
                slots=Interval(*slots),
                ports=tuple(use for use, masks in self.taken if masks.possible >> number & 1),
                source=self.source,
                attach_limits={} if most is None else {EBS: most},
            )
        return found

    def narrowed(self, narrowed: Requirements, custom: Mapping[str, ValueSet]) -> PoolSpace:
        """The same pool as nodes that are launched for requirements that leave less of its labels."""
        labels = PoolLabelIndex(
            self.grid, self.everything, narrowed, custom, self.labels.open_keys, self.labels.perhaps
        )
        return self._like(labels)

    def _like(self, labels: PoolLabelIndex) -> PoolSpace:
        other = object.__new__(PoolSpace)
        other.__dict__.update(self.__dict__)
        other.labels = labels
        other.memo = {}
        other._shape_memo = {}
        other.shapes = _Shapes(other)
        return other
