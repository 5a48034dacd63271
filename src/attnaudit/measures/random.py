"""Uniform random scores: the floor of every comparison."""

from __future__ import annotations

from torch import Tensor

from attnaudit.core import randomness
from attnaudit.core.contract import AttentionModel, Record


def random(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """Uniform random numbers (B,N) that depend on (seed, example id, position) only."""
    key = randomness.keys(seed, "random measure", record.batch.example_id)
    return randomness.uniform(key, record.content.shape[1]).to(record.alpha.device)
