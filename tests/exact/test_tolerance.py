"""The predictions within epsilon: their furthest extent in a direction, against dense grids."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import softmax

from attnaudit.exact.tolerance import Region


def region_of(p: np.ndarray, epsilon: float) -> Region:
    return Region(torch.tensor(np.log(p))[None], torch.tensor([epsilon], dtype=torch.float64))


def near_predictions(p: np.ndarray, epsilon: float, steps: int) -> np.ndarray:
    """A grid over the distributions of three classes within epsilon of p, on the bound too."""
    side = np.linspace(-epsilon, epsilon, 2 * steps + 1)
    first, second = np.meshgrid(p[0] + side, p[1] + side)
    grid = np.stack([first, second, 1 - first - second], -1).reshape(-1, 3)
    inside = (grid > 0).all(-1) & (np.abs(grid - p).sum(-1) / 2 <= epsilon + 1e-12)
    return grid[inside]


@pytest.mark.parametrize("epsilon", [0.001, 0.03, 0.1])
@pytest.mark.parametrize("seed", range(6))
def test_the_largest_value_is_that_of_a_dense_grid(seed: int, epsilon: float) -> None:
    draw = np.random.default_rng(seed)
    p = softmax(1.2 * draw.normal(size=3))
    p = np.maximum(p, 1.5 * epsilon) / np.maximum(p, 1.5 * epsilon).sum()
    g = draw.normal(size=2)
    grid = near_predictions(p, epsilon, steps=200)
    change = np.log(grid / p)
    values = (change[:, 1:] - change[:, :1]) @ g
    found = region_of(p, epsilon).support(torch.tensor(g)[None]).item()
    assert values.max() <= found + 1e-9
    assert values.max() >= found * 0.98


@pytest.mark.parametrize("classes", [2, 3, 6])
@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 0.01, 0.04])
def test_the_furthest_point_is_within_epsilon_and_has_that_value(
    classes: int, epsilon: float
) -> None:
    draw = np.random.default_rng(classes)
    for _ in range(20):
        p = draw.dirichlet(np.ones(classes)) * 0.7 + 0.3 / classes
        g = torch.tensor(draw.normal(size=(1, classes - 1)))
        region = region_of(p, epsilon)
        point = region.furthest_point(g)[0].numpy()
        moved = softmax(np.concatenate([[0.0], point]) + np.log(p))
        assert np.abs(moved - p).sum() / 2 <= epsilon + 1e-12
        assert float(point @ g[0].numpy()) == pytest.approx(region.support(g).item(), abs=1e-10)


def test_a_class_that_may_vanish_has_no_lower_end() -> None:
    region = region_of(np.array([0.9, 0.095, 0.005]), 0.01)
    down, up = torch.tensor([[0.0, -1.0]]).double(), torch.tensor([[0.0, 1.0]]).double()
    assert region.support(down).isinf().all()
    assert region.support(up).item() == pytest.approx(np.log(0.015 / 0.005 * 0.9 / 0.89))
    assert region.allowed(torch.tensor([[2.0, -1.0]]).double()).tolist() == [[2.0, 0.0]]


def test_probabilities_too_small_for_a_float_keep_their_log_odds() -> None:
    region = Region(torch.tensor([[0.0, -900.0, -1000.0]]).double(), torch.tensor([0.01]).double())
    up = torch.tensor([[0.0, 1.0]]).double()
    assert region.support(up).item() == pytest.approx(1000 + np.log(0.01) - np.log(0.99))


@pytest.mark.parametrize("p", [(0.5, 0.3, 0.2), (0.985, 0.01, 0.005)])
def test_corners_are_within_epsilon_and_vanishing_classes_have_rays(p: tuple[float, ...]) -> None:
    region = region_of(np.array(p), 0.02)
    points, rays = region.corners()
    moved = softmax(np.pad(points[0].numpy(), ((0, 0), (1, 0))) + np.log(p), axis=-1)
    assert (np.abs(moved - p).sum(-1) / 2 <= 0.02 + 1e-12).all()
    assert len(moved) == 7
    assert (rays[0].abs().sum(-1) > 0).tolist() == [each <= 0.02 for each in p]
