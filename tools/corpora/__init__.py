"""Corpora of real answers, one module each; `ALL` is what `make conformance` compares with, in the order shown."""

from __future__ import annotations

from corpora import (
    karpenter_disruption,
    karpenter_situations,
    real_situations,
    scheduler_filter,
    scheduler_handwritten,
    scheduler_pairs,
    scheduler_replicas,
)
from corpora.agreement import Corpus

ALL: tuple[Corpus, ...] = (
    scheduler_filter.CORPUS,
    scheduler_handwritten.CORPUS,
    scheduler_replicas.CORPUS,
    scheduler_pairs.CORPUS,
    karpenter_situations.CORPUS,
    karpenter_disruption.CORPUS,
    real_situations.CORPUS,
)
