"""Texts cut into sentences of equal width, and values moved to the slots of words and back."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnaudit.core.contract import Batch
from attnaudit.core.errors import InputError
from attnaudit.core.special_tokens import END


@dataclass(frozen=True)
class SentenceLayout:
    """The position of each word once the texts are cut into sentences of equal width."""

    sentence: Tensor  # (B,T) index of the word's sentence, -1 for tokens that are not words
    # (B,T) sentence · width + position in it; the slot after the last for tokens that are not words
    slot: Tensor
    words: Tensor  # (B,S,W) bool, True = a word
    rows: Tensor  # (B,S,T) bool, True = word t belongs to sentence s


def sentence_layout(batch: Batch) -> SentenceLayout:
    """Cut the texts of a batch into sentences."""
    if batch.segments is None:
        raise InputError(
            "A hierarchical model needs the sentence of each token (Batch.segments), which this "
            "data does not have. Choose a dataset with sentences, such as babi, or the model "
            "attentive."
        )
    word = batch.mask & (batch.tokens > END)
    # Sentences are renumbered by where they begin: one whose words were all deleted leaves no gap.
    before = torch.full_like(batch.segments, -1)
    number = batch.segments.where(word, -1).cummax(-1).values
    if (batch.segments < number)[word].any():
        raise InputError(
            "The sentence numbers of a text (Batch.segments) must not decrease from token to token."
        )
    before[:, 1:] = number[:, :-1]
    sentence = (word & (number != before)).cumsum(-1) - 1
    count = max(int(sentence.max()) + 1, 1)
    rows = (sentence[:, None] == torch.arange(count, device=sentence.device)[:, None]) & word[
        :, None
    ]
    place = (rows.cumsum(-1) - 1).masked_fill(~rows, 0).sum(1)
    widest = max(int(rows.sum(-1).max()), 1)
    slot = (sentence * widest + place).where(word, count * widest)
    words = torch.arange(widest, device=sentence.device) < rows.sum(-1, keepdim=True)
    return SentenceLayout(sentence.where(word, -1), slot, words, rows)


def to_slots(values: Tensor, slot: Tensor, slots: int) -> Tensor:
    """Move values (B,T,E) to their slots (B,slots,E)."""
    index = slot[..., None].expand_as(values)
    return values.new_zeros(len(values), slots + 1, values.shape[2]).scatter(1, index, values)[
        :, :slots
    ]


def from_slots(values: Tensor, slot: Tensor) -> Tensor:
    """Move values out of their slots (B,T,E); 0 for tokens that are not words."""
    padded = torch.cat([values, values.new_zeros(len(values), 1, values.shape[2])], 1)
    return padded.gather(1, slot[..., None].expand(-1, -1, values.shape[2]))
