"""Random attention, uniform on the simplex: a flat Dirichlet distribution.

Exponential numbers that are scaled to sum to 1 have this distribution. The functions differ only
in what the draws are keyed by, and so in what they stay the same under.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from attnaudit.core import masking, randomness

MOST_ITEMS = 2**20  # of a row: draw k of a key takes the numbers from k·MOST_ITEMS on


def random_alpha(mask: Tensor, seed: int, dtype: torch.dtype, count: int = 3) -> Tensor:
    """`count` random attentions (B,count,R,N) within mask (B,R,N); 0 in an empty row.

    Keyed by the seed alone: the same call gives the same draws.
    """
    shape = (mask.shape[0], count, *mask.shape[1:])
    source = randomness.generator(seed, "laws")
    draws = torch.rand(shape, generator=source, dtype=torch.float64).to(mask.device)
    return from_uniform(draws, mask[:, None].expand(shape)).to(dtype)


def random_alpha_by_example(mask: Tensor, seed: int, name: str, ids: Iterable[str]) -> Tensor:
    """One random attention (B,R,N) within mask (B,R,N); 0 in an empty row.

    Keyed by (seed, name, row, example id): an example's draw is the same in every batch.
    """
    keys = randomness.keys_by_row(seed, name, ids, mask.shape[1])
    draws = randomness.uniform(keys.flatten(), mask.shape[2]).view(mask.shape)
    return from_uniform(draws.to(mask.device), mask)


def random_alphas_by_example(
    mask: Tensor, count: int, seed: int, name: str, ids: Iterable[str], *, first: int = 0
) -> Tensor:
    """Random attentions number `first` to `first + count - 1` of each example: (B,count,R,N).

    Within mask (B,R,N); 0 in an empty row. Keyed by (seed, name, row, example id): rows are
    independent, and an example's draws are the same in every batch.
    """
    keys = randomness.keys_by_row(seed, name, ids, mask.shape[1]).to(mask.device)
    draw = torch.arange(first, first + count, device=mask.device)[:, None, None]
    place = draw * MOST_ITEMS + (mask.cumsum(-1) - 1).clamp_min(0)[:, None]
    draws = randomness.uniform_at(keys[:, None, :, None], place)
    return from_uniform(draws, mask[:, None].expand_as(draws))


def from_uniform(draws: Tensor, mask: Tensor) -> Tensor:
    """Turn uniform draws (…,N) into points of the simplex within mask (…,N); 0 in an empty row."""
    return masking.renormalise(-torch.log1p(-draws), mask).nan_to_num(0.0)
