"""Many linear programs at once, against scipy one by one."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.optimize import linprog
from torch import Tensor

from attnaudit.exact import linear_program
from attnaudit.exact.linear_program import Basis, Solution, maximise

Program = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]  # cost, columns, rhs, least, most


def made(rows: int, variables: int, seed: int, count: int = 40) -> Program:
    draw = np.random.default_rng(seed)
    shape = (count, variables)
    columns = draw.normal(size=(count, rows, variables))
    columns[:, -1] = 1  # keeps every program bounded
    least = np.where(draw.random(shape) < 0.5, 0.0, 0.2 * draw.random(shape))
    most = np.where(draw.random(shape) < 0.5, np.inf, least + draw.random(shape))
    inside = least + draw.random(shape) * np.minimum(most - least, 1)
    rhs = (columns @ inside[..., None])[..., 0]
    cost, columns, rhs, least, most = map(
        torch.tensor, (draw.normal(size=shape), columns, rhs, least, most)
    )
    return cost, columns, rhs, least, most


def assert_solved(program: Program, solved: Solution) -> None:
    """The values of scipy, reached by feasible variables."""
    cost, columns, rhs, least, most = (part.numpy() for part in program)
    for at in range(len(cost)):
        limits = list(zip(least[at], most[at], strict=True))
        expected = linprog(-cost[at], A_eq=columns[at], b_eq=rhs[at], bounds=limits)
        x = solved.x[at].numpy()
        np.testing.assert_allclose(columns[at] @ x, rhs[at], atol=1e-9)
        assert (x >= least[at]).all()
        assert (x <= most[at]).all()
        assert cost[at] @ x == pytest.approx(-expected.fun, abs=1e-9)
        # Of several equally good multipliers any will do: their bound is the value.
        y = solved.dual[at].numpy()
        worth = cost[at] - y @ columns[at]
        worth[np.abs(worth) < 1e-9] = 0
        bounds = np.where(worth > 0, most[at], least[at])
        filled = np.multiply(worth, bounds, where=worth != 0, out=np.zeros_like(worth))
        assert y @ rhs[at] + filled.sum() == pytest.approx(-expected.fun, abs=1e-7)


@pytest.mark.parametrize(("rows", "variables"), [(1, 4), (3, 8), (5, 25), (8, 40)])
def test_values_and_multipliers_are_those_of_scipy(rows: int, variables: int) -> None:
    program = made(rows, variables, seed=rows)
    assert_solved(program, maximise(*program))


@pytest.mark.parametrize(("rows", "variables"), [(3, 8), (5, 25), (8, 40)])
def test_programs_that_start_from_the_basis_of_similar_ones_reach_the_same(
    rows: int, variables: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other costs and bounds: the start is neither optimal nor within the bounds."""
    cost, columns, rhs, least, most = made(rows, variables, seed=rows)
    first = maximise(cost, columns, rhs, least, most)
    draw = torch.Generator().manual_seed(rows)
    most = most.clone()
    item = torch.arange(len(cost)), first.x.argmax(-1)
    most[item] = torch.maximum(least[item], first.x[item] - 0.05)  # cuts off where it stopped
    cost = cost + 0.2 * torch.randn(cost.shape, generator=draw, dtype=cost.dtype)
    rhs = rhs - 0.05 * (columns[..., :1] - columns[..., 1:2])[..., 0]
    changed = (cost, columns, rhs, least, most)
    steps: dict[str, int] = {}
    for name, start in (("cold", None), ("warm", first.basis)):
        steps[name] = 0
        own = linear_program._Table.step

        def counted(table: linear_program._Table, name: str = name) -> Tensor:
            steps[name] += 1
            return own(table)  # noqa: B023

        with monkeypatch.context() as patch:
            patch.setattr(linear_program._Table, "step", counted)
            solved = maximise(*changed, start=start)
        feasible = torch.isclose(
            (columns @ solved.x[..., None])[..., 0], rhs, rtol=0, atol=1e-9
        ).all(-1)
        assert feasible.double().mean() > 0.5
        chosen = tuple(part[feasible] for part in changed)
        parts = Solution(solved.x[feasible], solved.dual[feasible], solved.basis)
        assert_solved(chosen, parts)  # type: ignore[arg-type]
    assert steps["warm"] < steps["cold"]


def test_a_singular_start_is_not_used() -> None:
    program = made(4, 12, seed=0)
    columns = program[1].clone()
    columns[:, :, 1] = columns[:, :, 0]
    rhs = columns @ (program[3] + 0.3 * (program[4] - program[3]).clamp_max(1.0))[..., None]
    program = (program[0], columns, rhs[..., 0], *program[3:])
    basis = torch.tensor([[0, 1, 2, 3]]).expand(40, -1)
    at_most = torch.isfinite(program[4])
    assert_solved(program, maximise(*program, start=Basis(basis, at_most)))


def test_programs_do_not_disturb_one_another() -> None:
    draw = np.random.default_rng(0)
    cost, most = torch.tensor(draw.normal(size=(7, 9))), torch.ones(7, 9, dtype=torch.float64)
    columns, least = torch.tensor(draw.normal(size=(7, 3, 9))), torch.zeros_like(most)
    rhs = columns.sum(-1) / 2
    together = maximise(cost, columns, rhs, least, most)
    for at in range(7):
        one = slice(at, at + 1)
        alone = maximise(cost[one], columns[one], rhs[one], least[one], most[one])
        torch.testing.assert_close(alone.x[0], together.x[at], rtol=0, atol=1e-12)
        torch.testing.assert_close(alone.dual[0], together.dual[at], rtol=0, atol=1e-9)


def test_a_variable_that_may_be_at_most_0_stays_there() -> None:
    cost = torch.tensor([[9.0, 1.0, 0.0]]).double()
    most = torch.tensor([[0.0, 0.4, torch.inf]]).double()
    one = torch.ones(1, 1, dtype=torch.float64)
    solved = maximise(cost, torch.ones(1, 1, 3).double(), one, torch.zeros_like(most), most)
    torch.testing.assert_close(solved.x, torch.tensor([[0.0, 0.4, 0.6]]).double())
