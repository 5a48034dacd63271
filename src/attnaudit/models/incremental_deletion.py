"""The logits without each item, computed from what the deletion changes in the encoder.

See `attnaudit.models.encoders.deletion_protocol` for what an encoder provides.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from attnaudit.core.memory_budget import rows_at_once
from attnaudit.models.encoders import deletion_protocol

# Bounds on memory: deletions · examples · items whose hidden states are held at once, and
# examples · items for which an encoder holds what all deletions share.
_DELETED_AT_ONCE = 2**15
_SHARED_AT_ONCE = 2**13
_MOST_OF_LONG = 64  # deletions of a long text at once
_TEMPORARIES = 4  # of the size of the weights
_LENGTH_RATIO = 1.25  # of the longest to the shortest text in a group


@dataclass(frozen=True)
class SiteParts:
    """One row of attention: the parts of the model around it, and their inputs and outputs."""

    encoder: Any
    scorer: Any
    projection: Any
    output: Any
    vectors: Tensor  # (B,N,E), input of the encoder
    hidden: Tensor  # (B,N,H), output of the encoder
    mask: Tensor  # (B,N) bool, True = read by the encoder
    content: Tensor  # (B,N) bool, True = may be attended and is content
    query: Tensor | None  # (B,H)

    def rows(self, index: Tensor, width: int) -> SiteParts:
        """Return the examples at index, cut to the given width."""
        return replace(
            self,
            vectors=self.vectors[index, :width],
            hidden=self.hidden[index, :width],
            mask=self.mask[index, :width],
            content=self.content[index, :width],
            query=None if self.query is None else self.query[index],
        )


def can_share(encoder: Any, deleted: Tensor) -> bool:
    """Return whether the encoder knows what a deletion changes, and using that is faster.

    deleted (B,N) is True for the items to delete.
    """
    return hasattr(encoder, "deletions") and int(deleted.sum()) >= getattr(
        encoder, "fewest_deletions", 0
    )


@torch.no_grad()
def logits_without_each(site: SiteParts, classes: int, wanted: Tensor | None = None) -> Tensor:
    """Return the logits without each item (B,N,C), equal to reading the shorter texts.

    NaN for items that are not content, or not among those wanted (B,N), and for the only item of a
    text.
    """
    logits = site.hidden.new_full((*site.content.shape, classes), torch.nan)
    deleted, first = site.content, _first_of_equals(site)
    if wanted is not None:
        asked = (wanted & site.content).byte()
        deleted = torch.zeros_like(asked).scatter_reduce(1, first, asked, "amax").bool()
    for index, width in groups_by_length(site.mask.sum(-1)):
        group = site.rows(index, width)
        places = deleted[index, :width].any(0).nonzero()[:, 0]
        if not len(places):
            continue
        deletions = group.encoder.deletions(group.vectors, group.mask, group.hidden)
        scores = group.scorer(group.hidden, group.query)
        step = most = _most_deletions(len(index), width)
        for start, end in _runs(places) if wanted is not None else _whole(places):
            while start < end:
                stop = min(start + step, end)
                changes = deletions(start, stop)
                if changes is None:
                    step = (stop - start) // 2
                    continue
                logits[index, start:stop] = _without(group, scores, start, *changes)
                start, step = stop, min(2 * step, most)
    logits = logits.gather(1, first[..., None].expand_as(logits))
    answered = site.content & (site.content.sum(-1, keepdim=True) > 1)
    if wanted is not None:
        answered = answered & wanted
    return logits.masked_fill(~answered[..., None], torch.nan)


def _whole(places: Tensor) -> list[tuple[int, int]]:
    """Return the one range from the first to the last of sorted places."""
    return [(int(places[0]), int(places[-1]) + 1)]


def _runs(places: Tensor) -> list[tuple[int, int]]:
    """Return the ranges (start, stop) of consecutive numbers among sorted places."""
    gaps = (places.diff() > 1).nonzero()[:, 0].tolist()
    runs = zip([0, *(gap + 1 for gap in gaps)], [*gaps, len(places) - 1], strict=True)
    numbers = places.tolist()
    return [(numbers[first], numbers[last] + 1) for first, last in runs]


def _most_deletions(examples: int, width: int) -> int:
    """Return how many deletions of each of so many texts are computed at once.

    In long texts the weights (K,B,N) take the memory, and a deletion changes few states.
    """
    if width < deletion_protocol.LONG_TEXT:
        return max(1, _DELETED_AT_ONCE // (examples * width))
    return min(_MOST_OF_LONG, rows_at_once(_TEMPORARIES * examples * width))


def groups_by_length(lengths: Tensor) -> Iterator[tuple[Tensor, int]]:
    """Yield groups of examples of similar length, and the longest length in each.

    Groups have little padding and are small enough for memory. lengths (B,).
    """
    order = lengths.argsort(descending=True)
    longest_first = lengths[order].clamp_min(1)
    step = ((longest_first[:1] / longest_first).log() / math.log(_LENGTH_RATIO)).floor()
    for rows in order.split(step.unique_consecutive(return_counts=True)[1].tolist()):
        for part in rows.split(max(1, _SHARED_AT_ONCE // max(int(lengths[rows[0]]), 1))):
            yield part, max(int(lengths[part[0]]), 1)


def _first_of_equals(site: SiteParts) -> Tensor:
    """Return, for each item, the first of the equal neighbours it belongs to (B,N).

    Deleting either of two equal neighbours leaves the same text: rounding must not distinguish
    them.
    """
    items = torch.arange(site.content.shape[1], device=site.content.device)
    equal = (
        (site.vectors[:, 1:] == site.vectors[:, :-1]).all(-1)
        & site.content[:, 1:]
        & site.content[:, :-1]
    )
    first = items.expand_as(site.content).masked_fill(pad(equal, (1, 0)), 0)
    return first.cummax(-1).values


def _without(site: SiteParts, scores: Tensor, start: int, where: Tensor, changed: Tensor) -> Tensor:
    """Return the logits (B,K,C) of K deletions, of the items from `start` on.

    scores (B,N) are those of the whole text; a deletion changes the states of the items
    where (K,W) to changed (K,B,W,H).
    """
    count, examples, width, _ = changed.shape
    items = torch.arange(site.content.shape[1], device=where.device)
    query = None if site.query is None else site.query.repeat(count, 1)
    rescored = site.scorer(changed.flatten(0, 1), query).view(count, examples, width)
    # An extra item at the end takes the entries of `where` that stand for no item.
    index = where[:, None].expand_as(rescored)
    updated = pad(scores, (0, 1)).expand(count, -1, -1).scatter(2, index, rescored)[..., :-1]
    kept = site.content & (items[start : start + count, None] != items)[:, None]
    alpha = pad(site.projection(updated.flatten(0, 1), kept.flatten(0, 1)), (0, 1)).view(
        count, examples, -1
    )
    of_unchanged = alpha.scatter(2, index, 0.0)[..., :-1].transpose(0, 1) @ site.hidden
    of_changed = (alpha.gather(2, index)[:, :, None] @ changed)[:, :, 0].transpose(0, 1)
    return site.output(of_unchanged + of_changed, site.query)
