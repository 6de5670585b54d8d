"""Every fix that a rule offers on its own fixture holds: the finding goes, no verdict gets worse, the text means it."""

from __future__ import annotations

from pathlib import Path

import pytest

from unpend.engine.options import RunOptions
from unpend.engine.proof import Proof
from unpend.engine.run import cluster_input, run
from unpend.settings import Settings, World
from unpend.source.reading import read_text

ROOT = Path(__file__).resolve().parents[2]
RULES = (
    "deprecated-node-label",
    "do-not-disrupt-wrong-place",
    "do-not-evict-legacy",
    "hpa-replicas-conflict",
    "label-near-miss",
    "nodegroup-taint-tag-malformed",
    "non-cpu-request-limit-mismatch",
    "pdb-unhealthy-policy",
    "storageclass-immediate-binding",
    "toleration-value-mismatch",
    "unused-toleration",
)


@pytest.mark.parametrize("rule", RULES)
def test_the_fixes_of_a_fixture_hold(rule: str) -> None:
    text = (ROOT / "fixtures" / "rules" / rule / "bad.yaml").read_text(encoding="utf-8")
    cluster = cluster_input("", read_text(text, "bad.yaml"), Settings(world=World.all_closed()), {"bad.yaml": text})
    options = RunOptions(select=(rule,))
    result = run([cluster], options)
    wanted = {finding.fingerprint for finding in result.active if finding.fixes}
    proof = Proof([cluster], options, result, {"bad.yaml": text}.get)
    offers = proof.offers(("safe", "unsafe"), together=True)
    assert wanted
    assert offers, "no fix of this rule holds"
    fixed = proof.texts(offers)["bad.yaml"]
    again = run([cluster_input("", read_text(fixed, "bad.yaml"), cluster.settings, {})], options)
    assert not {offer.finding.fingerprint for offer in offers} & {finding.fingerprint for finding in again.active}
    kept = [line for line in text.splitlines() if line.lstrip().startswith("#")]
    assert [line for line in fixed.splitlines() if line.lstrip().startswith("#")] == kept


def test_this_list_is_complete() -> None:
    with_fixes = {
        path.stem.replace("_", "-")
        for path in (ROOT / "rules" / "unpend_rules").glob("*/*.py")
        if "fixes=" in path.read_text(encoding="utf-8")
    }
    assert with_fixes == set(RULES)
