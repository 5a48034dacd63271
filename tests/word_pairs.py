"""Items of two words each, for models whose items are not single tokens."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core.contract import Batch
from attnaudit.core.special_tokens import END


def word_pairs(batch: Batch) -> tuple[Tensor, Tensor]:
    """Every two words are one item; start and end belong to none.

    Returns
    -------
    item_of_token (B,T) and, as numbers, which token belongs to which item (B,N,T).
    """
    place = torch.arange(batch.tokens.shape[1]).expand_as(batch.tokens)
    item_of_token = torch.where(batch.tokens > END, (place - 1).div(2, rounding_mode="floor"), -1)
    items = max(int(item_of_token.max()) + 1, 1)
    return item_of_token, (item_of_token[:, None] == torch.arange(items)[:, None]).double()


def random_matrices(*shapes: tuple[int, ...]) -> tuple[Tensor, ...]:
    """Matrices of these shapes from a fixed seed."""
    draw = torch.Generator().manual_seed(1)
    return tuple(torch.randn(*shape, generator=draw, dtype=torch.float64) for shape in shapes)
