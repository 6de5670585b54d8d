"""The contract between rules and the engine: the only module that a rule pack needs besides model and analyses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from unpend.model.inventory import Inventory, Problem
from unpend.model.pod import Refusal
from unpend.model.problems import sentence
from unpend.placement.verdict import Certainty, Obstacle, WorkloadVerdict
from unpend.records import dataclass, field
from unpend.settings import Settings
from unpend.source.document import Trouble
from unpend.source.place import Part, Place

if TYPE_CHECKING:
    from unpend.model.inventory import Workload
    from unpend.model.pod import EffectivePod

Severity = Literal["error", "warning", "info"]
Safety = Literal["safe", "unsafe"]
WorldKind = Literal["pools", "nodes", "workloads", "daemonsets", "pdbs", "namespaces", "classes", "claims"]
Need = Literal[
    "workloads",
    "pools",
    "nodes",
    "nodepools",
    "nodegroups",
    "karpenter",
    "daemonsets",
    "pdbs",
    "autoscalers",
    "classes",
    "storage",
    "closed-pools",
    "closed-workloads",
    "closed-classes",
]


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that belongs to a finding, such as the taint in the pool file."""

    message: str
    place: Place


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a value: `action` is `set`, `add` or `remove` at `place`."""

    action: Literal["set", "add", "remove"]
    place: Place
    value: Any = None


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that make a finding go away; offered only when evaluating the edited objects proves it."""

    title: str
    safety: Safety
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule's statement about one value.

    `subject` names what the finding explains, see `placement`: of several findings with the same subject only those of
    the rule with the lowest `rank` are kept, before select, ignore and suppress. An empty subject never competes.
    `workload` is the id of the workload it speaks of. `severity` and `assumes_closed` None mean the rule's own.
    `salient` is what tells this finding from another one of the same rule at the same place (a taint, a zone); it goes
    into the fingerprint. `repair` is one imperative sentence; without one, the engine takes the nearest repair of the
    verdict where `subject` is a `placement`.
    """

    place: Place
    message: str
    related: tuple[Related, ...] = ()
    certainty: Certainty = "proved"
    severity: Severity | None = None
    part: Part = "value"
    subject: tuple[str, ...] = ()
    workload: str | None = None
    verdict: str | None = None
    fixes: tuple[Fix, ...] = ()
    tags: tuple[Literal["unnecessary", "deprecated"], ...] = ()
    assumes_closed: tuple[WorldKind, ...] | None = None
    salient: str = ""
    repair: str | None = None


def placement(workload: str) -> tuple[str, ...]:
    """The subject of findings that explain why a workload (by id) cannot be placed as it stands."""
    return ("placement", workload)


def rejection(place: Place, semantics: str) -> tuple[str, ...]:
    """The subject of findings that explain why the API refuses an object; empty where no rule id says which refusal."""
    return ("rejected", f"{id(place.object):x}", semantics) if semantics else ()


def unplaced(
    verdict: WorkloadVerdict,
    place: Place,
    message: str,
    related: tuple[Related, ...] = (),
    *,
    severity: Severity | None = None,
    part: Part = "value",
    assumes_closed: tuple[WorldKind, ...] | None = None,
    salient: str = "",
    repair: str | None = None,
    fixes: tuple[Fix, ...] = (),
) -> Finding:
    """A finding that explains a verdict on a workload: about its placement, and as certain as the verdict is."""
    return Finding(
        place,
        message,
        related,
        verdict.certainty,
        severity,
        part,
        placement(verdict.workload),
        verdict.workload,
        verdict.verdict,
        fixes=fixes,
        assumes_closed=assumes_closed,
        salient=salient,
        repair=repair,
    )


def illegal(
    problem: Problem,
    related: tuple[Related, ...] = (),
    *,
    owns: bool = True,
    tags: tuple[Literal["unnecessary", "deprecated"], ...] = (),
    repair: str | None = None,
) -> Finding:
    """A finding on a value that the model found illegal; what the API takes all the same is less severe.

    `owns` is False where another finding explains the refusal of the object by the same rule of the API.
    """
    return Finding(
        problem.place,
        sentence(problem.message),
        related,
        severity=None if problem.severity == "error" else problem.severity,
        part=problem.part,
        subject=rejection(problem.place, problem.semantics) if owns else (),
        tags=tags,
        repair=repair,
    )


def refused(
    refusal: Refusal,
    workload: str,
    verdict: str | None = None,
    *,
    assumes_closed: tuple[WorldKind, ...] | None = None,
) -> Finding:
    """A finding on what makes the API or an admission plug-in refuse the pods of a workload (by id)."""
    return Finding(
        refusal.place,
        sentence(refusal.message),
        tuple(Related(text, place) for text, place in refusal.related),
        subject=rejection(refusal.place, refusal.semantics),
        workload=workload,
        verdict=verdict,
        assumes_closed=assumes_closed,
    )


def against(obstacle: Obstacle | None, message: str) -> tuple[Related, ...]:
    """The other side of an obstacle, such as the taint in the pool file; none where it is written nowhere."""
    return () if obstacle is None or obstacle.against is None else (Related(message, obstacle.against.place),)


Feature = Literal["spread", "pod-affinity", "node-selection", "tolerations"]
"""What pods may use: spread constraints, (anti-)affinity to pods, node selectors or affinity, tolerations."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a rule: its default decides the accepted type (int, float, str, bool or a tuple of str)."""

    name: str
    default: Any
    doc: str
    minimum: float | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: the docstring of its module is its page.

    `enabled`: on in the default profile; `profiles` lists the other profiles that turn it on (`strict` turns on all).
    `competes`: its findings carry a subject; lower `rank` explains better. `assumes_closed`: the kinds of facts that
    its statement takes for complete; where one of them is open, the findings speak at `info`. `when`: features of pods
    without which it has nothing to say, so that its module need not even be imported.
    """

    name: str
    topic: str
    severity: Severity
    doc: str
    check: Callable[[Facts, Mapping[str, Any]], Iterable[Finding]]
    needs: tuple[Need, ...] = ()
    options: tuple[Option, ...] = ()
    enabled: bool = True
    rank: int = 100
    profiles: tuple[str, ...] = ()
    competes: bool = False
    assumes_closed: tuple[WorldKind, ...] = ()
    when: tuple[Feature, ...] = ()

    @property
    def summary(self) -> str:
        """The first line of the page."""
        return self.doc.strip().splitlines()[0]

    @property
    def entry(self) -> RuleEntry:
        """What the index of a pack says of this rule."""
        return RuleEntry(
            self.name,
            self.topic,
            self.severity,
            needs=self.needs,
            enabled=self.enabled,
            profiles=self.profiles,
            options=self.options,
            rank=self.rank,
            competes=self.competes,
            assumes_closed=self.assumes_closed,
            when=self.when,
            summary=self.summary,
        )


@dataclass(frozen=True, slots=True)
class RuleEntry:
    """What the engine must know of a rule before its module is imported; fields as in `Rule`."""

    name: str
    topic: str
    severity: Severity
    needs: tuple[Need, ...] = ()
    enabled: bool = True
    profiles: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    rank: int = 100
    competes: bool = False
    assumes_closed: tuple[WorldKind, ...] = ()
    when: tuple[Feature, ...] = ()
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Pack:
    """A set of rules: `index` lists what each rule is without importing it, `load` imports one by its name."""

    name: str
    index: tuple[RuleEntry, ...]
    load: Callable[[str], Rule]

    @classmethod
    def of(cls, name: str, *rules: Rule) -> Pack:
        """A pack of rules that are imported already: enough for a small pack."""
        by_name = {rule.name: rule for rule in rules}
        return cls(name, tuple(rule.entry for rule in by_name.values()), by_name.__getitem__)


@dataclass(frozen=True, slots=True)
class _Failed:
    """An analysis that raised; asked again it raises the same, instead of failing slowly once per rule."""

    error: Exception


@dataclass(slots=True)
class Facts:
    """What rules may ask: the inventory, the settings and analyses of them, each computed once.

    An analysis is a pure function of inventory and settings; `memo` keeps its result under a name.
    """

    inventory: Inventory
    settings: Settings
    troubles: tuple[Trouble, ...] = ()
    _memo: dict[Any, Any] = field(default_factory=dict, repr=False)
    _verdicts: Mapping[str, WorkloadVerdict] | None = field(default=None, repr=False)
    _pods: dict[int, EffectivePod] = field(default_factory=dict, repr=False)

    def memo(self, name: Any, compute: Callable[[], Any]) -> Any:
        """The value kept under `name`, computed on first use."""
        if name not in self._memo:
            try:
                self._memo[name] = compute()
            except Exception as error:
                self._memo[name] = _Failed(error)
        value = self._memo[name]
        if isinstance(value, _Failed):
            raise value.error
        return value

    @property
    def verdicts(self) -> Mapping[str, WorkloadVerdict]:
        """The verdict of every workload by its id."""
        found: Mapping[str, WorkloadVerdict] | None = self._verdicts
        if found is None:
            found = self._verdicts = self.memo("verdicts", self._evaluate)
        return found

    def _evaluate(self) -> Mapping[str, WorkloadVerdict]:
        from unpend.placement.evaluate import evaluate_inventory

        return {v.workload: v for v in evaluate_inventory(self.inventory, self.settings, self.effective)}

    def effective(self, workload: Workload) -> EffectivePod:
        """The pod of a workload after API defaulting and admission."""
        pod = self._pods.get(id(workload))
        if pod is None:
            from unpend.model.admission import admit

            pod = self._pods[id(workload)] = admit(workload, self.inventory, self.settings)
        return pod
