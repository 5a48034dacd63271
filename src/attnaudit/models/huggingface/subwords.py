"""Attention over words from attention over subword tokens, and back.

A word's weight is the sum over its tokens, and goes back to them in the same proportions.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnaudit.core.contract import Batch


@dataclass(frozen=True, eq=False)
class Subwords:
    """Which tokens make up each word, and how they share its weight."""

    item: Tensor  # (B,T) the item of each token, -1 for padding
    share: Tensor  # (B,R,T) of the word's weight; sums to 1 over its tokens that may be attended
    item_mask: Tensor  # (B,R,N) bool, some token of the word may be attended
    content: Tensor  # (B,N) bool, a word that may be attended in some row

    @classmethod
    def of(cls, batch: Batch, rows: Tensor, allowed: Tensor) -> Subwords:
        """Group the tokens of a batch; rows, allowed (B,R,T) are their weights and their mask."""
        item = items_of(batch)
        count = int(item.max()) + 1
        special = _sum(batch.special[:, None], item, count)[:, 0] > 0  # type: ignore[attr-defined]
        tokens = _sum(allowed, item, count)
        exists = _sum(batch.mask[:, None], item, count)[:, 0] > 0
        mask = tokens > 0
        # The proportions belong to the text and not to the question: no gradient through them.
        weight = rows.detach()
        total = _spread(_sum(weight, item, count), item)
        known = total > torch.finfo(total.dtype).tiny * 1e6
        even = allowed.to(weight.dtype) / _spread(tokens.to(weight.dtype), item).clamp_min(1)
        share = torch.where(known, weight / total.where(known, 1), even)
        return cls(item, share * (item >= 0)[:, None], mask, exists & ~special & mask.any(1))

    def to_items(self, rows: Tensor) -> Tensor:
        """Sum the weights of each word's tokens: (B,R,T) -> (B,R,N)."""
        return _sum(rows, self.item, self.content.shape[1])

    def to_tokens(self, alpha: Tensor) -> Tensor:
        """Share each word's weight among its tokens: (B,K,R,N) -> (B,K,R,T)."""
        index = self.item.clamp_min(0)[:, None, None].expand(*alpha.shape[:3], -1)
        return alpha.gather(3, index) * self.share[:, None]

    def values_of_items(self, values: Tensor) -> Tensor:
        """Sum what the tokens of each word pass on: (B,R,T,D) -> (B,R,N,D).

        Weights of words times these are the weights `to_tokens` times the values of tokens.
        """
        shared = self.share[..., None] * values
        index = self.item.clamp_min(0)[:, None, :, None].expand_as(shared)  # padding shares nothing
        empty = shared.new_zeros(*shared.shape[:2], self.content.shape[1], shared.shape[3])
        return empty.scatter_add(2, index, shared)


def items_of(batch: Batch) -> Tensor:
    """Number the words of each text from 0 without gaps, after any deletion; -1 for padding."""
    word = batch.word.where(batch.mask, -1)  # type: ignore[attr-defined]
    so_far = word.cummax(-1).values
    before = torch.full_like(word, -1)
    before[:, 1:] = so_far[:, :-1]
    number = (batch.mask & (word != before)).cumsum(-1) - 1
    return number.where(batch.mask, -1)


def _sum(values: Tensor, item: Tensor, count: int) -> Tensor:
    """Sum token values into item values: (B,R,T) -> (B,R,N); padding is left out."""
    values = values if values.is_floating_point() else values.long()
    index = (item + 1)[:, None].expand(-1, values.shape[1], -1)
    return values.new_zeros(*values.shape[:2], count + 1).scatter_add(2, index, values)[..., 1:]


def _spread(per_item: Tensor, item: Tensor) -> Tensor:
    """Give each token the value of its word: (B,R,N) -> (B,R,T)."""
    return per_item.gather(2, item.clamp_min(0)[:, None].expand(-1, per_item.shape[1], -1))
