"""Cold starts: a table over all workloads, a waterfall of the longest path, what would shorten it; as text and JSON."""

from __future__ import annotations

from collections.abc import Sequence

from unpend.report.jsontext import dumps
from unpend.report.options import ReportOptions
from unpend.report.summary import counted
from unpend.report.terminal import Paint, pad, printable, width, wrap
from unpend.startup.analysis import ColdStart, PoolPaths
from unpend.startup.levers import Lever
from unpend.startup.stages import PATH_KINDS, PATH_TITLES, Path, shown, shown_range

_MOST_DETAILED = 5
_MOST_WIDTH = 80
_LABEL = 22
_TIME = 10
_MOST_LEVERS = 6
_HEADER = ("workload", "runtime", "pool", "cached", "pulled", "new node", "budget")


def render(starts: Sequence[ColdStart], options: ReportOptions, *, detailed: bool = False) -> str:
    """The report for people; `detailed` shows the waterfall of every workload, otherwise only where they are few."""
    writer = _Writer(options)
    with_paths = [start for start in starts if start.pools]
    blocks = [writer.table(starts)] if starts else []
    if detailed or len(with_paths) <= _MOST_DETAILED:
        blocks += [writer.workload(start) for start in starts]
    elif with_paths:
        blocks.append(["The waterfall of one workload: -w KIND/NS/NAME."])
    if with_paths:
        blocks.append(writer.legend())
    blocks.append([_summary(starts)])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def render_json(starts: Sequence[ColdStart], options: ReportOptions) -> str:
    """The envelope as a text; its schema is `startup.schema.json` of `unpend_schemas`."""
    return dumps(
        {
            "version": 1,
            "tool": {"name": "unpend", "version": options.version},
            "workloads": [start.to_dict() for start in starts],
        }
    )


def _summary(starts: Sequence[ColdStart]) -> str:
    if not starts:
        return "No workloads."
    over = sum(1 for start in starts if start.over_budget)
    budgets = sum(1 for start in starts if start.over_budget is not None)
    without = sum(1 for start in starts if not start.pools)
    text = counted(len(starts), "workload", "workloads")
    if budgets:
        text += f", {over} of {budgets} over {'its' if budgets == 1 else 'their'} budget"
    if without:
        text += f", {without} without a path"
    return text + "."


class _Writer:
    def __init__(self, options: ReportOptions) -> None:
        self._paint = Paint(options.color)
        self._columns = min(options.width, _MOST_WIDTH) if options.width else _MOST_WIDTH

    def table(self, starts: Sequence[ColdStart]) -> list[str]:
        """One line for each workload and pool, with the typical times."""
        rows = [row for start in starts for row in _rows(start)]
        used = [n for n in range(len(_HEADER)) if n < 3 or any(row[n] for row in rows)]
        sizes = {n: max(width(row[n]) for row in (_HEADER, *rows)) for n in used}
        for column, least in ((0, 16), (2, 12)):  # long names of workloads, then of pools, lose their beginning
            over = sum(sizes[n] + 2 for n in used) - self._columns
            sizes[column] -= min(max(over, 0), max(sizes[column] - least, 0))
        lines = []
        for number, row in enumerate((_HEADER, *rows)):
            cells = [pad(_short(row[n], sizes[n]), sizes[n]) for n in used]
            text = "  " + "  ".join(cells).rstrip()
            lines.append(self._paint("dim", text) if number == 0 else self._marked(text))
        return lines

    def _marked(self, text: str) -> str:
        return text.removesuffix(" over") + " " + self._paint("warning", "over") if text.endswith(" over") else text

    def workload(self, start: ColdStart) -> list[str]:
        """One workload: its pools with their paths, the waterfall of the slowest one, what would shorten it."""
        name = printable(start.workload)
        lines = [self._paint("bold", name)]
        location = start.place.location() if start.place is not None else None
        if location is not None:
            where = f"{printable(location.uri)}:{location.span.start.line + 1}:{location.span.start.column + 1}"
            lines.append(f"  at {self._paint('place', where)}")
        if start.cluster:
            lines.append(f"  cluster {printable(start.cluster)}")
        lines += self._paragraph(f"runtime: {_runtime(start)}")
        if start.budget is not None:
            text = f"budget: {shown(start.budget.seconds)} ({start.budget.origin})"
            if start.over_budget is not None:
                text += ": the longest path typically takes " + ("more" if start.over_budget else "less")
            lines += self._paragraph(text)
        if not start.pools:
            return lines + self._paragraph(f"no path: {start.reason}")
        for pool in start.pools:
            lines += ["", *self._pool(pool)]
        slowest = start.slowest
        assert slowest is not None
        lines += ["", *self._waterfall(slowest)]
        return lines

    def _pool(self, pool: PoolPaths) -> list[str]:
        cause = f", {pool.verdict} ({pool.cause})" if pool.cause else ""
        lines = self._paragraph(f"{pool.pool} (profile {pool.profile}{cause})")
        for kind in PATH_KINDS:
            path = pool.path(kind)
            title = PATH_TITLES[kind]
            if path is None:
                lines += wrap(printable(f"{title}: {pool.why_no_node}"), self._columns, "    ", "      ")
                continue
            dominating = path.dominating
            by = f"; most of it: {dominating.title}" if dominating is not None else ""
            lines += wrap(f"{title}: {shown_range(path.total)}{by}", self._columns, "    ", "      ")
        return lines

    def _waterfall(self, pool: PoolPaths) -> list[str]:
        path = pool.longest
        lines = self._paragraph(f"{pool.pool}, {PATH_TITLES[path.kind]}, typically {shown(path.total.typical)}:")
        lines += waterfall(path, self._columns, self._paint)
        levers = [lever for lever in pool.levers_on(path) if lever.typical > 0 or lever.most > 0]
        if levers:
            lines += ["", *self._paragraph("what would shorten it (typically, and at most):")]
            lines += [self._lever(lever) for lever in levers[:_MOST_LEVERS]]
        for lever in levers[:_MOST_LEVERS]:
            for one in lever.trade_offs[:1]:
                text = f"{lever.name}: {one.fact} ({one.source}; {one.condition})"
                lines += wrap(printable(text), self._columns, "    - ", "      ")
        return lines

    def _lever(self, lever: Lever) -> str:
        title = _short(lever.title, self._columns - 34)
        share = lever.share * 100
        part = f"{share:.0f} %" if share >= 9.5 else f"{share:.1f} %"
        times = f"{shown(lever.typical):>{_TIME}} {part:>7} {shown(lever.most):>{_TIME}}"
        return f"    {pad(title, self._columns - 34)} {times}"

    def legend(self) -> list[str]:
        """How to read the report."""
        text = (
            "Times are intervals of a profile, not measurements of this cluster, until unpend calibrate has made one. "
            "In the waterfall # is the typical time of a stage, . what it takes at worst."
        )
        return [self._paint("dim", line) for line in wrap(text, self._columns)]

    def _paragraph(self, text: str) -> list[str]:
        return wrap(printable(text), self._columns, "  ", "    ")


def waterfall(path: Path, columns: int, paint: Paint) -> list[str]:
    """The stages one under the other, each where it begins typically; at most `columns` wide."""
    room = columns - 4 - _LABEL - 1 - _TIME - 1
    whole = path.total.typical or 1.0
    dominating = path.dominating
    lines = []
    before = 0.0
    for stage in path.stages:
        begin = min(int(before / whole * room), room - 1)
        before += stage.interval.typical
        end = max(begin + 1, round(before / whole * room))
        late = min(room, max(end, round((before + stage.interval.worst - stage.interval.typical) / whole * room)))
        bar = "#" * (min(end, room) - begin)
        label = pad(_short(stage.title, _LABEL), _LABEL)
        shade = paint("warning", bar) if stage is dominating else bar
        tail = "." * (late - min(end, room))
        lines.append(
            f"    {label} {shown(stage.interval.typical):>{_TIME}} {' ' * begin}{shade}{paint('dim', tail)}".rstrip()
        )
    return lines


def _rows(start: ColdStart) -> list[tuple[str, ...]]:
    runtime = start.family or f"? ({start.handler})"
    name = printable(start.workload)
    if not start.pools:
        return [(name, printable(runtime), f"none: {start.verdict}", "", "", "", "")]
    rows = []
    for number, pool in enumerate(start.pools):
        times = [_time(pool.path(kind)) for kind in PATH_KINDS]
        budget = ""
        if start.budget is not None:
            over = pool.longest.total.typical > start.budget.seconds
            budget = f"{shown(start.budget.seconds)} {'over' if over else 'ok'}"
        head = (name, printable(runtime)) if number == 0 else ("", "")
        rows.append((*head, printable(pool.pool), *times, budget))
    return rows


def _time(path: Path | None) -> str:
    return "-" if path is None else shown(path.total.typical)


def _runtime(start: ColdStart) -> str:
    if start.runtime_class is None:
        return f"{start.family} (no RuntimeClass)"
    family = start.family or "not known: no entry of `handlers` in the profile has it"
    return f"{family} (RuntimeClass {start.runtime_class}, handler {start.handler})"


def _short(text: str, columns: int) -> str:
    """A text that fits; its end says more than its beginning."""
    if width(text) <= columns:
        return text
    return "…" + text[-(columns - 1) :]
