"""What if alpha were …? The alternatives that audits ask for, and the cheapest right way to their logits."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core import masking, randomness
from attnaudit.core.contract import Record


def flipped(logits: Tensor, record: Record) -> Tensor:
    """(B,K) from logits (B,K,C): is another candidate strictly above the predicted class, beyond rounding? NaN logits: no."""
    chosen = logits.gather(-1, record.predicted[:, None, None].expand(-1, logits.shape[1], 1))[
        ..., 0
    ]
    if record.batch.classes is not None:
        logits = masking.fill(logits, record.batch.classes[:, None].expand_as(logits), -torch.inf)
    rounding = 8 * torch.finfo(record.logits.dtype).eps
    return logits.amax(-1) - chosen > rounding * (1 + chosen.abs())


def permuted(alpha: Tensor, mask: Tensor, count: int, seed: int) -> Tensor:
    """`count` shuffles of each row of alpha (B,R,N) over its real items: (B,count,R,N).

    The draws depend on (seed, number of real items) only: the same whatever the batch, and one set of shuffles serves all rows of a
    length. Rows of one example that have as many items are therefore shuffled alike.
    """
    batch, rows, items = alpha.shape
    real_first = (~mask).to(torch.int8).argsort(dim=-1, stable=True)  # (B,R,N)
    length = mask.sum(-1)
    source = torch.arange(items, device=alpha.device).expand(batch, rows, count, items).clone()
    for each in length.unique().tolist():
        if each > 1:
            draws = torch.rand(
                count, each, generator=randomness.generator(seed, "permutation", each)
            ).argsort(-1)
            source[..., :each][length == each] = draws.to(alpha.device)
    compact = alpha.gather(-1, real_first)[:, :, None].expand(-1, -1, count, -1)
    shuffled = compact.gather(-1, source)
    back = real_first.argsort(-1)[:, :, None].expand(-1, -1, count, -1)
    return shuffled.gather(-1, back).transpose(1, 2)


def without_item(alpha: Tensor, mask: Tensor, drop: Tensor) -> Tensor:
    """alpha with the items in drop (bool, same shape) taken out and the rest renormalised; NaN in a row where no weight is left."""
    return masking.renormalise(alpha, mask & ~drop)
