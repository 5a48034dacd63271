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
from attnaudit.models.passing_deletion import half_terms, logits_while_passing
from attnaudit.models.terms import describes_forward

# Bounds on memory: deletions · examples · items whose hidden states are held at once, and
# examples · items for which an encoder holds what all deletions share.
_DELETED_AT_ONCE = 2**15
_SHARED_AT_ONCE = 2**13
_MOST_OF_LONG = 64  # deletions of a long text at once
_TEMPORARIES = 4  # of the size of the weights
_COMPARED = 4  # numbers of two vectors, before all of them
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
    scores: Tensor  # (B,N), of the attention
    readout: Tensor | None  # (B,N,C); None if the output is not linear in the attention

    def rows(self, index: Tensor, width: int) -> SiteParts:
        """Return the examples at index, cut to the given width.

        Vectors and states are empty if neither encoder nor output will read them.
        """
        unread = getattr(self.encoder, "context_free", False) and self.readout is not None
        size = 0 if unread else None
        return replace(
            self,
            vectors=self.vectors[index, :width, :size],
            hidden=self.hidden[index, :width, :size],
            mask=self.mask[index, :width],
            content=self.content[index, :width],
            query=None if self.query is None else self.query[index],
            scores=self.scores[index, :width],
            readout=None if self.readout is None else self.readout[index, :width],
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
        places = deleted[index, :width].any(0).nonzero()[:, 0]
        if not len(places):
            continue
        group = _Group(site.rows(index, width), classes)
        for start, end in _runs(places) if wanted is not None else _whole(places):
            for begin, part in group.logits(start, end):
                logits[index, begin : begin + part.shape[1]] = part
    logits = logits.gather(1, first[..., None].expand_as(logits))
    answered = site.content & (site.content.sum(-1, keepdim=True) > 1)
    if wanted is not None:
        answered = answered & wanted
    return logits.masked_fill(~answered[..., None], torch.nan)


class _Group:
    """Texts of similar length, and what all deletions from them share."""

    def __init__(self, site: SiteParts, classes: int) -> None:
        self.site = site
        self.deletions = site.encoder.deletions(site.vectors, site.mask, site.hidden)
        self.terms = (
            half_terms(site.scorer, site.output, site.hidden, site.query)
            if hasattr(self.deletions, "passing")
            else None
        )
        examples, width = site.content.shape
        self.most = _most_deletions(examples, width, 0 if self.terms is None else 1 + classes)

    def logits(self, start: int, end: int) -> Iterator[tuple[int, Tensor]]:
        """Yield a first item and the logits (B,K,C) without it and those after it, to the end."""
        step = self.most
        while start < end:
            stop = min(start + step, end)
            part = self._without(start, stop)
            if part is None:
                step = (stop - start) // 2
                continue
            yield start, part
            start, step = stop, min(2 * step, self.most)

    def _without(self, start: int, stop: int) -> Tensor | None:
        """Return the logits (B,K,C); None if so many deletions do not fit into memory."""
        items = torch.arange(self.site.content.shape[1], device=self.site.content.device)
        kept = self.site.content & (items[start:stop, None] != items)[:, None]
        passing = None if self.terms is None else self.deletions.passing(start, stop)
        if self.terms is not None and passing is not None:
            return logits_while_passing(self.terms, passing, self.site.projection, kept)
        changes = self.deletions(start, stop)
        return None if changes is None else _without(self.site, kept, *changes)


def _whole(places: Tensor) -> list[tuple[int, int]]:
    """Return the one range from the first to the last of sorted places."""
    return [(int(places[0]), int(places[-1]) + 1)]


def _runs(places: Tensor) -> list[tuple[int, int]]:
    """Return the ranges (start, stop) of consecutive numbers among sorted places."""
    gaps = (places.diff() > 1).nonzero()[:, 0].tolist()
    runs = zip([0, *(gap + 1 for gap in gaps)], [*gaps, len(places) - 1], strict=True)
    numbers = places.tolist()
    return [(numbers[first], numbers[last] + 1) for first, last in runs]


def _most_deletions(examples: int, width: int, passed: int) -> int:
    """Return how many deletions of each of so many texts are computed at once.

    In long texts the weights (K,B,N) take the memory, and a deletion changes few states. If states
    are only passed, so many numbers of each are held.
    """
    if width < deletion_protocol.LONG_TEXT:
        if passed:
            return rows_at_once(passed * examples * width)
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
    before, after = site.vectors[:, :-1], site.vectors[:, 1:]
    equal = site.content[:, 1:] & site.content[:, :-1]
    # Few are equal in the first numbers; only these are compared in all.
    equal &= (after[..., :_COMPARED] == before[..., :_COMPARED]).all(-1)
    equal[equal.clone()] = (after[equal] == before[equal]).all(-1)
    first = items.expand_as(site.content).masked_fill(pad(equal, (1, 0)), 0)
    return first.cummax(-1).values


def _without(site: SiteParts, kept: Tensor, where: Tensor, changed: Tensor) -> Tensor:
    """Return the logits (B,K,C) of K deletions, after each of which some items (K,B,N) are kept.

    A deletion changes the states of the items where (K,W) to changed (K,B,W,H).
    """
    count, examples, width, _ = changed.shape
    if not width:
        return _with_other_weights(site, kept)
    query = None if site.query is None else site.query.repeat(count, 1)
    faster = describes_forward(site.scorer, "without_gradients")
    score = site.scorer.without_gradients if faster else site.scorer
    rescored = score(changed.flatten(0, 1), query).view(count, examples, width)
    # An extra item at the end takes the entries of `where` that stand for no item.
    index = where[:, None].expand_as(rescored)
    updated = pad(site.scores, (0, 1)).expand(count, -1, -1).scatter(2, index, rescored)[..., :-1]
    alpha = pad(site.projection(updated.flatten(0, 1), kept.flatten(0, 1)), (0, 1)).view(
        count, examples, -1
    )
    of_unchanged = alpha.scatter(2, index, 0.0)[..., :-1].transpose(0, 1) @ site.hidden
    of_changed = (alpha.gather(2, index)[:, :, None] @ changed)[:, :, 0].transpose(0, 1)
    return site.output(of_unchanged + of_changed, site.query)


def _with_other_weights(site: SiteParts, kept: Tensor) -> Tensor:
    """Return the logits (B,K,C) of attention to the items kept (K,B,N); no state changes."""
    scores = site.scores.expand(kept.shape)
    alpha = site.projection(scores.flatten(0, 1), kept.flatten(0, 1))
    alpha = alpha.unflatten(0, kept.shape[:2]).transpose(0, 1)
    if site.readout is None:
        return site.output(alpha @ site.hidden, site.query)
    return alpha @ site.readout
