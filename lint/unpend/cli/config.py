"""`unpend config`: the settings in force, or the schema of the config file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from unpend.cli.outputs import Output, write_text
from unpend.cli.parameters import config_options

if TYPE_CHECKING:
    from unpend.config.model import ChartConfig, ClusterConfig, Config


@click.command("config")
@click.option("--show", "mode", flag_value="show", default="show", help="The settings in force (default).")
@click.option("--schema", "mode", flag_value="schema", help="The JSON Schema of the config file.")
@config_options
def command(mode: str, config_file: str | None, isolated: bool) -> int:
    """Print the settings in force as a config file, or the schema of the config file."""
    target = Output("text")
    if mode == "schema":
        from unpend.config.document import config_schema
        from unpend.report.jsontext import dumps

        write_text(target, dumps(config_schema()))
        return 0
    from unpend.cli.session import read_config

    write_text(target, shown(read_config(config_file, isolated)))
    return 0


def shown(config: Config) -> str:
    """The settings as YAML that is a config file itself; a comment says where they come from."""
    import yaml

    data = yaml.safe_dump(_plain(config), sort_keys=False, allow_unicode=True, width=110)
    return f"# {'from ' + config.path if config.path else 'no config file: defaults'}\n{data}"


def _plain(config: Config) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if config.clusters:
        data["clusters"] = {name: _cluster(entry) for name, entry in config.clusters.items()}
    data |= {
        "profile": config.profile,
        "select": list(config.select),
        "ignoreRules": list(config.ignore_rules),
        "failOn": config.fail_on,
        "rules": {setting.name: _value(setting.values) for setting in config.rules},
        "ignore": [_ignore(entry) for entry in config.ignores],
        "exclude": list(config.exclude),
        "plugins": list(config.plugins),
        "images": list(config.images),
    }
    if config.charts:
        data["charts"] = [_chart(chart) for chart in config.charts]
    if config.baseline is not None:
        data["baseline"] = config.baseline
    startup = config.root.at("startup").value if config.root is not None else None
    if startup:
        data["startup"] = _value(startup)
    if config.docs_url is not None:
        data["docsUrl"] = config.docs_url
    return data


def _chart(chart: ChartConfig) -> dict[str, Any]:
    sets = {
        one.name: {
            key: list(value)
            for key, value in (("values", one.values), ("set", one.settings), ("clusters", one.clusters))
            if value
        }
        for one in chart.sets
    }
    data: dict[str, Any] = {"path": chart.path, "release": chart.release, "namespace": chart.namespace, "sets": sets}
    data |= {"values": list(chart.values), "set": list(chart.settings)}
    return {key: value for key, value in data.items() if value}


def _ignore(entry: Any) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for key, value in (("path", entry.paths), ("objects", entry.objects), ("rules", entry.rules)):
        if value and value != ("*",):
            data[key] = list(value)
    if entry.reason:
        data["reason"] = entry.reason
    if entry.until is not None:
        data["until"] = entry.until.isoformat()
    return data


def _cluster(entry: ClusterConfig) -> dict[str, Any]:
    settings = entry.settings
    karpenter, autoscaler = settings.karpenter, settings.cluster_autoscaler
    data: dict[str, Any] = {
        "pools": list(entry.files.pools),
        "workloads": list(entry.files.workloads),
        "world": dict(entry.world),
        "region": settings.region,
        "zones": list(settings.zones),
        "zoneIds": dict(settings.zone_ids),
        "nodeClasses": _value(settings.node_classes),
        "kubernetes": ".".join(map(str, settings.kubernetes)),
        "karpenter": {
            "version": karpenter.version,
            "preferencePolicy": karpenter.preference_policy,
            "minValuesPolicy": karpenter.min_values_policy,
            "vmMemoryOverheadPercent": karpenter.vm_memory_overhead_percent,
            "interruptionQueue": karpenter.interruption_queue,
            "zonalShift": karpenter.zonal_shift,
            "ignoreDRARequests": karpenter.ignore_dra_requests,
            "featureGates": dict(karpenter.feature_gates),
        },
        "clusterAutoscaler": {
            "skipNodesWithLocalStorage": autoscaler.skip_nodes_with_local_storage,
            "skipNodesWithSystemPods": autoscaler.skip_nodes_with_system_pods,
            "expendablePodsPriorityCutoff": autoscaler.expendable_pods_priority_cutoff,
            "maxGracefulTerminationSec": autoscaler.max_graceful_termination_sec,
            "startupTaints": list(autoscaler.startup_taints),
            "balanceSimilarNodeGroups": autoscaler.balance_similar_node_groups,
        },
        "nodeGroups": {"autoscaler": settings.node_group_autoscaler},
        "catalog": [getattr(one, "path", one) for one in settings.catalogs],
        "injectedTolerations": _value(settings.injected_tolerations),
        "knownLabels": list(settings.known_labels),
    }
    return {key: value for key, value in _without_nothing(data).items() if value not in ({}, [])}


def _without_nothing(data: dict[str, Any]) -> dict[str, Any]:
    """The same without what is not set, since a config file has no word for it."""
    return {
        key: _without_nothing(value) if isinstance(value, dict) else value
        for key, value in data.items()
        if value is not None
    }


def _value(value: Any) -> Any:
    """Plain lists and dicts in place of tuples and read-only mappings."""
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    if hasattr(value, "items"):
        return {key: _value(item) for key, item in value.items()}
    return [_value(item) for item in value]
