"""The logits without each item, computed from what the deletion changes in the encoder.

See `attnaudit.models.encoders.deletion_protocol` for what an encoder provides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from attnaudit.core.memory_budget import rows_at_once
from attnaudit.models.encoders import deletion_protocol
from attnaudit.models.passing_deletion import (
    PASSING_RATIO,
    half_terms,
    logits_on_their_way,
    most_at_once,
)
from attnaudit.models.site_parts import SiteParts
from attnaudit.models.terms import describes_forward

# Bounds on memory: deletions · examples · items whose hidden states are held at once, and
# examples · items for which an encoder holds what all deletions share.
_DELETED_AT_ONCE = 2**15
_SHARED_AT_ONCE = 2**13
_MOST_OF_LONG = 64  # deletions of a long text at once
_TEMPORARIES = 4  # of the size of the weights
_COMPARED = 4  # numbers of two vectors, before all of them
_RATIO = 1.25  # of the longest to the shortest text in a group: padding costs time


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
    by_halves = half_terms(site) is not None

    def passing(width: int) -> bool:
        return by_halves and width < deletion_protocol.LONG_TEXT

    def most(width: int) -> int:
        shared = _most_texts(width)
        return min(shared, most_at_once(width, classes)) if passing(width) else shared

    ratio = PASSING_RATIO if passing(site.mask.shape[1]) else _RATIO
    for index, width in groups_by_length(site.mask.sum(-1), most, ratio):
        group, here = site.rows(index, width), deleted[index, :width]
        if not here.any():
            continue
        texts, items = here.nonzero(as_tuple=True)
        found = logits_on_their_way(group, texts, items) if passing(width) else None
        if found is not None:
            logits[index[texts], items] = found
        else:
            for start, part in _by_ranges(group, here, whole=wanted is None):
                logits[index, start : start + part.shape[1]] = part
    logits = logits.gather(1, first[..., None].expand_as(logits))
    answered = site.content & (site.content.sum(-1, keepdim=True) > 1)
    if wanted is not None:
        answered = answered & wanted
    return logits.masked_fill(~answered[..., None], torch.nan)


def _by_ranges(site: SiteParts, asked: Tensor, *, whole: bool) -> Iterator[tuple[int, Tensor]]:
    """Yield a first item, and the logits (B,K,C) without it and each of those after it.

    Of the ranges of the items asked (B,N), or of the whole range from the first to the last.
    """
    examples, width = site.content.shape
    places = asked.any(0).nonzero()[:, 0]
    items = torch.arange(width, device=places.device)
    deletions = site.encoder.deletions(site.vectors, site.mask, site.hidden)
    step = most = _most_deletions(examples, width)
    for start, end in _whole(places) if whole else _runs(places):
        while start < end:
            stop = min(start + step, end)
            changes = deletions(start, stop)
            if changes is None:
                step = (stop - start) // 2
                continue
            kept = site.content & (items[start:stop, None] != items)[:, None]
            yield start, _without(site, kept, *changes)
            start, step = stop, min(2 * step, most)


def _whole(places: Tensor) -> list[tuple[int, int]]:
    """Return the one range from the first to the last of sorted places."""
    return [(int(places[0]), int(places[-1]) + 1)]


def _runs(places: Tensor) -> list[tuple[int, int]]:
    """Return the ranges (start, stop) of consecutive numbers among sorted places."""
    gaps = (places.diff() > 1).nonzero()[:, 0].tolist()
    runs = zip([0, *(gap + 1 for gap in gaps)], [*gaps, len(places) - 1], strict=True)
    numbers = places.tolist()
    return [(numbers[first], numbers[last] + 1) for first, last in runs]


def _most_texts(width: int) -> int:
    """Return from how many texts of this width deletions share what is computed once."""
    return max(1, _SHARED_AT_ONCE // width)


def _most_deletions(examples: int, width: int) -> int:
    """Return how many deletions of each of so many texts are computed at once.

    In long texts the weights (K,B,N) take the memory, and a deletion changes few states.
    """
    if width < deletion_protocol.LONG_TEXT:
        return max(1, _DELETED_AT_ONCE // (examples * width))
    return min(_MOST_OF_LONG, rows_at_once(_TEMPORARIES * examples * width))


def groups_by_length(
    lengths: Tensor, most: Callable[[int], int] = _most_texts, ratio: float = _RATIO
) -> Iterator[tuple[Tensor, int]]:
    """Yield groups of examples of similar length, and the longest length in each.

    Parameters
    ----------
    lengths : Tensor, (B,)
    most : callable
        The number of examples in a group, by their longest length.
    ratio : float
        Of the longest to the shortest example in a group, at most.
    """
    order = lengths.argsort(descending=True)
    longest_first = lengths[order].clamp_min(1)
    step = ((longest_first[:1] / longest_first).log() / math.log(ratio)).floor()
    for rows in order.split(step.unique_consecutive(return_counts=True)[1].tolist()):
        rest = rows
        while len(rest):
            width = max(int(lengths[rest[0]]), 1)
            part, rest = rest.split([count := min(most(width), len(rest)), len(rest) - count])
            yield part, width


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
