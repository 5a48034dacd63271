"""More than two classes: search for far attentions on few items.

For fixed probabilities the feasible attentions form a polytope with C equality constraints, whose
vertices have at most C items. With epsilon the set is not a polytope, so the search gives a lower
bound: single items, pairs and vertices here, steps along its edge in `ascent`, and a gradient
search where these leave a wide interval.
"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.core import masking, randomness
from attnaudit.core.adam import Adam
from attnaudit.exact.inputs import Prepared, chunks
from attnaudit.exact.jsd import jsd_gain, one_hot_jsd
from attnaudit.exact.vertices import far_vertex

_PAIR_ITEMS = 24  # items considered for pairs
_PAIR_WEIGHTS = 15  # mixing weights tried per pair
_STARTS = 4
_STEPS = 200


def search(given: Prepared, epsilon: Tensor, start: Tensor) -> tuple[Tensor, Tensor]:
    """The furthest feasible attention found (B,N) and its JSD (B,), from a feasible start."""
    items = min(2 * given.alpha.shape[1], _PAIR_ITEMS)
    entries = items**2 * _PAIR_WEIGHTS * given.probs.shape[1]
    parts = [
        _search(given.rows(part), epsilon[part], start[part])
        for part in chunks(len(start), entries, limit=2**23)
    ]
    alpha = torch.cat(parts)
    return alpha, statistics.jsd(alpha, given.alpha)


def _search(given: Prepared, epsilon: Tensor, start: Tensor) -> Tensor:
    best = _further(given, start, _best_alone(given, epsilon), epsilon)
    best = _further(given, best, _best_pair(given, epsilon), epsilon)
    for priority in _priorities(given):
        best = _further(given, best, far_vertex(given, priority), epsilon)
    return best


def _priorities(given: Prepared) -> list[Tensor]:
    """Orders in which items lose their weight: most attended first, and three random ones.

    The random ones are the same for every batch.
    """
    items, device = given.alpha.shape[1], given.alpha.device
    shuffled = [
        randomness.uniform(torch.tensor([key]), items).expand_as(given.alpha).to(device)
        for key in range(3)
    ]
    return [given.alpha, *shuffled]


def _further(given: Prepared, kept: Tensor, other: Tensor, epsilon: Tensor) -> Tensor:
    """`other` where it is feasible and further, `kept` elsewhere: (B,N)."""
    feasible = given.moved(other) <= epsilon + given.rounding()
    better = feasible & (statistics.jsd(other, given.alpha) > statistics.jsd(kept, given.alpha))
    return torch.where(better[:, None], other, kept)


def _best_alone(given: Prepared, epsilon: Tensor) -> Tensor:
    """All weight on the furthest item that alone gives the same prediction."""
    own = given.readout.softmax(-1)
    most = (epsilon + given.rounding())[:, None]
    feasible = given.mask & (given.change(own) <= most)
    item = masking.fill(one_hot_jsd(given.alpha), feasible, -1.0).argmax(-1)
    alone = torch.nn.functional.one_hot(item, given.alpha.shape[1]).double()
    return torch.where(feasible.any(-1)[:, None], alone, given.alpha)


def _best_pair(given: Prepared, epsilon: Tensor) -> Tensor:
    """The furthest feasible mixture of two promising items: a grid of weights, then bisection."""
    items = _promising(given)  # (b,m)
    m = items.shape[1]
    first, second = torch.triu_indices(m, m, 1, device=items.device)
    if not len(first):
        return given.alpha
    readout = given.readout.gather(1, items[..., None].expand(-1, -1, given.readout.shape[2]))
    weight = torch.linspace(0, 1, _PAIR_WEIGHTS + 2, dtype=torch.float64, device=items.device)[1:-1]
    # Per item and weight; the weights 1 - w are the same in reverse.
    share = weight[:, None] * readout[:, :, None]  # (b,m,weights,C)
    logits = share[:, first] + share[:, second].flip(2)  # (b,pairs,weights,C)
    feasible = given.change(logits.softmax(-1)) <= epsilon[:, None, None]
    alpha = given.alpha.gather(1, items)
    # JSD up to constants that are the same for every pair.
    of_item = jsd_gain(weight, alpha[..., None])  # (b,m,weights)
    gain = of_item[:, first] + of_item[:, second].flip(2)
    furthest, index = masking.fill(gain, feasible, -torch.inf).flatten(1).max(-1)
    pair, grid = index // len(weight), index % len(weight)
    i, j = items.gather(1, first[pair][:, None]), items.gather(1, second[pair][:, None])
    step = 1 / (_PAIR_WEIGHTS + 1)
    ends = [
        _bisect(given, epsilon, i, j, weight[grid], weight[grid] + direction * step)
        for direction in (-1, 1)
    ]
    sharper = [_mixture(given, i, j, w) for w in ends]
    further = statistics.jsd(sharper[0], given.alpha) >= statistics.jsd(sharper[1], given.alpha)
    best = torch.where(further[:, None], sharper[0], sharper[1])
    return torch.where(torch.isfinite(furthest)[:, None], best, given.alpha)


def _promising(given: Prepared) -> Tensor:
    """Items that alone are far from alpha or predict much the same, in turn: (b,m)."""
    far = masking.fill(one_hot_jsd(given.alpha), given.mask, -1.0).argsort(dim=-1, descending=True)
    own = given.readout.softmax(-1)
    off = statistics.tvd(own, given.probs[:, None])
    near = masking.fill(off, given.mask, 2.0).argsort(-1)
    # At most twice the items: padding only adds repeats and must not change the choice.
    take = min(2 * given.alpha.shape[1], _PAIR_ITEMS)
    turns = torch.stack([far, near], -1).flatten(1)[:, :take]
    # Repeats do no harm: their mixtures are evaluated and never win.
    return torch.where(given.mask.gather(1, turns), turns, far[:, :1])


def _mixture(given: Prepared, i: Tensor, j: Tensor, weight: Tensor) -> Tensor:
    """weight (b,) on item i (b,1), the rest on item j (b,1): (b,N)."""
    vector = torch.zeros_like(given.alpha)
    vector.scatter_add_(1, i, weight[:, None])
    return vector.scatter_add_(1, j, 1 - weight[:, None])


def _bisect(
    given: Prepared, epsilon: Tensor, i: Tensor, j: Tensor, good: Tensor, bad: Tensor
) -> Tensor:
    """The feasible weight nearest to `bad`, starting from the feasible weight `good`."""
    for _ in range(40):
        middle = (good + bad) / 2
        fine = given.moved(_mixture(given, i, j, middle)) <= epsilon
        good, bad = torch.where(fine, middle, good), torch.where(fine, bad, middle)
    return good


@torch.enable_grad()  # audits call this under no_grad
def gradient_search(given: Prepared, epsilon: Tensor, start: Tensor) -> Tensor:
    """Adam on the scores of several attentions; keeps the furthest feasible point."""
    starts = _starts(given, start).clamp_min(1e-4).log().requires_grad_()
    mask, tolerance = given.mask[:, None], epsilon[:, None]
    best, best_jsd = start, statistics.jsd(start, given.alpha)
    optimiser = Adam([{"params": [starts], "lr": 0.1, "weight_decay": 0.0}])
    for _ in range(_STEPS):
        alpha = masking.softmax(starts, mask.expand_as(starts))
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


def _starts(given: Prepared, best: Tensor) -> Tensor:
    """The best so far, items that predict the same, the least attended ones, and both: (b,K,N)."""
    own = statistics.tvd(given.readout.softmax(-1), given.probs[:, None])
    near = masking.softmax(-own / 0.05, given.mask)
    far = masking.softmax(-given.alpha * 50, given.mask)
    return torch.stack([best, near, far, masking.renormalise(near * far, given.mask)][:_STARTS], 1)
