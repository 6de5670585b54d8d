"""Who is speaking: versions of the tool and of what its verdicts rest on."""

from __future__ import annotations

from unpend import __version__
from unpend.settings import KarpenterSettings


def catalog_date() -> str | None:
    """The date of the instance type catalogue that is shipped; None when there is none."""
    try:
        from unpend.catalog import builtin_date
    except ImportError:
        return None
    return builtin_date()


def version_text() -> str:
    """What `--version` prints."""
    lines = [f"unpend {__version__}"]
    date = catalog_date()
    if date is not None:
        lines.append(f"instance type catalogue of {date}")
    lines.append(f"Karpenter semantics of version {KarpenterSettings().version}")
    return "\n".join(lines)
