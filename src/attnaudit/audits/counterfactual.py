"""What if the attention had been different? The alternatives that audits decode."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core import masking, randomness
from attnaudit.core.contract import Record


def flipped(logits: Tensor, record: Record) -> Tensor:
    """Whether logits (B,K,C) change the decision (B,K): another candidate is strictly above it.

    By more than rounding error; NaN logits are no flip.
    """
    return decision_flipped(
        logits,
        record.predicted,
        record.batch.classes,
        rounding=torch.finfo(record.logits.dtype).eps,
    )


def decision_flipped(
    logits: Tensor, predicted: Tensor, classes: Tensor | None, *, rounding: float
) -> Tensor:
    """As `flipped`, of logits (M,K,C) against predicted classes (M,) among the candidates (M,C).

    `rounding` is the machine epsilon of the type in which the logits were computed.
    """
    of_predicted = logits.gather(-1, predicted[:, None, None].expand(-1, logits.shape[1], 1))[
        ..., 0
    ]
    if classes is not None:
        logits = masking.fill(logits, classes[:, None].expand_as(logits), -torch.inf)
    return logits.amax(-1) - of_predicted > 8 * rounding * (1 + of_predicted.abs())


def permuted(alpha: Tensor, mask: Tensor, count: int, seed: int) -> Tensor:
    """`count` shuffles of each row of alpha (B,R,N) over its real items: (B,count,R,N).

    The draws depend on (seed, number of real items) only, not on the batch: all rows of the same
    length share one set of shuffles, rows of the same example included.
    """
    batch, rows, items = alpha.shape
    real_first = (~mask).to(torch.int8).argsort(dim=-1, stable=True)  # (B,R,N)
    lengths = mask.sum(-1)
    source = torch.arange(items, device=alpha.device).expand(batch, rows, count, items).clone()
    for length in lengths.unique().tolist():
        if length > 1:
            generator = randomness.generator(seed, "permutation", length)
            draws = torch.rand(count, length, generator=generator).argsort(-1)
            source[..., :length][lengths == length] = draws.to(alpha.device)
    compact = alpha.gather(-1, real_first)[:, :, None].expand(-1, -1, count, -1)
    shuffled = compact.gather(-1, source)
    back = real_first.argsort(-1)[:, :, None].expand(-1, -1, count, -1)
    return shuffled.gather(-1, back).transpose(1, 2)


def without_item(alpha: Tensor, mask: Tensor, drop: Tensor) -> Tensor:
    """alpha with the items in drop (bool, same shape) removed and the rest renormalised.

    NaN in a row where no weight is left.
    """
    return masking.renormalise(alpha, mask & ~drop)
