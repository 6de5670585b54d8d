"""What a run is asked to do, apart from the objects."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
from typing import Any

from unpend.config.model import Config, Ignore, Profile, RuleSetting
from unpend.records import dataclass, field, replace
from unpend.source.place import Place


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Which rules run and which findings count.

    `select` non-empty: exactly those rules instead of the profile's. `baseline`: fingerprints of findings that are
    known. `today`: the day on which suppressions are judged; without one nothing is expired. `report_only`: the uris
    whose findings are reported; None reports all. `cwd`: the folder that uris and the config path are relative to,
    needed only when one of the two is absolute. `verdicts`: whether the verdict of every workload is wanted even when
    no rule asks for it. `zone_losses`: whether it is also asked what becomes of every workload without each zone.
    `config_root`: where the config stands; `from_command_line`: the names in `select` and `ignore` that do not.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    profile: Profile = "default"
    rules: tuple[RuleSetting, ...] = ()
    ignores: tuple[Ignore, ...] = ()
    plugins: tuple[str, ...] = ()
    baseline: frozenset[str] = frozenset()
    today: date | None = None
    report_only: Collection[str] | None = None
    cwd: str = ""
    verdicts: bool = True
    zone_losses: bool = False
    config_path: str = field(default="")
    config_root: Place | None = field(default=None, compare=False, repr=False)
    from_command_line: frozenset[str] = frozenset()

    @classmethod
    def from_config(
        cls,
        config: Config,
        *,
        select: tuple[str, ...] = (),
        ignore: tuple[str, ...] = (),
        profile: Profile | None = None,
        **others: Any,
    ) -> RunOptions:
        """The options of a config with the command line laid over it: `select` replaces, `ignore` adds.

        `others` are fields of this class that a config does not have.
        """
        options = cls(
            select=select or config.select,
            ignore=(*config.ignore_rules, *ignore),
            profile=profile or config.profile,
            rules=config.rules,
            ignores=config.ignores,
            plugins=config.plugins,
            config_path=config.path,
            config_root=config.root,
            from_command_line=frozenset((*select, *ignore)),
        )
        return replace(options, **others)
