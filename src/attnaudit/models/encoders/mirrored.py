"""Texts from their last item to their first."""

from __future__ import annotations

import torch
from torch import Tensor


def mirrored_items(mask: Tensor) -> Tensor:
    """Return the item at each place of the mirrored texts (B,T); padding stays in place.

    mask (B,T) is True for items; padding is on the right. Mirrored twice, a text is as before.
    """
    place = torch.arange(mask.shape[1], device=mask.device)
    mirrored = mask.sum(-1, keepdim=True) - 1 - place
    return torch.where(mirrored >= 0, mirrored, place)


def take_items(values: Tensor, items: Tensor) -> Tensor:
    """Return values (B,T,V) of the items (B,T)."""
    first = torch.arange(len(items), device=items.device)[:, None] * items.shape[1]
    index = (first + items).flatten()
    return values.flatten(0, 1).index_select(0, index).view_as(values)
