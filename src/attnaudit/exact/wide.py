"""Slower searches for far attentions, for the examples whose interval is still wide.

With many classes few attentions on a small number of items are feasible. `more_starts` goes on from
vertices of the attentions with the same log-odds and from maxima of random linear functions over
the tangents at the original attention, with every class on its own; `gradient_search` follows
gradients from several attentions.
"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.core import masking, randomness
from attnaudit.core.adam import Adam
from attnaudit.exact.ascent import ascend, maxima
from attnaudit.exact.inputs import Prepared
from attnaudit.exact.polish import polish
from attnaudit.exact.vertices import far_vertex

_VERTICES, _PROGRAMS = 3, 12
_KEPT = 6  # starts of an example from which all steps are taken
_STEPS = 200


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


@torch.enable_grad()  # audits call this under no_grad
def _adam(given: Prepared, epsilon: Tensor, start: Tensor) -> Tensor:
    """Adam on the scores of several attentions; the furthest feasible point (B,N)."""
    scores = _scattered(given, start).clamp_min(1e-4).log().requires_grad_()
    mask, tolerance = given.mask[:, None], epsilon[:, None]
    best, best_jsd = start, statistics.jsd(start, given.alpha)
    optimiser = Adam([{"params": [scores], "lr": 0.1, "weight_decay": 0.0}])
    for _ in range(_STEPS):
        alpha = masking.softmax(scores, mask.expand_as(scores))
        jsd, moved = statistics.jsd(alpha, given.alpha[:, None]), given.moved(alpha)
        with torch.no_grad():
            far, which = masking.fill(jsd, moved <= tolerance, -1.0).max(-1)
            picked = alpha.gather(1, which[:, None, None].expand(-1, 1, alpha.shape[2]))[:, 0]
            better = far > best_jsd
            best = torch.where(better[:, None], picked, best)
            best_jsd = torch.where(better, far, best_jsd)
        excess = (moved - 0.9 * tolerance).clamp_min(0) / tolerance.clamp_min(1e-6)
        loss: Tensor = (20 * excess - jsd).sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return best.detach()


def _scattered(given: Prepared, best: Tensor) -> Tensor:
    """The best so far, items that predict the same, the least attended ones, and both: (B,4,N)."""
    own = statistics.tvd(given.readout.softmax(-1), given.probs[:, None])
    near = masking.softmax(-own / 0.05, given.mask)
    far = masking.softmax(-given.alpha * 50, given.mask)
    return torch.stack([best, near, far, masking.renormalise(near * far, given.mask)], 1)
