"""Predict as the base does, attend as differently as can be (Wiegreffe & Pinter 2019; Wen et al. 2022, eq. 6)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.core.contract import AttentionModel, Batch
from attnaudit.core.option_limits import NOT_NEGATIVE, limits

# Below this a base weight counts as this much: KL is infinite where the base has an exact 0, as sparse attention does.
_LEAST = 1e-8


@limits(lam=NOT_NEGATIVE)
def adversarial(base: AttentionModel, *, lam: float) -> Callable[[AttentionModel, Batch], Tensor]:
    """The objective mean TVD(ŷ, ŷ_base) - lam · KL(alpha ‖ alpha_base), the base held. The released code halves the TVD, so its lam is half."""

    def objective(model: AttentionModel, batch: Batch) -> Tensor:
        with torch.no_grad():
            held = base.read(batch)
        record = model.read(batch)
        apart = kl(record.alpha, held.alpha, record.mask)
        return (statistics.tvd(record.probs, held.probs) - lam * apart.mean(-1)).mean()

    return objective


def kl(alpha: Tensor, other: Tensor, mask: Tensor) -> Tensor:
    """KL(alpha ‖ other) over the real items of each row (B,R), finite also where `other` is exactly 0."""
    alpha, other = alpha.double(), other.double()
    ratio = alpha.clamp_min(_LEAST).log() - other.clamp_min(_LEAST).log()
    return (alpha * ratio).masked_fill(~mask, 0.0).sum(-1)
