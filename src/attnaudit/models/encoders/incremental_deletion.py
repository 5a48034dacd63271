"""What becomes of the hidden states when an item is deleted, for encoders that know better than to read the text again.

An encoder may offer `deletions(embeddings (B,T,E), mask (B,T), hidden (B,T,H))`: hidden is what it made of them. The answer is a
function of a range of places, start and stop; what all deletions share is computed before it is returned. The gap is left
open (items keep their numbers), which is the same to whoever masks it. No gradients. With fewer than `fewest_deletions` at once, where
an encoder has that, reading again is quicker.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor


class Changed(NamedTuple):
    """K = stop - start deletions, each of the item at one place, in all B examples."""

    where: Tensor  # (K,W) int64, the items that may have changed; T where there is none
    hidden: Tensor  # (K,B,W,H), their states without the deleted item; anything on padding and in the gap


Deletions = Callable[[int, int], Changed]


def nothing_changes(hidden: Tensor) -> Deletions:
    """For an encoder in which no item sees any other."""

    def changed(start: int, stop: int) -> Changed:
        nowhere = torch.empty(stop - start, 0, dtype=torch.int64, device=hidden.device)
        return Changed(nowhere, hidden.new_empty(stop - start, len(hidden), 0, hidden.shape[2]))

    return changed
