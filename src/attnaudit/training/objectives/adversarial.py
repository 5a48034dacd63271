"""Predict like the base and attend as differently as possible.

Wiegreffe & Pinter 2019; Wen et al. 2022, eq. 6.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.core.contract import AttentionModel, Batch
from attnaudit.core.option_limits import NOT_NEGATIVE, limits

# Weights are clamped to this: KL is infinite where sparse attention of the base is exactly 0.
_MIN_WEIGHT = 1e-8


@limits(lam=NOT_NEGATIVE)
def adversarial(base: AttentionModel, *, lam: float) -> Callable[[AttentionModel, Batch], Tensor]:
    """The objective mean TVD(ŷ, ŷ_base) - lam · KL(alpha ‖ alpha_base), with the base frozen.

    The released code halves the TVD, so its lam is half of this one.
    """

    def objective(model: AttentionModel, batch: Batch) -> Tensor:
        with torch.no_grad():
            frozen = base.read(batch)
        record = model.read(batch)
        distance = kl(record.alpha, frozen.alpha, record.mask)
        return (statistics.tvd(record.probs, frozen.probs) - lam * distance.mean(-1)).mean()

    return objective


def kl(alpha: Tensor, other: Tensor, mask: Tensor) -> Tensor:
    """KL(alpha ‖ other) over the real items of each row (B,R); finite even where `other` is 0."""
    alpha, other = alpha.double(), other.double()
    ratio = alpha.clamp_min(_MIN_WEIGHT).log() - other.clamp_min(_MIN_WEIGHT).log()
    return (alpha * ratio).masked_fill(~mask, 0.0).sum(-1)
