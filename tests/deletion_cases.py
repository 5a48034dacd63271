"""Texts shortened by hand, and the log-odds that a model gives them."""

from __future__ import annotations

import numpy as np
import torch
from scipy.special import logsumexp

from attnaudit.core.contract import Batch
from audit_cases import Case


def read_alone(chosen: Case, index: int, gone: list[int]) -> np.ndarray:
    """The logits of one text without some tokens, read on its own."""
    batch = chosen.record.batch
    left = [n for n in batch.mask[index].nonzero()[:, 0].tolist() if n not in gone]
    alone = Batch(
        ("x",),
        batch.tokens[index : index + 1, left],
        torch.ones(1, len(left), dtype=torch.bool),
        None if batch.query is None else batch.query[index : index + 1],
        None if batch.query_mask is None else batch.query_mask[index : index + 1],
    )
    with torch.no_grad():
        return chosen.model.read(alone).logits[0].numpy()


def odds_by_hand(chosen: Case, index: int, logits: np.ndarray) -> float:
    """The predicted class's logit against those of the other candidates."""
    predicted = int(chosen.record.predicted[index])
    others = [c for c in np.flatnonzero(chosen.allowed(index)) if c != predicted]
    return float(logits[predicted] - logsumexp(logits[others]))
