"""Rank items by score, equal scores in a random order that depends on the name of the example.

Most rankings have no equal scores, and random numbers are drawn only for those that have.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from attnaudit.core import masking, randomness, sorting


def descending(
    scores: Tensor, mask: Tensor, seed: int, name: str, example_ids: Sequence[str]
) -> Tensor:
    """Item indices by decreasing score, masked items last.

    Parameters
    ----------
    scores : Tensor, (B,K,N)
        K rankings of the items of each example; no NaN within the mask. Items that are equal in
        several rankings have the same order in all.
    mask : Tensor, (B,N) bool
    seed, name, example_ids : of the order of equal scores, see `randomness.keys`.

    Returns
    -------
    Tensor, (B,K,N) int64
        As `masking.descending` with a uniform number per item.
    """
    ascending = (-scores).masked_fill_(~mask[:, None], torch.inf)
    order = sorting.order(ascending)
    ranked = ascending.gather(-1, order)
    # A real item may score -inf, like the masked ones: of two neighbours at least one is real if
    # the first is at a place of real items. Masked items keep their order in any case.
    place = torch.arange(1, scores.shape[2], device=scores.device)
    equal = (ranked[..., 1:] == ranked[..., :-1]) & (place <= mask.sum(-1)[:, None, None])
    tied = equal.flatten(1).any(-1).nonzero()[:, 0]
    if len(tied):
        ids = [example_ids[row] for row in tied.tolist()]
        draws = randomness.uniform(randomness.keys(seed, name, ids), scores.shape[2])
        order[tied] = masking.descending(
            scores[tied], mask[tied, None], draws.to(scores.device)[:, None]
        )
    return order
