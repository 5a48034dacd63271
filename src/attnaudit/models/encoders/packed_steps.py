"""Texts of different lengths, stored step by step without their padding.

Texts are ordered by length, the longest first, so that those which have a step t are the first
`counts[t]`. Their items at step 0 come first, then those at step 1, and so on: each step is a
slice. Going left, step 0 is the last item of a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor
from torch.nn.functional import pad

from attnaudit.models.encoders.row_product import ROWS

# Rows that are computed one after the other while they are in the cache (2 MB of gates for 128
# units in float32), unless a single step has more.
_BLOCK = 512


@dataclass(frozen=True)
class Block:
    """Successive steps: the rows of all of them, and of each."""

    rows: slice
    steps: Sequence[slice]

    @property
    def size(self) -> int:
        """The number of rows."""
        return self.rows.stop - self.rows.start


@dataclass(frozen=True)
class PackedSteps:
    """Where each step of B texts, padded to T items, is stored.

    Parameters
    ----------
    counts, starts : list of int
        Of each step: the number of texts that have it, and where they are stored.
    places : tuple of two Tensors, (M,) int64
        Going right and going left: the place b·T + t of each stored item.
    texts : Tensor, (B,) int64
        The texts in the order in which they are stored.
    """

    counts: list[int]
    starts: list[int]
    places: tuple[Tensor, Tensor]
    texts: Tensor

    @property
    def size(self) -> int:
        """The number M of stored items."""
        return len(self.places[0])

    def packed(self, values: Tensor, direction: int) -> Tensor:
        """Store values (B,T,V) as (M + `ROWS`,V), with room for `row_product` at the end."""
        index = pad(self.places[direction], (0, ROWS))
        return values.reshape(-1, values.shape[-1]).index_select(0, index)

    @property
    def blocks(self) -> list[Block]:
        """Successive steps in blocks of a size that suits the cache."""
        blocks: list[list[slice]] = []
        for start, count in zip(self.starts, self.counts, strict=True):
            if not blocks or start + count - blocks[-1][0].start > _BLOCK:
                blocks.append([])
            blocks[-1].append(slice(start, start + count))
        return [Block(slice(steps[0].start, steps[-1].stop), steps) for steps in blocks]


def packed_steps(mask: Tensor) -> PackedSteps:
    """Order the texts with this mask (B,T); padding is on the right."""
    lengths, texts = mask.sum(-1).sort(descending=True, stable=True)
    longest = int(lengths[0]) if len(lengths) else 0
    step = torch.arange(longest, device=mask.device)
    step, text = (step[:, None] < lengths).nonzero(as_tuple=True)
    counts = step.bincount(minlength=longest).tolist()
    starts = [0, *accumulate(counts)][: len(counts)]
    first = texts[text] * mask.shape[1]
    return PackedSteps(counts, starts, (first + step, first + lengths[text] - 1 - step), texts)
