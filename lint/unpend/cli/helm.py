"""Running the `helm` that is on the PATH: charts and sets of values in, rendered texts out.

Its exit code decides, not what it writes to standard error: a warning there is no reason to lose a chart.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from typing import IO, Any

from unpend.cli.errors import Failure
from unpend.records import dataclass
from unpend.source.document import Trouble
from unpend.source.place import Position, Span

_PLACE = re.compile(r"\(?([^\s():\"]+/templates/[^\s():\"]+):(\d+)(?::(\d+))?")
_PARSE = re.compile(r"parse error on ([^\s:]+/templates/[^\s:]+)")
_LONGEST = 300.0
_MOST_TEXT = 512 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Rendering:
    """One chart with one set of values. Paths are relative to the current folder, `label` names the set."""

    chart: str
    release: str
    label: str = ""
    namespace: str | None = None
    values: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()

    @property
    def uri(self) -> str:
        """How the rendered text is called in locations."""
        return f"<helm {self.chart}{f' {self.label}' if self.label else ''}>"

    def arguments(self) -> list[str]:
        """The arguments of helm."""
        command = ["template", self.release, self.chart]
        if self.namespace is not None:
            command += ["--namespace", self.namespace]
        for file in self.values:
            command += ["--values", file]
        for setting in self.settings:
            command += ["--set", setting]
        return command

    def shown(self) -> str:
        """The command as one would type it."""
        return shlex.join(["helm", *self.arguments()])


@dataclass(frozen=True, slots=True)
class Rendered:
    """What helm gave: the text, or the trouble."""

    rendering: Rendering
    text: str | None
    complaint: str = ""


class Renderings:
    """Renderings at work, as many at once as there are processors; the rest of the run goes on beside them."""

    def __init__(self, renderings: Sequence[Rendering]) -> None:
        """Start the first ones. Raises `Failure` without a helm."""
        helm = shutil.which("helm") if renderings else ""
        if helm is None:
            raise Failure("--helm needs the program `helm` on the PATH, and there is none")
        self._helm = helm
        self._waiting = list(dict.fromkeys(renderings))
        self._running: dict[Rendering, _Process] = {}
        self._most = (os.cpu_count() or 1) + 1
        # A helm lives for a moment: garbage is not worth collecting, nor are threads where others need the processors.
        self._variables = {"GOGC": "400"} if len(self._waiting) < 2 else {"GOGC": "400", "GOMAXPROCS": "1"}
        self._start()

    def _start(self) -> None:
        while self._waiting and len(self._running) < self._most:
            rendering = self._waiting.pop(0)
            self._running[rendering] = _Process(self._helm, rendering, self._variables)

    def finish(self, rendering: Rendering) -> Rendered:
        """What came of it, as soon as it is done; every rendering can be asked for once, in any order."""
        if rendering in self._waiting:
            self._waiting.remove(rendering)
            self._running[rendering] = _Process(self._helm, rendering, self._variables)
        rendered = self._running.pop(rendering).finish()
        self._start()
        return rendered

    def stop(self) -> None:
        """End what still runs."""
        self._waiting.clear()
        while self._running:
            self._running.popitem()[1].stop()


class _Process:
    """One helm at work; it writes to files, so that several can be waited for one after the other."""

    def __init__(self, helm: str, rendering: Rendering, variables: Mapping[str, str]) -> None:
        self._rendering = rendering
        self._out: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed when helm is done
        self._err: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            self._process: subprocess.Popen[Any] = subprocess.Popen(
                [helm, *rendering.arguments()],
                stdin=subprocess.DEVNULL,
                stdout=self._out,
                stderr=self._err,
                env={**variables, **os.environ},
            )
        except OSError as error:
            raise Failure(f"cannot run {helm}: {error.strerror or error}") from None

    def finish(self) -> Rendered:
        """Wait for it."""
        try:
            code = self._process.wait(_LONGEST)
        except subprocess.TimeoutExpired:
            self.stop()
            return Rendered(self._rendering, None, f"it did not end within {_LONGEST:.0f} seconds")
        with self._out, self._err:
            self._out.seek(0)
            self._err.seek(0)
            if code == 0:
                return Rendered(self._rendering, self._out.read(_MOST_TEXT).decode("utf-8", "surrogateescape"))
            text = self._err.read(1 << 20).decode("utf-8", "replace")
            return Rendered(self._rendering, None, _complaint(text) or f"it ended with exit code {code}")

    def stop(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        self._out.close()
        self._err.close()


def _complaint(text: str) -> str:
    """What helm says is wrong: its `Error:` line and what follows, without warnings and hints before it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    start = next((i for i, line in enumerate(lines) if line.startswith("Error:")), 0)
    lines = [line for line in lines[start:] if not line.startswith(("Use --debug", "WARNING:", "level="))]
    return " ".join(lines).removeprefix("Error:").strip()


def trouble_of(rendered: Rendered, chart_file: str, template: str | None = None) -> Trouble:
    """The finding about a chart that does not render, at the template that helm names when `template` is its file."""
    rendering = rendered.rendering
    values = f" with values {rendering.label}" if rendering.label else ""
    hint = ""
    if "missing in charts/" in rendered.complaint:
        hint = f"; run `helm dependency build {rendering.chart}`"
    message = f"helm cannot render {rendering.chart}{values}: {rendered.complaint.rstrip('.')}{hint}."
    line = 0
    if template is not None:
        found = _PLACE.search(rendered.complaint)
        line = max(0, int(found[2]) - 1) if found else 0
    at = Position(line, 0)
    return Trouble("chart", "error", message, template or chart_file, Span(at, at))


def template_named(complaint: str) -> str | None:
    """The template that a complaint of helm is about, as helm calls it; None when it names none."""
    found = _PLACE.search(complaint) or _PARSE.search(complaint)
    return found[1] if found else None
