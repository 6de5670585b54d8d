"""Taints in the user data of an EC2NodeClass: only what surely reaches the kubelet (`karpenter:A-5`)."""

from __future__ import annotations

import pytest

from unpend.model.user_data import registered_taints
from unpend.source.reading import read_text

PLACE = read_text("apiVersion: v1\nkind: Node\n", "a.yaml").objects[0].root
CONFIG = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    flags:\n"
BOOT = "#!/bin/bash\n/etc/eks/bootstrap.sh prod --kubelet-extra-args '--register-with-taints=team=a:NoSchedule'\n"
TABLE = '[settings.kubernetes]\nmax-pods = 20\n[settings.kubernetes.node-taints]\n"team" = ["a:NoSchedule"]\n'


@pytest.mark.parametrize(
    ("text", "family", "wanted"),
    [
        (CONFIG + "      - --register-with-taints=team=a:NoSchedule\n", "AL2023", ["team=a:NoSchedule"]),
        (
            CONFIG + "      - --register-with-taints=a=b:NoExecute,c:NoSchedule\n",
            "AL2023",
            ["a=b:NoExecute", "c=:NoSchedule"],
        ),
        (CONFIG + '    flags: ["--register-with-taints=a=b:NoExecute"]\n', "AL2023", ["a=b:NoExecute"]),
        (CONFIG + "      # - --register-with-taints=team=a:NoSchedule\n", "AL2023", []),
        (CONFIG + "      - --register-with-taints=team=${TEAM}:NoSchedule\n", "AL2023", []),
        (CONFIG + "      - --register-with-taints=team=a:NoSchedule\n", None, []),
        (BOOT, "Custom", ["team=a:NoSchedule"]),
        (BOOT, "AL2", []),
        (BOOT.replace("/etc", "if test -e /taint; then /etc") + "fi\n", "Custom", []),
        (TABLE, "Bottlerocket", ["team=a:NoSchedule"]),
        (TABLE + '[settings.other]\n"none" = ["b:NoSchedule"]\n', "Bottlerocket", ["team=a:NoSchedule"]),
        ("", "AL2023", []),
    ],
)
def test_taints(text: str, family: str | None, wanted: list[str]) -> None:
    found = registered_taints(text, family, PLACE)
    assert [f"{t.key}={t.value}:{t.effect}" for t in found] == wanted
