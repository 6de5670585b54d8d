"""One run: clusters in, findings out. Pure: no files, no clock, the same input gives the same result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING

from unpend.engine.crashes import Crashes
from unpend.engine.drafts import Draft, Places, Resolver
from unpend.engine.features import Features
from unpend.engine.fold import finish, reported
from unpend.engine.needs import Needs, effective_world
from unpend.engine.options import RunOptions
from unpend.engine.ownership import Yielded, contested, settle
from unpend.engine.registry import Registry, registry_of
from unpend.engine.result import Notice, ReportedFinding, Result, SkippedRule
from unpend.engine.selection import ActiveRule, Selection, select_rules
from unpend.engine.suppression import RULE as UNUSED
from unpend.engine.suppression import Suppressions
from unpend.engine.troubles import duplicate_key_drafts, notices, trouble_drafts
from unpend.model.inventory import Inventory
from unpend.placement.verdict import WorkloadVerdict
from unpend.records import dataclass, field, replace
from unpend.rule import Facts, Finding, Severity, WorldKind
from unpend.settings import Settings, World
from unpend.source.document import Document, Object, Reading, Trouble

if TYPE_CHECKING:
    from unpend.placement.zone_shift import ZoneRow

__all__ = ["ClusterInput", "RunOptions", "cluster_input", "run"]

_TEST_HOOKS = frozenset({"test", "test-success", "test-failure"})


@dataclass(frozen=True, slots=True)
class ClusterInput:
    """Everything of one cluster. `name` is empty when no cluster is named.

    `documents` and `objects` are what the inventory was read from: suppressions and duplicate keys are found in them.
    `checked` are the uris that were read, `texts` what stood in them.
    """

    name: str
    inventory: Inventory
    settings: Settings
    troubles: tuple[Trouble, ...] = ()
    checked: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    documents: tuple[Document, ...] = ()
    objects: tuple[Object, ...] = ()


def cluster_input(
    name: str, reading: Reading, settings: Settings, texts: Mapping[str, str] | None = None
) -> ClusterInput:
    """The input of a cluster whose objects are all in one reading."""
    from unpend.model.found_settings import with_found_settings
    from unpend.model.reading import read_objects

    settings = with_found_settings(settings, reading.objects, reading.documents)
    uris = dict.fromkeys(d.uri for d in reading.documents)
    uris.update(dict.fromkeys(t.uri for t in reading.troubles))
    return ClusterInput(
        name=name,
        inventory=read_objects(reading.objects, settings),
        settings=settings,
        troubles=reading.troubles,
        checked=tuple(uris),
        texts=texts or {},
        documents=reading.documents,
        objects=reading.objects,
    )


@dataclass(slots=True)
class _ClusterRun:
    """What one cluster gave."""

    drafts: list[Draft]
    verdicts: tuple[WorkloadVerdict, ...]
    skipped: dict[str, str]
    ran: frozenset[str]
    crashed: bool
    zone_loss: tuple[ZoneRow, ...] = ()


def run(
    clusters: Sequence[ClusterInput], options: RunOptions | None = None, registry: Registry | None = None
) -> Result:
    """Ask every selected rule about every cluster. Raises ConfigError or PackError before anything is asked."""
    options = options or RunOptions()
    registry = registry or registry_of(options.plugins, options.config_path, options.config_root)
    selection = select_rules(registry, options)
    selected = {active.entry.name: active for active in selection.rules}
    suppressions = Suppressions(options, registry)

    drafts: list[Draft] = []
    runs: dict[str, _ClusterRun] = {}
    places: Places = {}
    for cluster in map(_without_test_hooks, clusters):
        suppressions.add_cluster(cluster.name, cluster.documents, cluster.objects, cluster.inventory)
        outcome = _run_cluster(cluster, selection, registry, options, places)
        runs[cluster.name] = outcome
        drafts.extend(outcome.drafts)
        found = [*trouble_drafts(cluster.troubles), *duplicate_key_drafts(cluster.documents, cluster.objects)]
        for draft in found:
            draft.clusters = (cluster.name,) if cluster.name else ()
        drafts.extend(_judged(found, selected))

    for draft in drafts:
        draft.suppressed = suppressions.judge(draft)
    if UNUSED in selected:
        unused = suppressions.unused(
            {name: outcome.ran for name, outcome in runs.items()}, {c.name: c.checked for c in clusters}
        )
        for draft in _judged(unused, selected):
            draft.suppressed = suppressions.judge(draft)
            drafts.append(draft)

    findings = _outside_of(snapshots(clusters), finish(reported(drafts, options.report_only), options.baseline))
    verdicts = tuple(v for outcome in runs.values() for v in outcome.verdicts)
    return Result(
        findings=findings,
        workloads=verdicts,
        contention=tuple(dict.fromkeys(group for v in verdicts for group in v.contention)),
        skipped_rules=_skipped(runs),
        notices=_notices(clusters, options.today),
        rules=selection.entries(),
        checked=tuple(dict.fromkeys(uri for c in clusters for uri in c.checked)),
        texts={uri: text for c in clusters for uri, text in c.texts.items()},
        object_count=max((c.inventory.object_count or len(c.objects) for c in clusters), default=0),
        untrustworthy=any(outcome.crashed for outcome in runs.values()),
        zone_loss=tuple(row for outcome in runs.values() for row in outcome.zone_loss),
    )


def snapshots(clusters: Sequence[ClusterInput]) -> frozenset[str]:
    """The uris of exported snapshots: what is wrong in them is to be told where they were exported, not where used."""
    found = [item for c in clusters for item in c.objects if item.kind == "Snapshot"]
    if not found:
        return frozenset()
    from unpend.model.snapshot import is_snapshot

    return frozenset(item.document.uri for item in found if is_snapshot(item))


def _outside_of(uris: frozenset[str], findings: tuple[ReportedFinding, ...]) -> tuple[ReportedFinding, ...]:
    if not uris:
        return findings
    return tuple(
        f
        for f in findings
        if f.location is None or f.location.uri not in uris or f.rule in ("yaml-syntax", "internal-error")
    )


def _without_test_hooks(cluster: ClusterInput) -> ClusterInput:
    """The cluster without what `helm test` runs: such pods live for the length of a test, on purpose."""
    hooks = {id(o) for o in cluster.objects if _is_test_hook(o)}
    hooks.update(id(w.object) for w in cluster.inventory.workloads if w.hook and _is_test_hook(w.object))
    if not hooks:
        return cluster
    inventory = cluster.inventory
    return replace(
        cluster,
        objects=tuple(o for o in cluster.objects if id(o) not in hooks),
        inventory=replace(
            inventory,
            workloads=tuple(w for w in inventory.workloads if id(w.object) not in hooks),
            problems=tuple(p for p in inventory.problems if id(p.place.object) not in hooks),
        ),
    )


def _hooks(inventory: Inventory) -> frozenset[int]:
    """The objects that Helm runs once around an installation or an upgrade, by identity."""
    return frozenset(id(w.object) for w in inventory.workloads if w.hook)


def _passing(finding: Finding, hooks: frozenset[int]) -> bool:
    """Whether a finding is about a hook, and not about its placement.

    A hook is gone when it is done: advice for what stays is noise there. One whose pod finds no node holds up the
    installation.
    """
    return id(finding.place.object) in hooks and finding.subject[:1] not in (("placement",), ("rejected",))


def _is_test_hook(item: Object) -> bool:
    metadata = item.data.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if not annotations or not isinstance(annotations, dict):
        return False
    hook = annotations.get("helm.sh/hook")
    return isinstance(hook, str) and all(part.strip() in _TEST_HOOKS for part in hook.split(","))


def _run_cluster(
    cluster: ClusterInput, selection: Selection, registry: Registry, options: RunOptions, places: Places
) -> _ClusterRun:
    facts = Facts(cluster.inventory, cluster.settings, cluster.troubles)
    needs = Needs(cluster.inventory, cluster.settings)
    features = Features(cluster.inventory)
    crashes = Crashes()
    skipped: dict[str, str] = {}
    yielded: list[Yielded] = []
    ran: list[str] = []

    def ask(active: ActiveRule) -> None:
        if not features.all(active.entry.when):
            ran.append(active.entry.name)
            return
        try:
            found = [_checked(f) for f in registry.load(active.entry.name).check(facts, active.options)]
        except Exception as error:
            crashes.add(active.entry.name, error)
            return
        ran.append(active.entry.name)
        yielded.extend((active, finding) for finding in found)

    for active in selection.rules:
        reason = needs.missing(active.entry.needs)
        if reason is None:
            ask(active)
        else:
            skipped[active.entry.name] = reason
    highest = contested(yielded)
    if highest is not None:
        for active in selection.bystanders:
            if active.entry.rank <= highest and needs.missing(active.entry.needs) is None:
                ask(active)
    verdicts = _verdicts(facts, crashes) if options.verdicts and cluster.inventory.workloads else {}
    zone_loss = _zone_loss(facts, crashes) if options.zone_losses and verdicts else ()

    drafts: list[Draft] = []
    world = effective_world(cluster.inventory, cluster.settings)
    resolver = Resolver(cluster.inventory, places)
    hooks = _hooks(cluster.inventory)
    for active, finding in settle(yielded):
        if active.selected and not _passing(finding, hooks):
            try:
                verdict = verdicts.get(finding.workload) if finding.workload else None
                draft = resolver.draft(finding, active.entry.name, verdict)
                draft.severity, draft.message = settled(active, finding, world)
                drafts.append(draft)
            except Exception as error:
                crashes.add(active.entry.name, error)
    places.update(resolver.new)
    drafts.extend(crashes.drafts())
    for draft in drafts:
        draft.clusters = (cluster.name,) if cluster.name else ()
    trusted = frozenset(ran) - crashes.rules
    return _ClusterRun(drafts, tuple(verdicts.values()), skipped, trusted, bool(crashes.rules), zone_loss)


def _checked(finding: object) -> Finding:
    if not isinstance(finding, Finding):
        raise TypeError(f"a rule yields findings, not {finding!r:.80}")
    return finding


def _verdicts(facts: Facts, crashes: Crashes) -> Mapping[str, WorkloadVerdict]:
    try:
        return facts.verdicts
    except Exception as error:
        crashes.add("placement", error)
        return {}


def _zone_loss(facts: Facts, crashes: Crashes) -> tuple[ZoneRow, ...]:
    from unpend.placement.zone_shift import zone_losses

    try:
        return tuple(row for _, row in zone_losses(facts).rows())
    except Exception as error:
        crashes.add("placement", error)
        return ()


_FOUND_HERE: dict[WorldKind, str] = {
    "pools": "in the pools found here",
    "nodes": "in the nodes found here",
    "workloads": "among the workloads found here",
    "daemonsets": "with the DaemonSets found here",
    "pdbs": "with the PodDisruptionBudgets found here",
    "namespaces": "among the namespaces found here",
    "classes": "among the classes found here",
    "claims": "among the claims found here",
}


def settled(active: ActiveRule, finding: Finding, world: World) -> tuple[Severity, str]:
    """Severity and message: the config's severity, else the finding's, else the rule's; a hint where the world is open.

    A statement that takes something for complete that is not known to be complete is no more than a hint, and says so.
    """
    assumed = active.entry.assumes_closed if finding.assumes_closed is None else finding.assumes_closed
    for kind in assumed:
        if getattr(world, kind) == "open":
            text = finding.message.removesuffix(".")
            return "info", f"{text} ({_FOUND_HERE[kind]}){finding.message[len(text) :]}"
    return active.severity or finding.severity or active.entry.severity, finding.message


def _judged(drafts: Iterable[Draft], selected: Mapping[str, ActiveRule]) -> list[Draft]:
    """Drafts that the engine made itself: only of selected rules, with the severity of the config where it has one."""
    kept = []
    for draft in drafts:
        active = selected.get(draft.rule)
        if active is not None:
            draft.severity = active.severity or draft.severity
            kept.append(draft)
    return kept


def _skipped(runs: Mapping[str, _ClusterRun]) -> tuple[SkippedRule, ...]:
    """Rules that were not asked: of all clusters with one reason, else with the clusters that the reason is about."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for cluster, outcome in runs.items():
        for rule, reason in outcome.skipped.items():
            reasons.setdefault(rule, {}).setdefault(reason, []).append(cluster)
    out = []
    for rule, by_reason in sorted(reasons.items()):
        for reason, clusters in by_reason.items():
            everywhere = len(clusters) == len(runs)
            out.append(SkippedRule(rule, reason if everywhere else f"{reason} for {', '.join(clusters)}"))
    return tuple(out)


def _notices(clusters: Sequence[ClusterInput], today: date | None) -> tuple[Notice, ...]:
    found = [notice for c in clusters for notice in notices(c.troubles)]
    for cluster in clusters:
        if cluster.inventory.node_pools or cluster.inventory.node_groups:
            from unpend.catalog.catalog import age_warning
            from unpend.catalog.load import catalogs_of

            ages = (age_warning(catalog, today) for catalog in catalogs_of(cluster.settings))
            found += [Notice(age, severity="warning") for age in ages if age is not None]
        if cluster.settings.zone_shift:
            from unpend.placement.zone_shift import zones_nowhere

            found += [
                Notice(f"zone shift: no pool or Node{_of(cluster.name)} is in zone {zone}", severity="warning")
                for zone in zones_nowhere(cluster.inventory, cluster.settings)
            ]
    return tuple(dict.fromkeys(found))


def _of(cluster: str) -> str:
    return f" of {cluster}" if cluster else ""
