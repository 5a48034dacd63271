"""Texts in which two words have changed places."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from attnaudit.core.contract import Batch, Record

_OF_THE_WORD = ("tokens", "evidence")  # move with the word; the rest belongs to its place


def can_swap(record: Record, item: Tensor) -> Tensor:
    """The items (B,N) that an item (B,1) can change places with to make another text.

    They count, are of other tokens and, in a pair of texts, in the same text. Items whose tokens
    are not next to each other cannot be moved.
    """
    items = record.content.shape[1]
    start, length = _spans(record)
    spelled = _tokens_of(record, start, length)  # (B,N,W)
    own = spelled.gather(1, item[..., None].expand(-1, -1, spelled.shape[2]))
    allowed = record.content & (spelled != own).any(-1) & _together(record, start, length)
    allowed &= _together(record, start, length).gather(1, item)
    pair = getattr(record.batch, "pair", None)
    if pair is not None:
        text = pair.gather(1, start.clamp_max(pair.shape[1] - 1))
        allowed &= text == text.gather(1, item)
    return allowed.scatter(1, item, False) & (length > 0) & (items > 1)


def swapped(record: Record, first: Tensor, second: Tensor) -> Batch:
    """The batch with items first (B,1) and second (B,1) in each other's place.

    Items keep their numbers by place: in the swapped text, item `first` is the word that was
    `second`. Words may have different numbers of tokens. Equal numbers change nothing.
    """
    batch, item = record.batch, record.item_of_token
    start, _ = _spans(record)
    place = torch.arange(item.shape[1], device=item.device).expand_as(item)
    moved_to = torch.where(item == first, start.gather(1, second), place)
    moved_to = torch.where(item == second, start.gather(1, first), moved_to)
    at_place, order = moved_to.sort(dim=-1, stable=True)
    changed = {
        name: value.gather(1, order if name in _OF_THE_WORD else at_place)
        for name in batch.per_token
        if (value := getattr(batch, name)) is not None
    }
    return replace(batch, **changed)


def _spans(record: Record) -> tuple[Tensor, Tensor]:
    """The first token of each item, and how many it has: (B,N) int64."""
    item, items = record.item_of_token, record.content.shape[1]
    tokens = item.shape[1]
    place = torch.arange(tokens, device=item.device).expand_as(item)
    first = item.new_full((len(item), items + 1), tokens)
    first = first.scatter_reduce(1, item + 1, place, "amin")[:, 1:]
    return first, record.to_items((item >= 0).long())


def _together(record: Record, start: Tensor, length: Tensor) -> Tensor:
    """Whether the tokens of each item are next to each other (B,N)."""
    place = torch.arange(record.item_of_token.shape[1], device=start.device)
    last = start.new_full((len(start), start.shape[1] + 1), -1).scatter_reduce(
        1, record.item_of_token + 1, place.expand_as(record.item_of_token), "amax"
    )
    return last[:, 1:] - start + 1 == length


def _tokens_of(record: Record, start: Tensor, length: Tensor) -> Tensor:
    """The tokens of each item (B,N,W), -1 after its last."""
    tokens = record.batch.tokens
    width = max(int(length.max()), 1) if length.numel() else 1
    offset = torch.arange(width, device=start.device)
    place = (start[..., None] + offset).clamp_max(tokens.shape[1] - 1)
    spelled = tokens[:, None].expand(-1, start.shape[1], -1).gather(2, place)
    return spelled.where(offset < length[..., None], -1)
