"""Rules that raised: told as findings, so that the rest of the run is not lost."""

from __future__ import annotations

from unpend.engine.drafts import Draft, digest


class Crashes:
    """Rules that raised. What several rules ran into in one shared analysis is told once."""

    def __init__(self) -> None:
        self._found: list[tuple[BaseException, list[str]]] = []

    @property
    def rules(self) -> set[str]:
        """The names of the rules."""
        return {name for _, names in self._found for name in names}

    def add(self, rule: str, error: BaseException) -> None:
        """Note that a rule raised an error."""
        for known, names in self._found:
            if known is error:
                if rule not in names:
                    names.append(rule)
                return
        self._found.append((error, [rule]))

    def drafts(self) -> list[Draft]:
        """One `internal-error` for every error."""
        drafts = []
        for error, names in self._found:
            rules = [name for name in names if name != "placement"]
            who = f"{'rule' if len(rules) == 1 else 'rules'} {', '.join(rules)}" if rules else "the placement analysis"
            message = (
                f"{who} failed: {type(error).__name__}: {error} (in {_where(error)}); the other rules did run. "
                "Nothing is known of what the failed part would have found: please report this"
            )
            drafts.append(
                Draft("internal-error", "error", message, None, fingerprint=digest("internal-error", *sorted(names)))
            )
        return drafts


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    if trace is None:
        return "unknown place"
    while trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}"
