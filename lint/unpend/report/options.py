"""What a report must be told beside the result: who speaks, where relative paths stand, how it should look."""

from __future__ import annotations

from collections.abc import Callable

from unpend.records import dataclass
from unpend.version import __version__


def _no_page(_name: str) -> str:
    return ""


def _no_file(_uri: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Settings of a report; every default gives a plain, reproducible text.

    `base` is the absolute directory that relative uris of the result stand against, `repository` the absolute root of
    the repository (None: `base`). `page` gives the documentation of a rule (the docstring of its module) or an empty
    text. `is_file` says whether a uri names a file on disk: a rendered text is shown at its template where that exists.
    `category` tells runs of several clusters apart (SARIF). `quiet` leaves the
    summary out of the reports for people.
    """

    base: str = "/"
    repository: str | None = None
    color: bool = False
    hyperlinks: bool = False
    width: int = 100
    show_suppressed: bool = False
    statistics: bool = False
    quiet: bool = False
    docs_url: str | None = None
    category: str = "default"
    version: str = __version__
    catalog_date: str | None = None
    karpenter_version: str = "1.14"
    page: Callable[[str], str] = _no_page
    is_file: Callable[[str], bool] = _no_file

    def rule_url(self, rule: str) -> str | None:
        """The address of the page of a rule; None without `docs_url`."""
        return None if not self.docs_url else f"{self.docs_url.rstrip('/')}/rules/{rule}"
