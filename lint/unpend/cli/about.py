"""Who is speaking: versions of the tool and of what its verdicts rest on."""

from __future__ import annotations

import re

from unpend.settings import KarpenterSettings
from unpend.version import __version__

_HEAD = 1000


def catalog_date() -> str | None:
    """The date of the instance type catalogue that is shipped; None when there is none."""
    from unpend_schemas import load_bytes

    try:
        head = load_bytes("catalog/aws.json")[:_HEAD]
    except FileNotFoundError:
        return None
    # The date stands at the top of the file, and parsing all of it would take longer than everything else here.
    found = re.search(rb'"date": *"([0-9-]+)"', head)
    return None if found is None else found[1].decode()


def version_text() -> str:
    """What `--version` prints."""
    lines = [f"unpend {__version__}"]
    date = catalog_date()
    if date is not None:
        lines.append(f"instance type catalogue of {date}")
    lines.append(f"Karpenter semantics of version {KarpenterSettings().version}")
    return "\n".join(lines)
