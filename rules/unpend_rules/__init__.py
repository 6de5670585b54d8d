"""The built-in rules: one file a rule, `<topic>/<rule_name>.py`, imported when a run needs it.

`_index.py` is generated from the rules by `tools/gen_rule_index.py`.
"""

from __future__ import annotations

from importlib import import_module

from unpend.rule import Pack, Rule
from unpend_rules._index import INDEX

_TOPICS = {entry.name: entry.topic for entry in INDEX}


def load(name: str) -> Rule:
    """The rule of a name. Raises KeyError for a name that is not in the index."""
    module = f"{_TOPICS[name]}.{name}".replace("-", "_")
    rule: Rule = import_module(f"unpend_rules.{module}").RULE
    return rule


PACK = Pack("builtin", INDEX, load)
