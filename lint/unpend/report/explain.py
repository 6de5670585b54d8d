"""Explain: for each workload who says no in which pool, with both places, and what would have to change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from unpend.engine.result import Result
from unpend.placement.verdict import (
    ASSUMPTIONS,
    Against,
    Answer,
    Obstacle,
    PoolVerdict,
    Repair,
    Verdict,
    Witness,
    WorkloadVerdict,
)
from unpend.report.options import ReportOptions
from unpend.report.summary import counted
from unpend.report.terminal import Paint, pad, printable, width, wrap
from unpend.report.text import Texts, place_lines
from unpend.report.zone_matrix import zone_matrix
from unpend.source.place import Place

_STYLE: dict[Verdict, str] = {
    "fits": "good",
    "conditional": "warning",
    "loop": "error",
    "partial": "error",
    "never": "error",
    "skipped": "dim",
}
_MEANING: dict[Verdict, str] = {
    "fits": "can be placed",
    "conditional": "can be placed if the facts below hold",
    "loop": "the autoscaler makes nodes that the scheduler then refuses",
    "partial": "only some replicas can be placed",
    "never": "can never be placed",
    "skipped": "nothing to place",
}
_ANSWER: dict[Answer, str] = {"yes": "yes", "no": "no", "unknown": "?"}
_AUTOSCALER = {"karpenter": "Karpenter", "cluster-autoscaler": "Cluster Autoscaler"}
_SAYS = {"scheduler": "kube-scheduler", "karpenter": "Karpenter", "autoscaler": "Cluster Autoscaler"}
_LEGEND = (
    "How to read it: for each pool, would the autoscaler launch a node for the pod, and would kube-scheduler put it "
    "there; ? depends on what is said beneath. A number in brackets is the constraint that is refused."
)
_NO_POOL = (
    "no Node, NodePool or node group is among the files: name what makes nodes with --pools PATH, or as pools of a "
    "cluster in .unpend.yaml"
)
_GUTTER = 6
_ALWAYS = (0, 1, 3)
_MOST_POOLS = 20
_Identity = tuple[str, str]


def render(result: Result, options: ReportOptions) -> str:
    """The explanation of every workload of the result; a sentence with the counts last."""
    writer = _Writer(result, options)
    blocks = [writer.workload(verdict) for verdict in result.workloads]
    for group in result.contention:
        blocks.append(wrap(printable(f"Cannot all run at once: {', '.join(group)}"), options.width, rest="  "))
    if any(verdict.pools and verdict.verdict != "skipped" for verdict in result.workloads):
        blocks.append([writer.dim(line) for line in wrap(_LEGEND, options.width)])
    if result.zone_loss:
        blocks.append(zone_matrix(result.zone_loss, options))
    blocks.append([_counts(result.workloads)])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _counts(verdicts: Sequence[WorkloadVerdict]) -> str:
    order: tuple[Verdict, ...] = ("fits", "conditional", "loop", "partial", "never", "skipped")
    found = [f"{n} {name}" for name in order if (n := sum(1 for v in verdicts if v.verdict == name))]
    head = counted(len(verdicts), "workload", "workloads")
    return f"{head}: {', '.join(found)}." if found else "No workloads."


class _Writer:
    def __init__(self, result: Result, options: ReportOptions) -> None:
        self._texts = Texts(result.texts)
        self._paint = Paint(options.color)
        self._columns = options.width
        self._catalog = options.catalog_date

    def dim(self, text: str) -> str:
        """A text that is less important."""
        return self._paint("dim", text)

    def workload(self, verdict: WorkloadVerdict) -> list[str]:
        cause = f" ({verdict.cause})" if verdict.cause else ""
        name = printable(verdict.workload)
        said = f"{verdict.verdict}{cause}"
        head, *lines = wrap(f"{name}: {said}, {_meaning(verdict)}", self._columns, rest="  ")
        if head.startswith(f"{name}: {said}"):
            rest = head[len(f"{name}: {said}") :]
            head = f"{self._paint('bold', name)}: {self._paint(_STYLE[verdict.verdict], said)}{rest}"
        lines.insert(0, head)
        location = verdict.place.location() if verdict.place is not None else None
        if location is not None:
            start = location.span.start
            lines.append(
                f"  at {self._paint('place', f'{printable(location.uri)}:{start.line + 1}:{start.column + 1}')}"
            )
        if verdict.cluster:
            lines.append(f"  cluster {printable(verdict.cluster)}")
        lines += self._replicas(verdict)
        if verdict.certainty != "proved":
            lines += self._paragraph(f"certainty: {self._certainty(verdict)}")
        if verdict.verdict == "skipped":
            return lines + self._skipped(verdict)
        if verdict.cause == "rejected":
            return lines + [""] + [line for obstacle in verdict.conflict for line in self._obstacle(obstacle)]
        constraints = _constraints(verdict.pools)
        lines += self._pools(verdict.pools, constraints)
        lines += self._constraints(constraints)
        lines += self._conflict(verdict.conflict, constraints)
        lines += self._facts(verdict)
        if verdict.witness is not None:
            lines += ["", *self._paragraph(f"can run on, for example: {_witness(verdict.witness)}")]
        if verdict.nearest is not None:
            lines += self._repair(verdict.nearest)
        if verdict.spot is not None:
            types, pairs = verdict.spot.types, verdict.spot.pools
            spot = f"{counted(types, 'type', 'types')}, {counted(pairs, 'pair', 'pairs')} of type and zone"
            lines += self._paragraph(f"spot choice: {spot if types else 'none, on-demand only'}")
        if verdict.assumptions:
            leans = "; ".join(f"{a} {ASSUMPTIONS.get(a, '')}".strip() for a in verdict.assumptions)
            lines += self._paragraph(f"assumes: {leans}")
        return lines

    def _certainty(self, verdict: WorkloadVerdict) -> str:
        if verdict.certainty == "catalog":
            return f"as good as the catalogue of instance types{f' of {self._catalog}' if self._catalog else ''}"
        return {"assumed": "under the assumptions below", "heuristic": "a rule of thumb"}[verdict.certainty]

    def _skipped(self, verdict: WorkloadVerdict) -> list[str]:
        if not verdict.workload.startswith("DaemonSet/"):
            return []
        return self._paragraph("it goes with the nodes that a pool makes, and takes room there from other pods")

    def _paragraph(self, text: str, indent: int = 2) -> list[str]:
        return wrap(printable(text), self._columns, " " * indent, " " * (indent + 2))

    def _replicas(self, verdict: WorkloadVerdict) -> list[str]:
        counts = verdict.replicas
        if verdict.verdict == "skipped":
            return []
        if not counts.needed:  # a DaemonSet of nodes that do not exist yet
            where = f"; zones: {', '.join(verdict.zones)}" if verdict.zones else ""
            return self._paragraph(f"replicas: one on each node that its pools make{where}")
        if counts.at_least == counts.at_most:
            can = f"{counts.at_most} of {counts.needed}"
        else:
            can = f"between {counts.at_least} and {counts.at_most} of {counts.needed}"
        text = f"replicas: {can} can run"
        if counts.wanted != counts.needed:
            text += f" ({counts.wanted} wanted)"
        for name, other in (("during a rollout", counts.rollout), ("at the autoscaler's maximum", counts.maximum)):
            if other is not None and other.at_most is not None:
                text += f"; {name} {other.at_most} of {other.needed}"
        if verdict.zones:
            text += f"; zones: {', '.join(verdict.zones)}"
        return self._paragraph(text)

    def _pools(self, pools: Sequence[PoolVerdict], constraints: Mapping[_Identity, _Constraint]) -> list[str]:
        if not pools:
            return ["", *self._paragraph(_NO_POOL)]
        names = sorted({p.autoscaler for p in pools if p.autoscaler is not None})
        autoscaler = "autoscaler" if len(names) != 1 else _AUTOSCALER.get(names[0], names[0])
        header = ("pool", "verdict", autoscaler, "kube-scheduler", "because of", "types", "zones")
        numbers = [sorted({constraints[_identity(o)].number for o in pool.obstacles}) for pool in pools]
        rows = [_row(pool, refused) for pool, refused in zip(pools, numbers, strict=True)]
        table = _Table(header, rows)
        if table.columns > self._columns:  # a narrow terminal: causes are left out, zones counted instead of named
            rows = [
                (row[0], pool.verdict, *row[2:6], str(len(pool.zones)) if pool.zones else "")
                for row, pool in zip(rows, pools, strict=True)
            ]
            table = _Table((*header[:3], "scheduler", *header[4:]), rows)
        styles = [_STYLE[pool.verdict] for pool in pools]
        return ["", self._paint("dim", table.line(header=True)), *table.lines(styles, self._paint)]

    def _constraints(self, constraints: Mapping[_Identity, _Constraint]) -> list[str]:
        """Every constraint that some pool refuses: once with excerpts, the pools after the first one by name."""
        lines: list[str] = []
        for identity, constraint in constraints.items():
            first_pool, first = constraint.refusals[0]
            lines += ["", self._title(constraint.number, identity), *self._obstacle(first)]
            others: list[tuple[str, Obstacle]] = []
            for pool, obstacle in constraint.refusals[1:]:
                if pool == first_pool:  # the other decider, about the same pool
                    lines += self._message(obstacle)
                    if obstacle.against is not None and not _same(obstacle.against.place, first.against):
                        lines += self._against(obstacle)
                elif all(pool != known for known, _ in others):
                    others.append((pool, obstacle))
            if others:
                named = [pool + _at(o.against.place if o.against else None) for pool, o in others[:_MOST_POOLS]]
                more = f" and {len(others) - _MOST_POOLS} more" if len(others) > _MOST_POOLS else ""
                prefix = "    likewise: "
                lines += wrap(printable(", ".join(named) + more), self._columns, prefix, "      ")
        return lines

    def _title(self, number: int, identity: _Identity) -> str:
        kind, path = identity
        head = f"[{number}] {kind}"
        path = printable(path)
        if len(head) + len(path) + 3 > self._columns:  # the end of a path says most
            path = "…" + path[-(self._columns - len(head) - 4) :].partition(".")[2]
        return f"  {self._paint('bold', head)} {path}".rstrip()

    def _message(self, obstacle: Obstacle) -> list[str]:
        decider = _SAYS.get(obstacle.semantics.partition(":")[0], "")
        who = f"{decider}: " if decider and obstacle.cause not in ("pool-unusable", "rejected") else ""
        return wrap(printable(f"{who}{obstacle.message} [{obstacle.semantics}]"), self._columns, "  - ", "    ")

    def _obstacle(self, obstacle: Obstacle) -> list[str]:
        lines = self._message(obstacle)
        if obstacle.against is None or not _same(obstacle.place, obstacle.against):
            lines += self._place(obstacle.place, "-->", "", "error")
            return lines + self._against(obstacle)
        return lines + self._place(obstacle.place, "-->", "", "error")

    def _against(self, obstacle: Obstacle) -> list[str]:
        side = obstacle.against
        if side is None:
            return []
        return self._place(side.place, ":::", f"{side.object} {side.place}".strip(), "info")

    def _place(self, place: Place | None, arrow: str, message: str, style: str) -> list[str]:
        location = None if place is None else place.location()
        if location is None:
            return []
        return place_lines(location, arrow, message, _GUTTER, style, self._texts, self._paint, self._columns)

    def _conflict(self, listed: Sequence[Obstacle], constraints: Mapping[_Identity, _Constraint]) -> list[str]:
        """A minimal set of constraints; what is shown with its excerpt above is only named here."""
        known = {_identity(o): constraints[_identity(o)].number for o in listed if _identity(o) in constraints}
        others = [o for o in listed if _identity(o) not in constraints]
        if len(known) == 1 and not others and len(constraints) == 1:
            return []  # there is nothing else that it could be
        lines: list[str] = []
        if known or others:
            one = "this one" if len(known) + len(others) == 1 else "any one of these"
            text = f"conflict: without {one} the pool would do"
            lines += ["", *self._paragraph(text)]
        for (kind, path), number in sorted(known.items(), key=lambda entry: entry[1]):
            place = next(o.place for o in listed if _identity(o) == (kind, path))
            lines += self._paragraph(f"- [{number}] {kind}{_at(place)}")
        for obstacle in others:
            lines += self._obstacle(obstacle)
        return lines

    def _facts(self, verdict: WorkloadVerdict) -> list[str]:
        if not verdict.facts:
            return []
        lines = ["", "  depends on:"]
        for fact in verdict.facts:
            lines += wrap(printable(f"{fact.message} ({fact.name})"), self._columns, "  - ", "    ")
            lines += self._place(fact.place, "-->", "", "warning")
        return lines

    def _repair(self, repair: Repair) -> list[str]:
        lines = ["", *self._paragraph(f"nearest pool: {repair.pool}; checked repair:")]
        for number, change in enumerate(repair.changes, 1):
            lines += wrap(printable(change.message + _at(change.place)), self._columns, f"  {number}. ", "     ")
        return lines


def _meaning(verdict: WorkloadVerdict) -> str:
    """The verdict in words; where nothing but capacity is missing, that comes first."""
    if verdict.cause == "rejected":
        return "the API server refuses its pods"
    if verdict.cause == "pool-unusable" and not verdict.pools:
        return "since no capacity was given"
    return _MEANING[verdict.verdict]


def _at(place: Place | None) -> str:
    location = None if place is None else place.location()
    return "" if location is None else f" ({location.uri}:{location.span.start.line + 1})"


def _same(place: Place | None, side: Against | None) -> bool:
    """Whether the other side of an obstacle is the same value."""
    if place is None or side is None:
        return False
    return place == side.place


class _Constraint(NamedTuple):
    """A constraint of the pod under its number, and the pools that refuse it."""

    number: int
    refusals: list[tuple[str, Obstacle]]


def _constraints(pools: Sequence[PoolVerdict]) -> dict[_Identity, _Constraint]:
    """The constraints that pools refuse, in the order in which they are met."""
    found: dict[_Identity, _Constraint] = {}
    for pool in pools:
        for obstacle in pool.obstacles:
            constraint = found.setdefault(_identity(obstacle), _Constraint(len(found) + 1, []))
            constraint.refusals.append((pool.pool, obstacle))
    return found


def _identity(obstacle: Obstacle) -> _Identity:
    return (obstacle.constraint, "" if obstacle.place is None else str(obstacle.place))


def _row(pool: PoolVerdict, refused: Sequence[int]) -> tuple[str, ...]:
    says = "" if pool.autoscaler_says is None else _ANSWER[pool.autoscaler_says]
    cause = f" ({pool.cause})" if pool.cause else ""
    types = "" if pool.types is None else str(pool.types)
    numbers = ", ".join(f"[{number}]" for number in refused)
    zones = ", ".join(pool.zones)
    row = (pool.pool, pool.verdict + cause, says, _ANSWER[pool.scheduler_says], numbers, types, zones)
    return tuple(printable(cell) for cell in row)


class _Table:
    """Columns as wide as their widest cell; a column without any cell is left out unless every table has it."""

    def __init__(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        used = [i for i in range(len(header)) if i in _ALWAYS or any(row[i] for row in rows)]
        self._header = [header[i] for i in used]
        self._rows = [[row[i] for i in used] for row in rows]
        self._sizes = [max(map(width, column)) for column in zip(self._header, *self._rows, strict=True)]
        self.columns = sum(self._sizes) + 2 * len(self._sizes)

    def line(self, row: Sequence[str] = (), *, header: bool = False) -> str:
        cells = self._header if header else row
        return ("  " + "  ".join(map(pad, cells, self._sizes))).rstrip()

    def lines(self, styles: Sequence[str], paint: Paint) -> list[str]:
        """The rows; the second column, the verdict, in the style of its row."""
        painted = []
        for row, style in zip(self._rows, styles, strict=True):
            text = self.line(row)
            before = "  " + pad(row[0], self._sizes[0]) + "  "
            painted.append(before + paint(style, row[1]) + text[len(before) + len(row[1]) :])
        return painted


def _witness(witness: Witness) -> str:
    parts = [witness.pool]
    if witness.node is not None and not witness.pool.endswith(f"/{witness.node}"):
        parts.append(f"node {witness.node}")
    parts += [part for part in (witness.type, witness.zone, witness.capacity_type) if part]
    return ", ".join(parts)
