"""The furthest attention found with several classes, where it is easily missed.

Predictions that are almost certain, items with equal readouts and many classes, against grids.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.exact import furthest


def found(alpha: Tensor, readout: Tensor, epsilon: float) -> Tensor:
    """The distances found (B,), of attentions that are checked here."""
    mask = torch.ones_like(alpha, dtype=torch.bool)
    answer = furthest(alpha, readout, mask, epsilon=epsilon)
    before, after = ((a[:, None] @ readout)[:, 0].softmax(-1) for a in (alpha, answer.alpha))
    assert (statistics.tvd(before, after) <= epsilon + 2e-10).all()
    assert (answer.alpha >= 0).all()
    torch.testing.assert_close(answer.alpha.sum(-1), torch.ones_like(answer.jsd))
    torch.testing.assert_close(statistics.jsd(answer.alpha, alpha), answer.jsd)
    assert (answer.jsd <= answer.upper).all()
    return answer.jsd


def sure(examples: int, items: int, *, seed: int) -> tuple[Tensor, Tensor]:
    """alpha (B,N) and readout (B,N,3), large: a class of one item, or two, is almost certain."""
    draw = np.random.default_rng(seed)
    alpha = 0.999 * draw.dirichlet(np.full(items, 0.3), size=examples) + 0.001 / items
    readout = draw.choice([5, 15, 30], size=(examples, 1, 1)) * draw.normal(
        size=(examples, items, 3)
    )
    readout[:, :, 2] = np.where(draw.random((examples, 1)) < 0.7, -50, readout[:, :, 2])
    return torch.tensor(alpha), torch.tensor(readout)


def on_a_grid(alpha: Tensor, readout: Tensor, epsilon: float, parts: int) -> Tensor:
    """The furthest feasible attention (B,) whose weights are multiples of 1 / parts."""
    items = alpha.shape[1]
    cuts = itertools.product(range(parts + 1), repeat=items - 1)
    weights = torch.tensor([[*cut, parts - sum(cut)] for cut in cuts if sum(cut) <= parts])
    grid, best = weights.double() / parts, []
    for one, own in zip(alpha, readout, strict=True):
        moved = statistics.tvd((grid @ own).softmax(-1), (one @ own).softmax(-1))
        best.append(statistics.jsd(grid, one).where(moved <= epsilon, 0.0).max())
    return torch.stack(best)


def test_a_pair_on_the_very_edge_is_found() -> None:
    """The prediction is certain to 1e-12, and the rounding allowed as small."""
    alpha = torch.tensor([[0.9995580028201462, 0.0004419971798539374]]).double()
    readout = torch.tensor(
        [
            [
                [-0.13960857080014002, 26.576364688617037, -50.0],
                [0.7173816784332177, 3.278404879864037, -50.0],
            ]
        ]
    ).double()
    two_classes = found(alpha, readout[..., :2], 0.05)
    assert two_classes > 0.65
    torch.testing.assert_close(found(alpha, readout, 0.05), two_classes, rtol=0, atol=1e-4)


@pytest.mark.parametrize("epsilon", [0.01, 0.05])
@pytest.mark.parametrize(("items", "examples", "parts"), [(2, 800, 4000), (3, 200, 150)])
def test_no_attention_on_a_grid_is_further_if_predictions_are_sure(
    items: int, examples: int, parts: int, epsilon: float
) -> None:
    alpha, readout = sure(examples, items, seed=3)
    brute = on_a_grid(alpha, readout, epsilon, parts)
    assert (brute > 0.3).sum() > 20, "too few far ones to show anything"
    assert (brute - found(alpha, readout, epsilon)).max() < 1e-3


def test_items_with_equal_readouts_exchange_their_weights() -> None:
    """With fewer items than classes, only equal items keep the prediction as it is."""
    draw = np.random.default_rng(8)
    alpha = torch.tensor(draw.dirichlet(np.full(8, 0.5), size=20))
    readout = torch.tensor(2 * draw.normal(size=(20, 8, 9)))
    readout[:, 1::2] = readout[:, ::2]
    swapped = alpha.view(20, 4, 2).flip(-1).reshape(20, 8)
    # All weight of two equal items on the one that has less.
    total, less = alpha.view(20, 4, 2).sum(-1, keepdim=True), alpha.view(20, 4, 2).argmin(-1)
    on_one = torch.nn.functional.one_hot(less, 2) * total
    reached = found(alpha, readout, 0.0)
    for other in (swapped, on_one.reshape(20, 8)):
        assert (reached >= statistics.jsd(other, alpha) - 1e-6).all()


def test_many_classes_leave_room_for_far_attentions() -> None:
    """Without the slower searches the mean is 0.08; pairs and a gradient search reach 0.10."""
    draw = np.random.default_rng(15)
    alpha = torch.tensor(draw.dirichlet(np.full(10, 0.5), size=30))
    readout = torch.tensor(2 * draw.normal(size=(30, 10, 15)))
    assert found(alpha, readout, 0.05).mean() > 0.12
