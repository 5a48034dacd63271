"""Random attention, uniform on the simplex: a flat Dirichlet distribution.

Exponential numbers that are scaled to sum to 1 have this distribution. The functions differ only
in what the draws are keyed by, and so in what they stay the same under.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from attnaudit.core import masking, randomness


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
    ids = tuple(ids)
    rows = [
        randomness.uniform(randomness.keys(seed, f"{name}/{row}", ids), mask.shape[2])
        for row in range(mask.shape[1])
    ]
    return from_uniform(torch.stack(rows, 1).to(mask.device), mask)


def random_alpha_by_length(mask: Tensor, count: int, seed: int) -> Tensor:
    """`count` random attentions (B,count,R,N) within mask (B,R,N); 0 in an empty row.

    Keyed by (seed, number of real items): rows of one length share their draws, in every batch.
    """
    batch, rows, items = mask.shape
    real_first = (~mask).to(torch.int8).argsort(dim=-1, stable=True)
    lengths = mask.sum(-1)
    compact = torch.zeros(batch, rows, count, items, dtype=torch.float64, device=mask.device)
    for length in lengths.unique().tolist():
        if length > 0:
            source = randomness.generator(seed, "random attention", length)
            weight = torch.empty(count, length, dtype=torch.float64).exponential_(generator=source)
            draws = (weight / weight.sum(-1, keepdim=True)).to(mask.device)
            compact[..., :length][lengths == length] = draws
    position = real_first.argsort(-1)[:, :, None].expand(-1, -1, count, -1)
    return compact.gather(-1, position).transpose(1, 2)


def from_uniform(draws: Tensor, mask: Tensor) -> Tensor:
    """Turn uniform draws (…,N) into points of the simplex within mask (…,N); 0 in an empty row."""
    return masking.renormalise(-torch.log1p(-draws), mask).nan_to_num(0.0)
