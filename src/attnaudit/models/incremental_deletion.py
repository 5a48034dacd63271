"""The logits without each item of a site, where the encoder can say what a deletion changes (`attnaudit.models.encoders.incremental_deletion`)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

_DELETED_AT_ONCE = 2**15  # deletions times items, of which the hidden states are held
_SHARED_AT_ONCE = (
    2**13
)  # examples times items, of which an encoder holds what it shares: up to several times as much for each
_ALIKE = 1.25  # the longest text of a group to the shortest


@dataclass(frozen=True)
class Site:
    """One row of attention: the parts around it and what went through them."""

    encoder: Any
    scorer: Any
    projection: Any
    output: Any
    vectors: Tensor  # (B,N,E), what the encoder read
    hidden: Tensor  # (B,N,H), what it made of them
    mask: Tensor  # (B,N) bool, True = was read
    content: Tensor  # (B,N) bool, True = may be attended, and counts
    query: Tensor | None  # (B,H)

    def rows(self, index: Tensor, width: int) -> Site:
        """The examples at index, no wider than the longest of them."""
        return replace(
            self,
            vectors=self.vectors[index, :width],
            hidden=self.hidden[index, :width],
            mask=self.mask[index, :width],
            content=self.content[index, :width],
            query=None if self.query is None else self.query[index],
        )


def can_share(encoder: Any, content: Tensor) -> bool:
    """Whether the encoder can say what deletions change, and there are enough of them, True in content (B,N), to make it worth while."""
    return hasattr(encoder, "deletions") and int(content.sum()) >= getattr(
        encoder, "fewest_deletions", 0
    )


@torch.no_grad()
def logits_without_each(site: Site, classes: int) -> Tensor:
    """(B,N,C), as by reading again. NaN for items that do not count and where nothing would be left of the text."""
    logits = site.hidden.new_full((*site.content.shape, classes), torch.nan)
    for index, width in _alike(site.mask.sum(-1)):
        some = site.rows(index, width)
        if not some.content.any():
            continue
        deletions = some.encoder.deletions(some.vectors, some.mask, some.hidden)
        scores = some.scorer(some.hidden, some.query)
        counted = some.content.any(0).nonzero()[:, 0].tolist()
        step = max(1, _DELETED_AT_ONCE // (len(index) * width))
        for start in range(counted[0], counted[-1] + 1, step):
            stop = min(start + step, counted[-1] + 1)
            logits[index, start:stop] = _without(some, scores, start, *deletions(start, stop))
    logits = logits.gather(1, _first_of_equals(site)[..., None].expand_as(logits))
    something_left = site.content & (site.content.sum(-1, keepdim=True) > 1)
    return logits.masked_fill(~something_left[..., None], torch.nan)


def _alike(lengths: Tensor) -> Iterator[tuple[Tensor, int]]:
    """Examples in groups alike in length, so that little is padding, and no larger than memory allows; the longest of each."""
    order = lengths.argsort(descending=True)
    longest_first = lengths[order].clamp_min(1)
    step = ((longest_first[:1] / longest_first).log() / math.log(_ALIKE)).floor()
    for rows in order.split(step.unique_consecutive(return_counts=True)[1].tolist()):
        for part in rows.split(max(1, _SHARED_AT_ONCE // max(int(lengths[rows[0]]), 1))):
            yield part, max(int(lengths[part[0]]), 1)


def _first_of_equals(site: Site) -> Tensor:
    """(B,N): without either of two equal neighbours the same text is left, and rounding must not tell them apart."""
    items = torch.arange(site.content.shape[1], device=site.content.device)
    equal = (
        (site.vectors[:, 1:] == site.vectors[:, :-1]).all(-1)
        & site.content[:, 1:]
        & site.content[:, :-1]
    )
    first = items.expand_as(site.content).masked_fill(pad(equal, (1, 0)), 0)
    return first.cummax(-1).values


def _without(site: Site, scores: Tensor, start: int, where: Tensor, changed: Tensor) -> Tensor:
    """scores (B,N) with nothing deleted; K deletions from start on, which change the items where (K,W) to changed (K,B,W,H) -> (B,K,C)."""
    count, examples, width, _ = changed.shape
    items = torch.arange(site.content.shape[1], device=where.device)
    query = None if site.query is None else site.query.repeat(count, 1)
    rescored = site.scorer(changed.flatten(0, 1), query).view(count, examples, width)
    # One item more than there are takes what has no place.
    index = where[:, None].expand_as(rescored)
    anew = pad(scores, (0, 1)).expand(count, -1, -1).scatter(2, index, rescored)[..., :-1]
    kept = site.content & (items[start : start + count, None] != items)[:, None]
    alpha = pad(site.projection(anew.flatten(0, 1), kept.flatten(0, 1)), (0, 1)).view(
        count, examples, -1
    )
    of_unchanged = alpha.scatter(2, index, 0.0)[..., :-1].transpose(0, 1) @ site.hidden
    of_changed = (alpha.gather(2, index)[:, :, None] @ changed)[:, :, 0].transpose(0, 1)
    return site.output(of_unchanged + of_changed, site.query)
