"""Pools: what every pool is, which nodes it could make, who reaches it; as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from unpend.algebra.quantity import render as amount
from unpend.disruption.budgets import PoolBudgets
from unpend.model.found_settings import FoundSetting
from unpend.model.pod import Taint
from unpend.placement.pool_summary import Breadth, MachineType, Overlap, PoolReport, Reach
from unpend.placement.verdict import ASSUMPTIONS, place_to_dict
from unpend.records import dataclass, field
from unpend.report.jsontext import dumps
from unpend.report.options import ReportOptions
from unpend.report.pool_week import week_lines, week_to_dict
from unpend.report.summary import counted
from unpend.report.terminal import Paint, pad, printable, width, wrap

_USABLE = {"yes": "good", "no": "error", "unknown": "warning"}
_SAYS = {"yes": "yes", "no": "no", "unknown": "?"}
_LABEL = 14
_GIB_MILLI = 1000 * 2**30
_MOST_WORKLOADS = 12
_REACHES = {"fits": "takes", "conditional": "perhaps takes", "loop": "launches nodes in vain for"}


@dataclass(frozen=True, slots=True)
class ClusterPools:
    """The pools of one cluster. `complete`: there is no other capacity. `workloads` is how many were asked."""

    cluster: str
    pools: tuple[PoolReport, ...]
    complete: bool
    workloads: int = 0
    budgets: Mapping[str, PoolBudgets] = field(default_factory=dict)
    settings: tuple[FoundSetting, ...] = ()


def render(clusters: Sequence[ClusterPools], options: ReportOptions) -> str:
    """The report for people: per cluster a table, then every pool."""
    writer = _Writer(options)
    return "\n".join(line for cluster in clusters for line in writer.cluster(cluster)) + "\n"


def render_json(clusters: Sequence[ClusterPools], options: ReportOptions) -> str:
    """The envelope as a text; its schema is `pools.schema.json` of `unpend_schemas`."""
    return dumps(envelope(clusters, options))


def envelope(clusters: Sequence[ClusterPools], options: ReportOptions) -> dict[str, Any]:
    """The envelope as plain data; lines and columns are one-based."""
    used = sorted({a for c in clusters for p in c.pools for a in p.assumptions}, key=lambda a: int(a[1:]))
    return {
        "version": 1,
        "tool": {
            "name": "unpend",
            "version": options.version,
            "catalog": options.catalog_date,
            "karpenter": options.karpenter_version,
        },
        "pools": [
            pool.to_dict() | {"budgets": week_to_dict(c.budgets[pool.pool]) if pool.pool in c.budgets else None}
            for c in clusters
            for pool in c.pools
        ],
        "clusters": [
            {"name": c.cluster or None, "complete": c.complete, "workloads": c.workloads, "settings": _settings(c)}
            for c in clusters
        ],
        "assumptions": [{"id": a, "message": ASSUMPTIONS.get(a, "")} for a in used],
    }


def _settings(cluster: ClusterPools) -> list[dict[str, Any]]:
    return [
        {"name": one.field, "value": one.value, "at": place_to_dict(one.place)}
        for one in sorted(cluster.settings, key=lambda one: one.field)
    ]


class _Writer:
    def __init__(self, options: ReportOptions) -> None:
        self._paint = Paint(options.color)
        self._columns = options.width
        self._catalog = options.catalog_date

    def cluster(self, found: ClusterPools) -> list[str]:
        lines = wrap(self._heading(found), self._columns, rest="  ")
        if not found.pools:
            return [*lines, ""]
        lines += ["", *self._table(found.pools)]
        for pool in found.pools:
            lines += ["", *self._pool(pool, found)]
        lines.append("")
        if found.settings:
            lines += self._found(found.settings)
        used = sorted({a for p in found.pools for a in p.assumptions}, key=lambda a: int(a[1:]))
        if used:
            lines += wrap("assumes: " + "; ".join(f"{a} {ASSUMPTIONS.get(a, '')}".strip() for a in used), self._columns)
        if self._catalog and any(p.kind == "NodePool" and p.types is not None for p in found.pools):
            text = f"types and prices are those of the catalogue of {self._catalog}; prices are on-demand, USD an hour"
            lines += wrap(text, self._columns, rest="  ")
        return lines

    def _found(self, settings: Sequence[FoundSetting]) -> list[str]:
        lines = ["settings of Karpenter, as found where it is deployed:"]
        for one in sorted(settings, key=lambda one: one.field):
            location = one.place.location()
            where = "" if location is None else f"  ({location.uri}:{location.span.start.line + 1})"
            value = str(one.value).lower() if isinstance(one.value, bool) else str(one.value)
            lines += wrap(
                printable(f"{one.field.removeprefix('karpenter.')}: {value}{where}"), self._columns, "  ", "    "
            )
        return [*lines, ""]

    def _heading(self, found: ClusterPools) -> str:
        counts = [sum(1 for p in found.pools if p.usable == usable) for usable in ("yes", "no", "unknown")]
        parts = [
            text
            for count, text in zip(counts, ("can have nodes", "cannot", "cannot be judged"), strict=True)
            if count
            for text in [f"{count} {text}"]
        ]
        head = f"cluster {printable(found.cluster)}: " if found.cluster else ""
        if not found.pools:
            return f"{head}no pool was found among the files"
        world = "there is no other capacity" if found.complete else "there may be others that are not among the files"
        return f"{head}{counted(len(found.pools), 'pool', 'pools')} ({', '.join(parts)}); {world}"

    def _table(self, pools: Sequence[PoolReport]) -> list[str]:
        header = ("pool", "nodes", "types", "arch", "capacity", "zones", "taints", "workloads")
        rows = [_row(pool) for pool in pools]
        used = [n for n in range(len(header)) if n < 2 or any(row[n] for row in rows)]
        while True:
            sizes = [max(width(row[n]) for row in (header, *rows)) for n in used]
            if sum(sizes) + 2 * len(sizes) <= self._columns or len(used) <= 3:
                break
            used.remove(next(n for n in (4, 3, 6, 5, 2, 7) if n in used))
        lines = [
            "  " + self._paint("dim", "  ".join(pad(header[n], s) for n, s in zip(used, sizes, strict=True)).rstrip())
        ]
        for pool, row in zip(pools, rows, strict=True):
            cells = [pad(row[n], size) for n, size in zip(used, sizes, strict=True)]
            cells[1] = self._paint(_USABLE[pool.usable], row[1]) + " " * (sizes[1] - width(row[1]))
            lines.append(("  " + "  ".join(cells)).rstrip())
        return lines

    def _pool(self, pool: PoolReport, found: ClusterPools) -> list[str]:
        lines = [self._paint("bold", printable(pool.pool))]
        location = pool.place.location() if pool.place is not None else None
        if location is not None:
            start = location.span.start
            where = f"{printable(location.uri)}:{start.line + 1}:{start.column + 1}"
            lines[0] += f"  at {self._paint('place', where)}"
        if pool.usable != "yes":
            text = f"{pool.why} [{pool.semantics}]" if pool.semantics else pool.why
            label = "unclear" if pool.usable == "unknown" else "no pods" if pool.kind == "Node" else "no nodes"
            lines += self._entry(label, text, _USABLE[pool.usable])
        for label, text in _entries(pool):
            lines += self._entry(label, text)
        budgets = found.budgets.get(pool.pool)
        if budgets is not None and pool.usable != "no":
            indent = " " * (_LABEL + 3)
            first, drawing, last = week_lines(budgets, self._columns - len(indent))
            lines += self._entry("disruption", first)
            lines += [(indent + line).rstrip() for line in drawing]
            lines += [line for text in last for line in wrap(text, self._columns, indent, indent + "  ")]
        if found.workloads:
            lines += self._entry("workloads", _reach_text(pool.reach))
        for overlap in pool.overlaps:
            lines += self._entry("overlaps", _overlap_text(pool.pool, overlap))
        return lines

    def _entry(self, label: str, text: str, style: str = "dim") -> list[str]:
        plain = f"  {label:<{_LABEL}} "
        lines = wrap(printable(text), self._columns, plain, " " * len(plain))
        lines[0] = f"  {self._paint(style, label)}{' ' * (_LABEL - len(label))} {lines[0][len(plain) :]}"
        return lines


def _row(pool: PoolReport) -> tuple[str, ...]:
    reach = [sum(1 for r in pool.reach if r.verdict == verdict) for verdict in ("fits", "conditional", "loop")]
    said = [f"{n}{mark}" for n, mark in zip(reach, ("", "?", " loop"), strict=True) if n]
    zones = ", ".join(pool.zones) if len(pool.zones) <= 1 else _shortened(pool.zones)
    return tuple(
        printable(cell)
        for cell in (
            pool.pool,
            _nodes(pool),
            "" if pool.types is None else str(pool.types),
            ", ".join(pool.architectures),
            ", ".join(pool.capacity_types),
            zones if pool.zones_known or not pool.zones else f"{zones}?",
            ", ".join(dict.fromkeys(taint.key for taint in pool.taints)),
            ", ".join(said),
        )
    )


def _nodes(pool: PoolReport) -> str:
    if pool.usable != "yes" or pool.size is None:
        return {"yes": "as needed", "no": "none", "unknown": "?"}[pool.usable]
    low, high = pool.size.minimum, pool.size.maximum
    if low == high and low is not None:
        return str(low)
    return f"{'?' if low is None else low} to {'?' if high is None else high}"


def _shortened(zones: Sequence[str]) -> str:
    """`eu-central-1a, b, c`: zones of one region by their letters."""
    stem = zones[0][:-1]
    if all(zone[:-1] == stem and zone[-1:].isalpha() for zone in zones):
        return ", ".join((zones[0], *(zone[-1] for zone in zones[1:])))
    return ", ".join(zones)


def _entries(pool: PoolReport) -> Iterable[tuple[str, str]]:
    if pool.node_class:
        yield "node class", pool.node_class
    if pool.order is not None:
        weight = f", weight {pool.weight}" if pool.weight else ", no weight"
        yield "order", f"Karpenter tries it as number {pool.order}{weight}"
    if pool.size is not None and pool.kind == "NodeGroup":
        scaled = "scaled by Cluster Autoscaler" if pool.autoscaler else "no autoscaler is known to scale it"
        yield "size", f"{_nodes(pool)} nodes; {scaled}"
    if pool.usable == "no" and pool.kind != "Node":
        yield from _taint_entries(pool)
        return
    if pool.types is not None and pool.kind != "Node":
        archs = f" ({', '.join(pool.architectures)})" if pool.architectures else ""
        yield "types", f"{pool.types}{archs}"
    if pool.zones:
        known = "" if pool.zones_known else " (its subnets are not known)"
        yield "zones", f"{', '.join(pool.zones)}{known}"
    elif not pool.zones_known and pool.kind == "NodePool" and pool.types is not None:
        yield "zones", "not known: no subnets in the status of its node class, no zones in the config"
    if pool.capacity_types and pool.kind != "Node":
        choice = [f"{name} {_breadth_text(breadth)}" if breadth else name for name, breadth in _capacity(pool)]
        yield "capacity", "; ".join(choice)
    if pool.largest is not None:
        label = "largest" if pool.kind != "Node" else "allocatable"
        yield label, _machine_text(pool.largest, named=pool.kind != "Node" or pool.types is not None)
    if pool.cheapest is not None:
        yield "cheapest", _machine_text(pool.cheapest)
    if pool.limits:
        yield "limits", ", ".join(f"{name} {text}" for name, text in pool.limits.items())
    yield from _taint_entries(pool)
    for text in pool.unknown:
        yield "not known", text


def _taint_entries(pool: PoolReport) -> Iterable[tuple[str, str]]:
    if pool.taints:
        yield "taints", ", ".join(map(_taint_text, pool.taints))
    if pool.startup_taints:
        yield "startup taints", ", ".join(map(_taint_text, pool.startup_taints))


def _capacity(pool: PoolReport) -> Iterable[tuple[str, Breadth | None]]:
    known = {"spot": pool.spot, "on-demand": pool.on_demand}
    for name in pool.capacity_types:
        yield name, known.get(name)


def _breadth_text(breadth: Breadth) -> str:
    types = counted(breadth.types, "type", "types")
    return types if breadth.pools is None else f"{types}, {breadth.pools} pairs of type and zone"


def _machine_text(machine: MachineType, named: bool = True) -> str:
    left = machine.allocatable
    parts = [f"{left.get('cpu', 0) / 1000:.4g} cpu", f"{left.get('memory', 0) / _GIB_MILLI:.4g} GiB memory"]
    devices = [f"{amount(n, name)} {name}" for name, n in left.items() if "/" in name and not name.startswith("vpc.")]
    text = ", ".join((*parts, *devices))
    price = "" if machine.price is None else f", ${machine.price:.4g} an hour"
    return f"{machine.name}: {text} for pods{price}" if named else f"{text} for pods"


def _taint_text(taint: Taint) -> str:
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"


def _reach_text(reach: Sequence[Reach]) -> str:
    if not reach:
        return "takes none"
    parts = []
    for verdict, said in _REACHES.items():
        names = [r.workload for r in reach if r.verdict == verdict]
        if names:
            more = f" and {len(names) - _MOST_WORKLOADS} more" if len(names) > _MOST_WORKLOADS else ""
            parts.append(f"{said} {', '.join(names[:_MOST_WORKLOADS])}{more}")
    return "; ".join(parts)


def _overlap_text(name: str, overlap: Overlap) -> str:
    other = overlap.second if overlap.first == name else overlap.first
    types = "" if overlap.types is None else f", {counted(overlap.types, 'type', 'types')} in common"
    order = "before it" if overlap.first == name else "after it"
    why = "by weight" if overlap.weighted else "only because of the names: the weights are equal"
    return f"{other}{types}; this pool is tried {order}, {why}"
