"""What `import unpend` offers to programs: the same answers as the command line, without files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from unpend.records import replace
from unpend.settings import Settings, World

if TYPE_CHECKING:
    from unpend.config.model import Config
    from unpend.disruption.candidates import DisruptionReport
    from unpend.engine.result import Result
    from unpend.placement.verdict import WorkloadVerdict

Objects = Iterable[Mapping[str, Any]]


def evaluate(objects: Objects, settings: Settings | None = None) -> tuple[WorkloadVerdict, ...]:
    """The verdict of every workload among Kubernetes objects, given as plain dicts (`List` items count each).

    The world is closed: what is not among the objects does not exist. Nodes are pools. Admission plug-ins run for pods
    that a controller makes from a template; `Settings(admission=…)` changes that. No config file is looked for, and
    nothing in the objects raises: illegal values become refusals. Locations are null, since there is no text.
    """
    from unpend.model.found_settings import with_found_settings
    from unpend.model.reading import read_objects
    from unpend.placement.evaluate import evaluate_inventory
    from unpend.source.document import objects_of

    settings = settings or Settings()
    settings = replace(settings, world=World.all_closed(), admission=settings.admission or "templates")
    items = tuple(objects_of(_plain(objects)))
    settings = with_found_settings(settings, items)
    return evaluate_inventory(read_objects(items, settings), settings)


def disruption(objects: Objects, settings: Settings | None = None) -> DisruptionReport:
    """What Karpenter may disrupt in a snapshot of a cluster, given as plain dicts: Nodes, NodeClaims, NodePools, pods
    with `spec.nodeName`, PodDisruptionBudgets.

    Each node is answered for twice, in the class `graceful` (consolidation) and the class `eventual` (drift), with what
    blocks it; each NodePool with how many nodes its budgets let go at `settings.now` (without it, at a fixed moment).
    """
    from unpend.disruption.candidates import disruption_report
    from unpend.model.found_settings import with_found_settings
    from unpend.model.reading import read_objects
    from unpend.source.document import objects_of

    items = tuple(objects_of(_plain(objects)))
    settings = with_found_settings(settings or Settings(), items)
    return disruption_report(read_objects(items, settings), settings)


def check(
    source: str | bytes | Objects,
    settings: Settings | None = None,
    *,
    uri: str = "<text>",
    config: Config | None = None,
) -> Result:
    """All findings in a YAML or JSON text, or in objects given as plain dicts.

    The world is as `settings` say (open by default, as for files found by `unpend check`); rules, severities and
    suppressions as `config` says. Raises ConfigError when the config names rules or options that do not exist.
    """
    from unpend.engine.run import RunOptions, cluster_input, run
    from unpend.source.document import Document, Reading, unwrap

    settings = settings or Settings()
    if isinstance(source, str | bytes):
        from unpend.source.reading import read_text

        reading = read_text(source, uri)
    else:
        documents = tuple(Document(uri="", index=i, data=item) for i, item in enumerate(_plain(source)))
        reading = Reading(documents, tuple(item for document in documents for item in unwrap(document)))
    texts = {uri: source} if isinstance(source, str) else {}
    options = RunOptions.from_config(config) if config else RunOptions()
    if settings.now is not None:
        options = replace(options, today=settings.now.date())
    return run([cluster_input(settings.cluster, reading, settings, texts)], options)


def load_settings(path: str, cluster: str | None = None) -> Settings:
    """The settings of a cluster in a config file (of the only one, without a name).

    Raises ConfigError with all errors of the file, and when the cluster is not in it.
    """
    from unpend.config.load import load_config

    return load_config(str(path)).settings(cluster)


def _plain(objects: Objects) -> list[dict[str, Any]]:
    return [item if isinstance(item, dict) else dict(item) for item in objects]
