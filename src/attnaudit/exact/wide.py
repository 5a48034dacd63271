"""Slower searches for far attentions, for the examples whose interval is still wide.

With many classes few attentions on a small number of items are feasible. `more_starts` goes on from
vertices of the attentions with the same log-odds and from maxima of random linear functions over
the tangents at the original attention, with every class on its own; `gradient_search` follows
gradients from several attentions.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.core import masking, randomness
from attnaudit.core.adam import Adam
from attnaudit.exact.ascent import ascend, maxima
from attnaudit.exact.inputs import Prepared, class_softmax
from attnaudit.exact.polish import polish
from attnaudit.exact.vertices import far_vertex

_VERTICES, _PROGRAMS = 3, 12
_KEPT = 6  # starts of an example from which all steps are taken
_STEPS = 200
_NO_WEIGHT, _TINY = -1e30, 1e-300  # a score, and a sum of weights


def more_starts(given: Prepared, epsilon: Tensor, best: Tensor) -> Tensor:
    """The furthest attention (B,N) reached; `best` (B,N) is feasible, epsilon (B,)."""
    # The same random numbers for every example.
    keys = torch.arange(_VERTICES + _PROGRAMS)
    random = randomness.uniform(keys, given.alpha.shape[1]).to(given.alpha.device)
    vertices = [far_vertex(given, row.expand_as(given.alpha)) for row in random[:_VERTICES]]
    proposals = maxima(given, epsilon, random[_VERTICES:])
    starts = [best[:, None], torch.stack(vertices, 1), polish(given, epsilon, proposals)]
    classes = given.probs.shape[1]
    return ascend(given, epsilon, torch.cat(starts, 1), classes=classes, kept=_KEPT)


def gradient_search(given: Prepared, epsilon: Tensor, best: Tensor) -> Tensor:
    """The furthest attention (B,N) reached; `best` (B,N) is feasible, epsilon (B,)."""
    start = _adam(given, epsilon, best)[:, None]
    return ascend(given, epsilon, start, classes=given.probs.shape[1])


@torch.no_grad()
def _adam(given: Prepared, epsilon: Tensor, start: Tensor) -> Tensor:
    """Adam on the scores of several attentions; the furthest feasible point (B,N)."""
    mask, tolerance = given.mask[:, None], epsilon[:, None]
    scores = _scattered(given, start).clamp_min(1e-4).log()
    scores.masked_fill_(~mask, _NO_WEIGHT)
    best, best_jsd = start, statistics.jsd(start, given.alpha)
    optimiser = Adam([{"params": [scores], "lr": 0.1, "weight_decay": 0.0}])
    for _ in range(_STEPS):
        point = _point(given, scores)
        far, which = masking.fill(point.jsd, point.moved <= tolerance, -1.0).max(-1)
        picked = point.alpha.gather(1, which[:, None, None].expand(-1, 1, scores.shape[2]))[:, 0]
        better = far > best_jsd
        best = torch.where(better[:, None], picked, best)
        best_jsd = torch.where(better, far, best_jsd)
        # Of 20 · max(0, moved - 0.9 tolerance) / tolerance - jsd.
        beyond = (point.moved >= 0.9 * tolerance) * (20 / tolerance.clamp_min(1e-6))
        slope = beyond[..., None] * point.moved_slope - point.jsd_slope
        scores.grad = point.alpha * (slope - (point.alpha * slope).sum(-1, keepdim=True))
        optimiser.step()
    return best


class _Point(NamedTuple):
    """Attentions, what is wanted of them, and the slopes of both in each weight."""

    alpha: Tensor  # (B,M,N)
    jsd: Tensor  # (B,M)
    moved: Tensor  # (B,M)
    jsd_slope: Tensor  # (B,M,N), up to a constant: the weights sum to 1
    moved_slope: Tensor  # (B,M,N)


def _point(given: Prepared, scores: Tensor) -> _Point:
    """The attentions of scores (B,M,N). By hand: gradients of torch take twice as long."""
    original = given.alpha[:, None]
    log_alpha = scores.log_softmax(-1)
    alpha = log_alpha.exp()
    total = alpha + original
    log_total = total.clamp_min(_TINY).log()
    entropies = (alpha * log_alpha).sum(-1) + torch.special.xlogy(original, original).sum(-1)
    jsd = math.log(2) + 0.5 * (entropies - (total * log_total).sum(-1))
    probs = class_softmax(alpha @ given.readout)
    rival = torch.arange(probs.shape[2], device=probs.device) != given.predicted[:, None, None]
    change = (probs - given.probs[:, None]) * rival  # as in `Prepared.change`
    gained = change.sum(-1, keepdim=True)
    moved = 0.5 * (change.abs().sum(-1) + gained[..., 0].abs())
    weighted = 0.5 * probs * rival * (change.sign() + gained.sign())
    of_logits = weighted - probs * weighted.sum(-1, keepdim=True)
    return _Point(alpha, jsd, moved, 0.5 * (log_alpha - log_total), of_logits @ given.readout.mT)


def _scattered(given: Prepared, best: Tensor) -> Tensor:
    """The best so far, items that predict the same, the least attended ones, and both: (B,4,N)."""
    own = statistics.tvd(given.readout.softmax(-1), given.probs[:, None])
    near = masking.softmax(-own / 0.05, given.mask)
    far = masking.softmax(-given.alpha * 50, given.mask)
    return torch.stack([best, near, far, masking.renormalise(near * far, given.mask)], 1)
