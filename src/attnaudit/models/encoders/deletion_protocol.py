"""How an encoder reports which hidden states change when an item is deleted.

An encoder may have a method `deletions(embeddings (B,T,E), mask (B,T), hidden (B,T,H))`, where
`hidden` is its output. It computes what all deletions share and returns a function of a range of
positions, `start` and `stop`, which gives the `StateChanges`; or None if those of several
deletions do not fit into memory: it is then called with fewer. Items keep their positions: the
deleted one is to be masked. There are no gradients. If the encoder has an attribute
`fewest_deletions`, reading again is faster for fewer deletions than that. If its attribute
`context_free` is True, `embeddings` and `hidden` may be (B,T,0): no state changes. If the function
has a method `passing`, with the same arguments, it gives the new states item by item instead, so
that few are held at once; or None if it cannot.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

# Items from which on a text is long: a deletion is then followed only until it has no effect, and
# memory bounds how many are computed at once.
LONG_TEXT = 1024


class StateChanges(NamedTuple):
    """The states that K = stop - start deletions change; each deletes one position in all texts."""

    where: Tensor  # (K,W) int64, the items that may have changed; T stands for none
    hidden: Tensor  # (K,B,W,H), their new states; undefined on padding and at the deleted item


class PassedStates(NamedTuple):
    """New values of one half of the states of an item, in the deletions that changed them."""

    item: int
    half: int  # 0 or 1, of the numbers of a state
    deletions: slice  # of the K = stop - start
    states: Tensor  # (M,H/2), used again for the next item
    rows: slice  # of `states`: those of the first deletion in all B texts, of the next one, …


Deletions = Callable[[int, int], StateChanges | None]


def nothing_changes(hidden: Tensor) -> Deletions:
    """Return the changes for an encoder without context: none."""

    def changed(start: int, stop: int) -> StateChanges:
        nowhere = torch.empty(stop - start, 0, dtype=torch.int64, device=hidden.device)
        return StateChanges(
            nowhere, hidden.new_empty(stop - start, len(hidden), 0, hidden.shape[2])
        )

    return changed
