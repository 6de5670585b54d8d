"""`.unpend.yaml`: every key, every error with its place, all errors at once."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from unpend.config.errors import ConfigError
from unpend.config.load import read_config
from unpend.config.model import Config
from unpend.settings import World

FULL = """\
clusters:
  prod:
    pools: [infra/nodepools/*.yaml]
    workloads: ["apps/prod/**"]
    world: {daemonsets: closed, pdbs: open}
    region: us-east-1
    zones: [us-east-1a, us-east-1b, us-east-1c]
    zoneIds: {us-east-1a: use1-az6}
    nodeClasses: {default: {zones: [us-east-1a, us-east-1b]}}
    kubernetes: "1.33"
    karpenter: {version: "1.13", preferencePolicy: Ignore, minValuesPolicy: BestEffort, vmMemoryOverheadPercent: 0.05,
                interruptionQueue: true, zonalShift: true, ignoreDRARequests: false,
                featureGates: {SpotToSpotConsolidation: true, ReservedCapacity: false}}
    clusterAutoscaler: {skipNodesWithLocalStorage: false, expendablePodsPriorityCutoff: -5}
    nodeGroups: {autoscaler: cluster-autoscaler}
    catalog: [aws, catalogs/own.json]
    injectedTolerations: [{key: team, operator: Exists}]
    knownLabels: [feature.node.kubernetes.io/*]
  dev: {}
rules: {spot-narrow-choice: {min-types: 15}, untolerated-taint: {severity: warning}}
ignore: [{path: "charts/legacy/**", rules: [topology/*], reason: "moves in Q3", until: 2027-01-31}]
exclude: ["vendor/**"]
startup: {profile: my-measurements.yaml, budget: {default: 90s, Deployment/shop/web: 1m30s}}
profile: strict
select: []
ignoreRules: [verdict-unknown]
failOn: warning
plugins: [acme-rules]
images: ["build/images/*.json"]
docsUrl: https://example.com/unpend
"""


def _errors(text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read_config(text, "repo/.unpend.yaml")
    return list(caught.value.messages)


def test_every_key_of_the_example() -> None:
    config = read_config(FULL, "repo/.unpend.yaml")
    settings = config.settings("prod")
    assert (config.path, config.directory) == ("repo/.unpend.yaml", "repo")
    assert settings.cluster == "prod"
    assert settings.region == "us-east-1"
    assert settings.zones == ("us-east-1a", "us-east-1b", "us-east-1c")
    assert settings.zone_ids == {"us-east-1a": "use1-az6"}
    assert settings.node_classes == {"default": {"zones": ("us-east-1a", "us-east-1b")}}
    assert settings.kubernetes == (1, 33)
    karpenter = settings.karpenter
    assert (karpenter.version, karpenter.preference_policy) == ("1.13", "Ignore")
    assert (karpenter.min_values_policy, karpenter.vm_memory_overhead_percent) == ("BestEffort", 0.05)
    assert (karpenter.interruption_queue, karpenter.zonal_shift, karpenter.ignore_dra_requests) == (True, True, False)
    assert karpenter.gate("SpotToSpotConsolidation")
    assert not karpenter.gate("ReservedCapacity")
    assert not settings.cluster_autoscaler.skip_nodes_with_local_storage
    assert settings.cluster_autoscaler.expendable_pods_priority_cutoff == -5
    assert settings.node_group_autoscaler == "cluster-autoscaler"
    assert settings.catalogs == ("aws", "repo/catalogs/own.json")
    assert settings.injected_tolerations == ({"key": "team", "operator": "Exists"},)
    assert settings.known_labels == ("feature.node.kubernetes.io/*",)
    assert settings.images == ("build/images/*.json",)
    assert settings.startup["profile"] == "repo/my-measurements.yaml"
    assert settings.startup["budget"] == {"default": 90.0, "Deployment/shop/web": 90.0}
    assert [(r.name, dict(r.values)) for r in config.rules] == [
        ("spot-narrow-choice", {"min-types": 15}),
        ("untolerated-taint", {"severity": "warning"}),
    ]
    (ignore,) = config.ignores
    assert (ignore.paths, ignore.rules, ignore.reason) == (("charts/legacy/**",), ("topology/*",), "moves in Q3")
    assert ignore.until == date(2027, 1, 31)
    assert config.exclude == ("vendor/**",)
    assert (config.profile, config.select, config.ignore_rules) == ("strict", (), ("verdict-unknown",))
    assert (config.fail_on, config.plugins, config.docs_url) == (
        "warning",
        ("acme-rules",),
        "https://example.com/unpend",
    )


def test_values_keep_their_place() -> None:
    config = read_config(FULL, ".unpend.yaml")
    assert config.root is not None
    location = config.root.at("clusters", "prod", "region").location()
    assert location is not None
    assert location.span.start == (5, 12)


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "clusters:\n"])
def test_an_empty_config_is_the_defaults(text: str) -> None:
    config = read_config(text)
    assert config.settings() == Config().settings()
    assert (config.profile, config.fail_on, config.clusters) == ("default", "error", {})


def test_all_errors_are_told_in_the_order_of_the_text() -> None:
    messages = _errors(
        "clusters:\n"
        "  prod:\n"
        "    pool: [a.yaml]\n"
        "    kubernetes: 1.30\n"
        "    world: {pool: open, pools: clossed}\n"
        "    karpenter: {preferencePolicy: respect}\n"
        "ignore: [{path: a, until: 2027-02-30}, {reason: none}]\n"
        "profile: relaxed\n"
        "failon: error\n"
        "startup: {budget: {default: 90}}\n"
    )
    assert messages == [
        "repo/.unpend.yaml:3:5: clusters.prod.pool: unknown key, did you mean 'pools'?",
        "repo/.unpend.yaml:4:17: clusters.prod.kubernetes: expected a text such as '1.34'; write it in quotes",
        "repo/.unpend.yaml:5:13: clusters.prod.world.pool: unknown key, did you mean 'pools'?",
        "repo/.unpend.yaml:5:32: clusters.prod.world.pools: unknown value 'clossed', did you mean 'closed'?",
        "repo/.unpend.yaml:6:35: clusters.prod.karpenter.preferencePolicy: unknown value 'respect', "
        "did you mean 'Respect'?",
        "repo/.unpend.yaml:7:27: ignore[0].until: there is no day 2027-02-30",
        "repo/.unpend.yaml:7:40: ignore[1]: an entry needs at least one of path, objects and rules",
        "repo/.unpend.yaml:8:10: profile: unknown value 'relaxed', expected default, strict, cost or reliability",
        "repo/.unpend.yaml:9:1: failon: unknown key, did you mean 'failOn'?",
        "repo/.unpend.yaml:10:29: startup.budget.default: expected a text such as '90s'; write it in quotes",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1, 2]\n", "repo/.unpend.yaml:1:1: expected a mapping, found a list"),
        ("exclude: 3\n", "repo/.unpend.yaml:1:10: exclude: expected a list, found the number 3"),
        (
            "rules: {a: warning}\n",
            "repo/.unpend.yaml:1:12: rules.a: expected a mapping; a severity is given as {severity: warning}",
        ),
        (
            "rules: {a: off}\n",
            "repo/.unpend.yaml:1:12: rules.a: expected a mapping; a rule is turned off with {severity: off}",
        ),
        (
            "rules: {a: 3}\n",
            "repo/.unpend.yaml:1:12: rules.a: expected a mapping such as {severity: warning}, found the number 3",
        ),
        ("docsUrl: example\n", "repo/.unpend.yaml:1:10: docsUrl: 'example' is not of the form 'https://example.com/unpend'"),
        ("a: 1\n---\nb: 2\n", "repo/.unpend.yaml:3:1: a config is one YAML document; this is another one"),
        ("failOn: error\nfailOn: none\n", "repo/.unpend.yaml:2:1: failOn: the key is written twice"),
    ],
)  # fmt: skip
def test_single_errors(text: str, expected: str) -> None:
    assert expected in _errors(text)


def test_broken_yaml_is_a_config_error() -> None:
    (message,) = _errors("clusters: {prod: [}\n")
    assert message.startswith("repo/.unpend.yaml:1:")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    from unpend.config.load import load_config

    with pytest.raises(ConfigError, match=r"nothing\.yaml: cannot be read"):
        load_config(str(tmp_path / "nothing.yaml"))


def test_the_nearest_config_up_to_the_repository_root(tmp_path: Path) -> None:
    from unpend.config.find import find_config

    inner = tmp_path / "repo" / "apps" / "web"
    inner.mkdir(parents=True)
    (tmp_path / ".unpend.yaml").write_text("failOn: none\n", encoding="utf-8")
    (tmp_path / "repo" / ".git").mkdir()
    assert find_config(str(inner)) is None
    (tmp_path / "repo" / ".unpend.yaml").write_text("failOn: none\n", encoding="utf-8")
    found = find_config(str(inner))
    assert found is not None
    assert Path(found).resolve() == (tmp_path / "repo" / ".unpend.yaml").resolve()


class TestClusters:
    CONFIG = read_config(
        "clusters: {prod: {pools: [p.yaml], world: {daemonsets: closed}}, dev: {world: {pools: open}}}"
    )

    def test_one_entry_is_used_without_a_name(self) -> None:
        config = read_config("clusters: {prod: {region: r}}")
        assert [c.name for c in config.chosen()] == ["prod"]
        assert config.settings().region == "r"

    def test_no_entry_is_one_nameless_cluster(self) -> None:
        assert [c.name for c in Config().chosen()] == [""]

    def test_several_entries_are_all_chosen(self) -> None:
        assert [c.name for c in self.CONFIG.chosen()] == ["prod", "dev"]
        with pytest.raises(ConfigError, match="name one of prod, dev"):
            self.CONFIG.settings()

    def test_an_unknown_name(self) -> None:
        with pytest.raises(ConfigError, match=r"no cluster 'prd', did you mean 'prod'\?"):
            self.CONFIG.settings("prd")

    def test_pools_of_an_entry_are_closed(self) -> None:
        assert self.CONFIG.settings("prod").world == World(pools="closed", nodes="closed", daemonsets="closed")
        assert self.CONFIG.settings("dev").world == World()

    def test_flags_close_pools_over_the_entry(self) -> None:
        assert self.CONFIG.settings("dev", pools_given=True).world == World(pools="closed", nodes="closed")
        assert self.CONFIG.settings("dev", complete=True).world == World(pools="closed", nodes="closed")

    def test_explain_closes_capacity_but_what_was_written_wins(self) -> None:
        world = self.CONFIG.settings("dev", explain=True).world
        assert world == World(pools="open", nodes="closed", classes="closed", claims="closed", daemonsets="closed")

    def test_files_of_a_cluster(self) -> None:
        files = read_config(FULL, "/repo/.unpend.yaml").files_of("prod")
        assert files.pools == ("infra/nodepools/*.yaml",)
        assert files.takes("/repo/apps/prod/web/app.yaml")
        assert files.takes("apps/prod/app.yaml", cwd="/repo")
        assert files.takes("prod/app.yaml", cwd="/repo/apps")
        assert not files.takes("/repo/apps/dev/app.yaml")
