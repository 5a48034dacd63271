"""More than two classes: look for far attentions on few items, where the furthest one must lie.

For fixed probabilities the feasible attentions form a polytope with C equality constraints, so its vertices use at most C items. The
true set is no polytope, so what is found here is a lower bound: pairs of items first, then a gradient search from the best of them.
"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.core import masking, randomness
from attnaudit.exact.inputs import ROUNDING, Prepared, chunks
from attnaudit.exact.slab import one_hot_jsd
from attnaudit.exact.vertices import far_vertex

_PAIR_ITEMS = 24  # items considered for pairs
_PAIR_WEIGHTS = 15  # mixing weights tried for each pair
_STARTS = 4
_STEPS = 200


def search(given: Prepared, epsilon: float, start: Tensor) -> tuple[Tensor, Tensor]:
    """The furthest feasible attention found (B,N) and its JSD (B,), never worse than start (B,N), which is feasible."""
    items = min(2 * given.alpha.shape[1], _PAIR_ITEMS)
    entries = items**2 * _PAIR_WEIGHTS * given.probs.shape[1]
    found = [
        _search(given.rows(part), epsilon, start[part])
        for part in chunks(len(start), entries, limit=2**23)
    ]
    alpha = torch.cat(found)
    return alpha, statistics.jsd(alpha, given.alpha)


def _search(given: Prepared, epsilon: float, start: Tensor) -> Tensor:
    best = _further(given, start, _best_alone(given, epsilon), epsilon)
    best = _further(given, best, _best_pair(given, epsilon), epsilon)
    for priority in _priorities(given):
        best = _further(given, best, far_vertex(given, priority), epsilon)
    return _further(given, best, _gradient_search(given, epsilon, best), epsilon)


def _priorities(given: Prepared) -> list[Tensor]:
    """Orders in which items lose their weight: the most attended first, and three at random (the same for every batch)."""
    place = torch.arange(given.alpha.shape[1], dtype=torch.int64)
    shuffled = [
        randomness.uniform(torch.tensor([key]), len(place)).expand_as(given.alpha)
        for key in range(3)
    ]
    return [given.alpha, *(each.to(given.alpha.device) for each in shuffled)]


def _further(given: Prepared, kept: Tensor, other: Tensor, epsilon: float) -> Tensor:
    feasible = _moved(given, other[:, None])[:, 0] <= epsilon + ROUNDING
    better = feasible & (statistics.jsd(other, given.alpha) > statistics.jsd(kept, given.alpha))
    return torch.where(better[:, None], other, kept)


def _moved(given: Prepared, alpha: Tensor) -> Tensor:
    """TVD from the original prediction: (B,K,N) -> (B,K)."""
    return statistics.tvd(given.probs_of(alpha), given.probs[:, None])


def _best_alone(given: Prepared, epsilon: float) -> Tensor:
    """All weight on the furthest item whose own prediction is the same."""
    own = given.readout.softmax(-1)
    feasible = given.mask & (statistics.tvd(own, given.probs[:, None]) <= epsilon + ROUNDING)
    item = masking.fill(one_hot_jsd(given.alpha), feasible, -1.0).argmax(-1)
    alone = torch.nn.functional.one_hot(item, given.alpha.shape[1]).double()
    return torch.where(feasible.any(-1)[:, None], alone, given.alpha)


def _best_pair(given: Prepared, epsilon: float) -> Tensor:
    """The furthest feasible mixture of two promising items, on a grid of weights sharpened by bisection."""
    items = _promising(given)  # (b,m)
    m = items.shape[1]
    first, second = (
        each.flatten()
        for each in torch.meshgrid(*[torch.arange(m, device=items.device)] * 2, indexing="ij")
    )
    first, second = first[first < second], second[first < second]
    if not len(first):
        return given.alpha
    readout = given.readout.gather(1, items[..., None].expand(-1, -1, given.readout.shape[2]))
    weight = torch.linspace(0, 1, _PAIR_WEIGHTS + 2, dtype=torch.float64, device=items.device)[1:-1]
    logits = (
        weight[:, None] * readout[:, first, None] + (1 - weight)[:, None] * readout[:, second, None]
    )  # (b,pairs,weights,C)
    p = logits.softmax(-1)
    feasible = statistics.tvd(p, given.probs[:, None, None]) <= epsilon
    at_item = given.alpha.gather(1, items)
    # JSD up to a constant that is the same for every pair: what items i and j add beyond ½ alpha ln 2.
    gain = _gain(weight, at_item[:, first, None]) + _gain(1 - weight, at_item[:, second, None])
    jsd, index = masking.fill(gain, feasible, -torch.inf).flatten(1).max(-1)
    pair, grid = index // len(weight), index % len(weight)
    i, j = items.gather(1, first[pair][:, None]), items.gather(1, second[pair][:, None])
    step = 1 / (_PAIR_WEIGHTS + 1)
    ends = [
        _bisect(given, epsilon, i, j, weight[grid], weight[grid] + direction * step)
        for direction in (-1, 1)
    ]
    sharper = [_mixture(given, i, j, w) for w in ends]
    further = statistics.jsd(sharper[0], given.alpha) >= statistics.jsd(sharper[1], given.alpha)
    found = torch.where(further[:, None], sharper[0], sharper[1])
    return torch.where(torch.isfinite(jsd)[:, None], found, given.alpha)


def _promising(given: Prepared) -> Tensor:
    """Items far from alpha when alone, and items whose own prediction is near the model's, in turn: (b,m)."""
    far = masking.fill(one_hot_jsd(given.alpha), given.mask, -1.0).argsort(dim=-1, descending=True)
    own = given.readout.softmax(-1)
    off = statistics.tvd(own, given.probs[:, None])
    near = masking.fill(off, given.mask, 2.0).argsort(-1)
    # Twice the items at most, so that padding, which only adds repeats, cannot change the choice.
    take = min(2 * given.alpha.shape[1], _PAIR_ITEMS)
    turns = torch.stack([far, near], -1).flatten(1)[:, :take]
    # Repeats and masked items do no harm: their mixtures are evaluated and never win.
    return torch.where(given.mask.gather(1, turns), turns, far[:, :1])


def _gain(weight: Tensor, a: Tensor) -> Tensor:
    x = torch.special.xlogy
    return x(weight, 2 * weight) + x(a, a) - x(weight + a, weight + a)


def _mixture(given: Prepared, i: Tensor, j: Tensor, weight: Tensor) -> Tensor:
    vector = torch.zeros_like(given.alpha)
    vector.scatter_add_(1, i, weight[:, None])
    return vector.scatter_add_(1, j, 1 - weight[:, None])


def _bisect(
    given: Prepared, epsilon: float, i: Tensor, j: Tensor, good: Tensor, bad: Tensor
) -> Tensor:
    """The weight nearest to `bad` that is still feasible, starting from `good`."""
    for _ in range(40):
        middle = (good + bad) / 2
        fine = _moved(given, _mixture(given, i, j, middle)[:, None])[:, 0] <= epsilon
        good, bad = torch.where(fine, middle, good), torch.where(fine, bad, middle)
    return good


@torch.enable_grad()  # audits call this under no_grad
def _gradient_search(given: Prepared, epsilon: float, start: Tensor) -> Tensor:
    """Adam on the logits of several attentions at once; the furthest feasible point seen is kept, not the last one."""
    starts = _starts(given, start).clamp_min(1e-4).log().requires_grad_()
    mask = given.mask[:, None]
    best, best_jsd = start, statistics.jsd(start, given.alpha)
    optimiser = torch.optim.Adam([starts], lr=0.1)
    for _ in range(_STEPS):
        alpha = masking.softmax(starts, mask.expand_as(starts))
        jsd, moved = statistics.jsd(alpha, given.alpha[:, None]), _moved(given, alpha)
        with torch.no_grad():
            far, which = masking.fill(jsd, moved <= epsilon, -1.0).max(-1)
            picked = alpha.gather(1, which[:, None, None].expand(-1, 1, alpha.shape[2]))[:, 0]
            better = far > best_jsd
            best = torch.where(better[:, None], picked, best)
            best_jsd = torch.where(better, far, best_jsd)
        loss: Tensor = (20 * (moved - 0.9 * epsilon).clamp_min(0) / max(epsilon, 1e-6) - jsd).sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return best.detach()


def _starts(given: Prepared, best: Tensor) -> Tensor:
    """The best so far; the items nearest in prediction; the least attended items; their mean: (b,K,N)."""
    own = statistics.tvd(given.readout.softmax(-1), given.probs[:, None])
    near = masking.softmax(-own / 0.05, given.mask)
    far = masking.softmax(-given.alpha * 50, given.mask)
    return torch.stack([best, near, far, masking.renormalise(near * far, given.mask)][:_STARTS], 1)
