"""Words and their pieces: attention over words is the sum over their pieces, and a word's weight goes back in the same proportions."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnaudit.core.contract import Batch


@dataclass(frozen=True, eq=False)
class Pieces:
    item: Tensor  # (B,T) the item of each token, -1 for padding
    share: Tensor  # (B,R,T) of its word's weight; sums to 1 over the pieces of a word that may be attended
    item_mask: Tensor  # (B,R,N) bool, some piece may be attended
    content: Tensor  # (B,N) bool, a word that may be attended in some row

    @classmethod
    def of(cls, batch: Batch, rows: Tensor, allowed: Tensor) -> Pieces:
        """rows, allowed (B,R,T): the weights of the pieces, and which may be attended."""
        item = items_of(batch)
        count = int(item.max()) + 1
        special = _sum(batch.special[:, None], item, count)[:, 0] > 0  # type: ignore[attr-defined]
        pieces = _sum(allowed, item, count)
        there = _sum(batch.mask[:, None], item, count)[:, 0] > 0
        mask = pieces > 0
        # The proportions are facts about the text, not part of the question: no gradient goes through them.
        weight = rows.detach()
        total = _spread(_sum(weight, item, count), item)
        known = total > torch.finfo(total.dtype).tiny * 1e6
        even = allowed.to(weight.dtype) / _spread(pieces.to(weight.dtype), item).clamp_min(1)
        share = torch.where(known, weight / total.where(known, 1), even)
        return cls(item, share * (item >= 0)[:, None], mask, there & ~special & mask.any(1))

    def to_items(self, rows: Tensor) -> Tensor:
        """(B,R,T) -> (B,R,N)"""
        return _sum(rows, self.item, self.content.shape[1])

    def to_tokens(self, alpha: Tensor) -> Tensor:
        """(B,K,R,N) -> (B,K,R,T)"""
        index = self.item.clamp_min(0)[:, None, None].expand(*alpha.shape[:3], -1)
        return alpha.gather(3, index) * self.share[:, None]

    def between_items(self, weights: Tensor) -> Tensor:
        """(B,T,T) -> (B,N,N): summed over the pieces attended to, the mean over the pieces that attend."""
        onto = self.to_items(weights)
        inside = self.to_items(torch.ones_like(weights[:, :1]))
        return self.to_items(onto.transpose(1, 2)).transpose(1, 2) / inside.transpose(
            1, 2
        ).clamp_min(1)


def items_of(batch: Batch) -> Tensor:
    """(B,T) words numbered from 0 without holes, whatever was deleted or hidden; -1 for padding."""
    word = batch.word.where(batch.mask, -1)  # type: ignore[attr-defined]
    so_far = word.cummax(-1).values
    before = torch.full_like(word, -1)
    before[:, 1:] = so_far[:, :-1]
    number = (batch.mask & (word != before)).cumsum(-1) - 1
    return number.where(batch.mask, -1)


def _sum(values: Tensor, item: Tensor, count: int) -> Tensor:
    """(B,R,T) -> (B,R,N); padding goes nowhere."""
    values = values if values.is_floating_point() else values.long()
    index = (item + 1)[:, None].expand(-1, values.shape[1], -1)
    return values.new_zeros(*values.shape[:2], count + 1).scatter_add(2, index, values)[..., 1:]


def _spread(per_item: Tensor, item: Tensor) -> Tensor:
    """(B,R,N) -> (B,R,T), to each piece what its word has."""
    return per_item.gather(2, item.clamp_min(0)[:, None].expand(-1, per_item.shape[1], -1))
