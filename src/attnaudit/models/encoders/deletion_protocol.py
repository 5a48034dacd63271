"""How an encoder reports which hidden states change when an item is deleted.

An encoder may have a method `deletions(embeddings (B,T,E), mask (B,T), hidden (B,T,H))`, where
`hidden` is its output. It computes what all deletions share and returns a function of a range of
positions, `start` and `stop`, which gives the `StateChanges`; or None if those of several
deletions do not fit into memory: it is then called with fewer. Items keep their positions: the
deleted one is to be masked. There are no gradients. If the encoder has an attribute
`fewest_deletions`, reading again is faster for fewer deletions than that. If its attribute
`context_free` is True, `embeddings` and `hidden` may be (B,T,0): no state changes.

If each half of a state is changed by deletions on one side of its item only, the encoder may have
a method `ways`, too, with the same arguments. It returns a function of R deletions, given by their
texts (R,) and items (R,), which gives the new states item by item, so that few are held at once:
two `Way`s, of the first half by items before and of the second half by items after. It is not for
texts of `LONG_TEXT` items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
    """The new states at one place, after the deletions that change them."""

    place: int
    rows: slice  # the deletions, in the order of the way
    states: Tensor  # (R + …,H/2), used again for the next place


class Way(NamedTuple):
    """R deletions on their way through the texts, from the last place to the first."""

    place: Tensor  # (B,T) int64, of each item; the item at each place, too
    order: Tensor  # (R,) int64, the given deletions as the rows have them
    steps: Iterator[PassedStates]  # without padding; places that change nothing are left out


Ways = Callable[[Tensor, Tensor], list[Way]]
Deletions = Callable[[int, int], StateChanges | None]


def nothing_changes(hidden: Tensor) -> Deletions:
    """Return the changes for an encoder without context: none."""

    def changed(start: int, stop: int) -> StateChanges:
        nowhere = torch.empty(stop - start, 0, dtype=torch.int64, device=hidden.device)
        return StateChanges(
            nowhere, hidden.new_empty(stop - start, len(hidden), 0, hidden.shape[2])
        )

    return changed
