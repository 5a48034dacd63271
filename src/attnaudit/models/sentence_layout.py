"""Texts cut into sentences, and values moved to the slots of words and back.

Sentences of about equal length are encoded together. Padded to the longest of a batch, nine in ten
slots of 64 film reviews are empty.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from attnaudit.core.contract import Batch
from attnaudit.core.errors import InputError
from attnaudit.core.special_tokens import END

_NARROWEST = 8  # words of the longest sentence in the first group; each next may have twice as many


@dataclass(frozen=True)
class SentenceLayout:
    """Where each word of B texts with T tokens is stored once they are cut into sentences.

    Parameters
    ----------
    sentence : Tensor, (B,T)
        The index of the word's sentence, -1 for tokens that are not words.
    rows : Tensor, (B,S,T) bool
        True = word t belongs to sentence s.
    groups : list of Tensors, (n,W) bool
        The sentences of similar length that are encoded together; True = a word. Their slots follow
        one another: M in all.
    slot : Tensor, (B·T,) int64
        Of each token; M for tokens that are not words.
    token : Tensor, (M,) int64
        In each slot; B·T in empty ones.
    """

    sentence: Tensor
    rows: Tensor
    groups: list[Tensor]
    slot: Tensor
    token: Tensor

    def by_group(self, values: Tensor, function: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        """Compute something of each sentence by itself.

        Parameters
        ----------
        values : Tensor, (B,T,V)
            Of each token; 0 stands in empty slots.
        function : callable
            Of the values (n,W,V) and words (n,W) of a group; returns (n,W,V').

        Returns
        -------
        Tensor, (B,T,V')
            0 for tokens that are not words.
        """
        stored = _take(values.flatten(0, 1), self.token)
        cuts = stored.split([group.numel() for group in self.groups])
        parts = [
            function(cut.view(*group.shape, -1), group).flatten(0, 1)
            for cut, group in zip(cuts, self.groups, strict=True)
        ]
        return _take(torch.cat(parts), self.slot).view(*self.sentence.shape, -1)


def sentence_layout(batch: Batch) -> SentenceLayout:
    """Cut the texts of a batch into sentences."""
    if batch.segments is None:
        raise InputError(
            "A hierarchical model needs the sentence of each token (Batch.segments), which this "
            "data does not have. Readers of texts split them with the option sentences=true "
            "(reviews.csv:sentences=true), babi has sentences, and the model attentive needs none."
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
    sentence = ((word & (number != before)).cumsum(-1) - 1).where(word, -1)
    count = max(int(sentence.max()) + 1, 1)
    rows = sentence[:, None] == torch.arange(count, device=sentence.device)[:, None]
    lengths = rows.sum(-1)
    groups, first = _groups(lengths)
    # The position in the sentence is that in the text less the words of earlier sentences.
    place = word.cumsum(-1) - 1
    own = sentence.clamp_min(0)
    slot = (first - lengths.cumsum(-1) + lengths).gather(1, own) + place
    slots = sum(group.numel() for group in groups)
    slot = slot.where(word, slots).flatten()
    token = torch.full((slots + 1,), len(slot), device=slot.device)
    token[slot] = torch.arange(len(slot), device=slot.device)
    return SentenceLayout(sentence, rows, groups, slot, token[:-1])


def _groups(lengths: Tensor) -> tuple[list[Tensor], Tensor]:
    """The groups of sentences with these lengths (B,S), and the first slot of each (B,S)."""
    groups = []
    first = torch.zeros_like(lengths)
    slots, narrower, width = 0, 0, _NARROWEST
    longest = int(lengths.max())
    if not longest:  # one empty sentence, so that there is a group
        return [torch.zeros(1, 1, dtype=torch.bool, device=lengths.device)], first
    while narrower < longest:
        chosen = (lengths > narrower) & (lengths <= width)
        inside = lengths[chosen]
        if len(inside):
            widest = int(inside.max())
            first[chosen] = slots + torch.arange(len(inside), device=lengths.device) * widest
            groups.append(torch.arange(widest, device=lengths.device) < inside[:, None])
            slots += len(inside) * widest
        narrower, width = width, 2 * width
    return groups, first


def _take(values: Tensor, index: Tensor) -> Tensor:
    """The rows of values (N,V) at these places (M,); 0 at place N."""
    return torch.cat([values, values.new_zeros(1, values.shape[1])]).index_select(0, index)
