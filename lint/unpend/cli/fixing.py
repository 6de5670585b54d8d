"""`--fix`, `--unsafe-fixes`, `--diff`: proved fixes into the files, or shown; and fixes for reports that carry them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from unpend.cli.errors import Failure, usage_error
from unpend.cli.stream import complain, write_report
from unpend.engine.proof import Proof, with_patches
from unpend.rule import Safety
from unpend.source.discovery import read_file

if TYPE_CHECKING:
    from unpend.cli.session import Gathered
    from unpend.engine.result import Result
    from unpend.engine.run import RunOptions

_MOST_ROUNDS = 5


def refuse_what_cannot_be_changed(given: Mapping[str, Any]) -> None:
    """Raise `click.UsageError` where there is no file to change."""
    options = {"fix": "--fix", "unsafe_fixes": "--unsafe-fixes", "diff": "--diff"}
    option = next(option for name, option in options.items() if given[name])
    if "-" in given["paths"]:
        raise usage_error(f"{option} changes files; standard input is none.")
    if given["helm"]:
        raise usage_error(f"{option} cannot change what Helm renders; change the template.")


def fixed(
    gathered: Gathered,
    result: Result,
    options: RunOptions,
    unsafe: bool,
    again: Callable[[], tuple[Gathered, Result]],
) -> tuple[Gathered, Result]:
    """Write the proved fixes to the files; what is left after that. `again` reads and checks anew."""
    count, files = 0, dict[str, None]()
    for _ in range(_MOST_ROUNDS):
        proof = Proof(gathered.clusters, options, result, gathered.sources.raw)
        offers = proof.offers(_safeties(unsafe), together=True)
        if not offers:
            break
        for uri, text in proof.texts(offers).items():
            _write(os.path.join(gathered.base, uri), uri, text)
            files[uri] = None
        count += len(offers)
        gathered, result = again()
    if count:
        complain(f"fixed {_count(count, 'finding')} in {_count(len(files), 'file')}")
    return gathered, result


def show_diff(gathered: Gathered, result: Result, options: RunOptions, unsafe: bool) -> int:
    """Print what `--fix` would change, and give the exit code: 1 when it would change something."""
    from difflib import unified_diff

    proof = Proof(gathered.clusters, options, result, gathered.sources.raw)
    texts = proof.texts(proof.offers(_safeties(unsafe), together=True))
    lines: list[str] = []
    for uri, text in sorted(texts.items()):
        before = (gathered.sources.raw(uri) or "").splitlines(True)
        for line in unified_diff(before, text.splitlines(True), uri, uri):
            lines.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    write_report("".join(lines))
    return 2 if result.untrustworthy else 1 if lines else 0


def with_fixes(gathered: Gathered, result: Result, options: RunOptions) -> Result:
    """The result with the patches of its findings, as editors and code scanning apply them."""
    if not any(finding.fixes for finding in result.findings):
        return result
    proof = Proof(gathered.clusters, options, result, gathered.sources.raw)
    return with_patches(result, proof.offers(("safe", "unsafe")))


def read_raw(path: str) -> str | None:
    """A file as it is, line ends and all; None when it cannot be read."""
    try:
        return read_file(path).decode("utf-8", "surrogateescape") if os.path.isfile(path) else None
    except OSError:
        return None


def _safeties(unsafe: bool) -> tuple[Safety, ...]:
    return ("safe", "unsafe") if unsafe else ("safe",)


def _write(path: str, uri: str, text: str) -> None:
    try:
        with open(path, "wb") as file:
            file.write(text.encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise Failure(f"cannot write {uri}: {error.strerror or error}") from None


def _count(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number} {noun}s"
