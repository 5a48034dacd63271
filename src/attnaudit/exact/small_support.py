"""More than two classes: search for far attentions on few items.

For fixed probabilities the feasible attentions form a polytope with C equality constraints, whose
vertices have at most C items. With epsilon the set is not a polytope, so the search gives a lower
bound: single items, pairs and a vertex here, steps along its edge in `ascent`.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.exact.inputs import Prepared, class_softmax
from attnaudit.exact.jsd import jsd_gain, one_hot_jsd
from attnaudit.exact.relaxations import log_odds_range
from attnaudit.exact.vertices import far_vertex

_PAIR_ITEMS = 32  # items considered for pairs
_PAIRS = 8  # pairs whose mixtures are tried
_PAIR_WEIGHTS = 17  # mixing weights tried per pair
_HALVINGS = 20
_INWARD = 1 - 1e-9  # stay this much inside the bound: the same mixture may be rounded otherwise
_LATER = 10.0  # more than any two distances differ


def search(given: Prepared, epsilon: Tensor) -> Tensor:
    """Far feasible attentions (B,3,N): on one item, on two, and a vertex; alpha where none is."""
    candidates = [_best_alone(given, epsilon), _best_pair(given, epsilon), _vertex(given, epsilon)]
    return torch.stack(candidates, 1)


def _vertex(given: Prepared, epsilon: Tensor) -> Tensor:
    """A vertex of the attentions with the same log-odds; the most attended lose weight first."""
    vertex = far_vertex(given, given.alpha)
    return torch.where(given.within(vertex, epsilon)[:, None], vertex, given.alpha)


def _best_alone(given: Prepared, epsilon: Tensor) -> Tensor:
    """All weight on the furthest item that alone gives the same prediction."""
    own = class_softmax(given.readout)
    most = (epsilon + given.rounding())[:, None]
    feasible = given.mask & (given.change(own) <= most)
    item = masking.fill(one_hot_jsd(given.alpha), feasible, -1.0).argmax(-1)
    alone = torch.nn.functional.one_hot(item, given.alpha.shape[1]).double()
    return torch.where(feasible.any(-1)[:, None], alone, given.alpha)


def _best_pair(given: Prepared, epsilon: Tensor) -> Tensor:
    """The furthest feasible mixture found of two promising items (B,N).

    TVD <= epsilon keeps each log-odds within a range, and so the weight of the first item. The
    distance is convex in it, hence largest at an end of its range: the pairs that are furthest
    there are tried, those first whose middle is feasible, on a grid of weights; bisection finds the
    ends of the feasible ones.
    """
    items, real = _promising(given)  # (B,m)
    m = items.shape[1]
    first, second = torch.triu_indices(m, m, 1, device=items.device)
    if not len(first):
        return given.alpha
    low, high = _weight_range(given, epsilon, items, first, second)
    alpha = given.alpha.gather(1, items)
    far = torch.stack(
        [jsd_gain(w, alpha[:, first]) + jsd_gain(1 - w, alpha[:, second]) for w in (low, high)]
    ).amax(0)
    far = masking.fill(far, (low <= high) & real[:, first] & real[:, second], -torch.inf)
    middle = _Pairs.of(given, items[:, first], items[:, second]).moved((low + high)[..., None] / 2)
    fits = middle[..., 0] <= epsilon[:, None]
    pair = torch.where(fits, far, far - _LATER).topk(min(_PAIRS, len(first))).indices  # (B,P)
    possible = torch.isfinite(far.gather(1, pair))
    low, high = low.gather(1, pair), high.gather(1, pair)
    i, j = items.gather(1, first[pair]), items.gather(1, second[pair])
    grid = torch.linspace(0, 1, _PAIR_WEIGHTS, dtype=torch.float64, device=items.device)
    weight = low[..., None] + (high - low)[..., None] * grid  # (B,P,weights)
    pairs = _Pairs.of(given, i, j)
    most = (_INWARD * epsilon + given.rounding() / 2)[:, None, None]
    fits = pairs.moved(weight) <= most
    fits = fits & possible[..., None]
    # The feasible weights at either end, and their infeasible neighbours.
    ends = torch.stack([fits.int().argmax(-1), len(grid) - 1 - fits.int().flip(-1).argmax(-1)], -1)
    good = weight.gather(2, ends)
    outward = torch.tensor([-1, 1], device=items.device)
    bad = weight.gather(2, (ends + outward).clamp(0, len(grid) - 1))
    for _ in range(_HALVINGS):
        middle = (good + bad) / 2
        fine = pairs.moved(middle) <= most
        good, bad = torch.where(fine, middle, good), torch.where(fine, bad, middle)
    gain = masking.fill(pairs.gain(good), fits.any(-1, keepdim=True).expand_as(good), -torch.inf)
    furthest, place = gain.flatten(1).max(-1, keepdim=True)
    chosen, w = place // 2, good.flatten(1).gather(1, place)
    mixture = torch.zeros_like(given.alpha).scatter_add(1, i.gather(1, chosen), w)
    mixture = mixture.scatter_add(1, j.gather(1, chosen), 1 - w)
    return torch.where(torch.isfinite(furthest), mixture, given.alpha)


@dataclass
class _Pairs:
    """Mixtures of two items, weight w on the first: w (B,P,W) for the P pairs of each example."""

    given: Prepared
    readouts: tuple[Tensor, Tensor]  # (B,P,C) each
    alphas: tuple[Tensor, Tensor]  # (B,P,1) each

    @classmethod
    def of(cls, given: Prepared, first: Tensor, second: Tensor) -> _Pairs:
        """Of the items first and second (B,P)."""
        classes = given.readout.shape[2]
        i, j = (item[..., None].expand(-1, -1, classes) for item in (first, second))
        alphas = given.alpha.gather(1, first)[..., None], given.alpha.gather(1, second)[..., None]
        return cls(given, (given.readout.gather(1, i), given.readout.gather(1, j)), alphas)

    def moved(self, weight: Tensor) -> Tensor:
        """TVD of the prediction (B,P,W)."""
        first, second = (readout[:, :, None] for readout in self.readouts)
        return self.given.change(class_softmax(second + weight[..., None] * (first - second)))

    def gain(self, weight: Tensor) -> Tensor:
        """The distance (B,P,W) up to factor and summand, which are the same for every pair."""
        return jsd_gain(weight, self.alphas[0]) + jsd_gain(1 - weight, self.alphas[1])


def _weight_range(
    given: Prepared, epsilon: Tensor, items: Tensor, first: Tensor, second: Tensor
) -> tuple[Tensor, Tensor]:
    """Weights (B,pairs) of the first item between which every log-odds stays in its range.

    The lower one is above the upper one if there are none.
    """
    classes = given.readout.shape[2]
    readout = given.readout.gather(1, items[..., None].expand(-1, -1, classes))
    odds = readout.gather(2, given.predicted[:, None, None].expand(-1, items.shape[1], 1)) - readout
    low, high = torch.zeros_like(odds[:, first, 0]), torch.ones_like(odds[:, first, 0])
    rivals = torch.arange(classes, device=items.device)
    for rival in rivals:
        least, most = log_odds_range(given, epsilon, rival.expand(len(odds)))
        own = given.predicted == rival
        least, most = least.masked_fill(own, -torch.inf), most.masked_fill(own, torch.inf)
        other = odds[:, second, rival]
        rise = odds[:, first, rival] - other
        rise = torch.where(rise.abs() < 1e-12, 1e-12, rise)
        ends = (least[:, None] - other) / rise, (most[:, None] - other) / rise
        low = torch.maximum(low, torch.minimum(*ends))
        high = torch.minimum(high, torch.maximum(*ends))
    return low, high


def _promising(given: Prepared) -> tuple[Tensor, Tensor]:
    """Items (B,m) that alone are far from alpha or predict much the same, and which are real."""
    far = masking.fill(one_hot_jsd(given.alpha), given.mask, -1.0)
    off = given.change(class_softmax(given.readout))
    ranks = [
        values.argsort(dim=-1, stable=True).argsort(-1)
        for values in (-far, masking.fill(off, given.mask, 2.0))
    ]
    # The best of each in turn, and no item twice.
    turn = torch.minimum(2 * ranks[0], 2 * ranks[1] + 1)
    turn = masking.fill(turn, given.mask, 4 * turn.shape[1])
    items = turn.argsort(-1)[:, :_PAIR_ITEMS]
    return items, given.mask.gather(1, items)
