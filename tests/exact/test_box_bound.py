"""The bound in a box of weights: valid for any multipliers, however they were found."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from attnaudit.exact.box_bound import BoxProblem
from attnaudit.exact.inputs import prepare


@pytest.mark.parametrize("classes", [3, 4, 6])
@pytest.mark.parametrize("epsilon", [0.01, 0.2])
def test_no_feasible_attention_in_the_box_is_above_the_bound_of_any_multipliers(
    classes: int, epsilon: float
) -> None:
    draw = np.random.default_rng(classes)
    alpha = draw.dirichlet(np.full(5, 0.5), size=30)
    readout = 0.3 * draw.normal(size=(30, 5, classes))
    given = prepare(torch.tensor(alpha), torch.tensor(readout), torch.ones(30, 5).bool())
    problem = BoxProblem.of(given, torch.full((30,), epsilon, dtype=torch.float64))
    points = torch.tensor(draw.dirichlet(np.full(5, 0.4), size=(30, 4000)))
    points = torch.cat([points, 0.9 * given.alpha[:, None] + 0.1 * points], 1)
    feasible = given.moved(points) <= epsilon
    low = torch.tensor(0.2 * draw.random((30, 5)) * alpha)
    high = torch.tensor(np.maximum(alpha + 0.1, draw.random((30, 5))))
    inside = feasible & ((points >= low[:, None]) & (points <= high[:, None])).all(-1)
    assert inside.any(-1).double().mean() > 0.8, "too few points to show anything"
    slope = torch.tensor(draw.normal(size=(30, 5)))
    most = (points @ slope[..., None])[..., 0].masked_fill(~inside, -torch.inf).amax(-1)
    solved = problem.program(slope, low, high, None)[0]
    tightest = problem.certified(slope, solved, low, high)
    for size in (0.0, 0.1, 10.0):
        g = problem.region.allowed(
            solved[:, :-1] + size * torch.tensor(draw.normal(size=(30, classes - 1)))
        )
        total = solved[:, -1:] + size * torch.tensor(draw.normal(size=(30, 1)))
        bound = problem.certified(slope, torch.cat([g, total], 1), low, high)
        assert (most <= bound + 1e-12).all()
        assert (tightest <= bound + 1e-3).all(), "the program should have found the least bound"
    assert (tightest - most).median() < 0.3


def test_an_empty_box_bounds_everything() -> None:
    draw = np.random.default_rng(0)
    alpha = torch.tensor(draw.dirichlet(np.ones(4), size=2))
    readout = torch.tensor(draw.normal(size=(2, 4, 3)))
    given = prepare(alpha, readout, torch.ones(2, 4).bool())
    problem = BoxProblem.of(given, torch.full((2,), 0.01, dtype=torch.float64))
    low, high = torch.zeros_like(alpha), torch.ones_like(alpha)
    low[0], high[1] = 0.3, 0.2  # more than 1 in all, and less
    bound = problem.certified(torch.ones_like(alpha), torch.zeros(2, 3).double(), low, high)
    assert (bound == -torch.inf).all()
