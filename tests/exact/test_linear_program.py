"""Many linear programs at once, against scipy one by one."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.optimize import linprog

from attnaudit.exact.linear_program import maximise


@pytest.mark.parametrize(("rows", "variables"), [(1, 4), (3, 8), (5, 25), (8, 40)])
def test_values_and_multipliers_are_those_of_scipy(rows: int, variables: int) -> None:
    draw = np.random.default_rng(rows)
    shape = (40, variables)
    columns = draw.normal(size=(40, rows, variables))
    columns[:, -1] = 1  # keeps every program bounded
    most = np.where(draw.random(shape) < 0.5, np.inf, draw.random(shape))
    inside = draw.random(shape) * np.minimum(most, 1)
    rhs = (columns @ inside[..., None])[..., 0]
    cost = draw.normal(size=shape)
    solved = maximise(*map(torch.tensor, (cost, columns, rhs, most)))
    for at in range(40):
        limits = [(0, each) for each in most[at]]
        expected = linprog(-cost[at], A_eq=columns[at], b_eq=rhs[at], bounds=limits)
        x = solved.x[at].numpy()
        np.testing.assert_allclose(columns[at] @ x, rhs[at], atol=1e-9)
        assert (x >= 0).all()
        assert (x <= most[at] + 1e-9).all()
        assert cost[at] @ x == pytest.approx(-expected.fun, abs=1e-9)
        np.testing.assert_allclose(
            solved.dual[at].numpy(), -expected.eqlin.marginals, rtol=0, atol=1e-7
        )


def test_programs_do_not_disturb_one_another() -> None:
    draw = np.random.default_rng(0)
    cost, most = torch.tensor(draw.normal(size=(7, 9))), torch.ones(7, 9, dtype=torch.float64)
    columns = torch.tensor(draw.normal(size=(7, 3, 9)))
    rhs = columns.sum(-1) / 2
    together = maximise(cost, columns, rhs, most)
    for at in range(7):
        one = slice(at, at + 1)
        alone = maximise(cost[one], columns[one], rhs[one], most[one])
        torch.testing.assert_close(alone.x[0], together.x[at], rtol=0, atol=1e-12)
        torch.testing.assert_close(alone.dual[0], together.dual[at], rtol=0, atol=1e-9)


def test_a_variable_that_may_be_at_most_0_stays_there() -> None:
    cost = torch.tensor([[9.0, 1.0, 0.0]]).double()
    most = torch.tensor([[0.0, 0.4, torch.inf]]).double()
    one = torch.ones(1, 1, dtype=torch.float64)
    solved = maximise(cost, torch.ones(1, 1, 3).double(), one, most)
    torch.testing.assert_close(solved.x, torch.tensor([[0.0, 0.4, 0.6]]).double())
