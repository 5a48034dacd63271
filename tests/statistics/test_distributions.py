"""Distances between distributions and entropy against SciPy."""

from __future__ import annotations

import math

import numpy as np
import scipy.special
import torch
from scipy import stats

from attnaudit import statistics as ours
from attnaudit.statistics.distributions import _x_log_x
from score_cases import GARBAGE, rows_of, same


def distributions(seed, *shape):
    source = torch.Generator().manual_seed(seed)
    drawn = torch.rand(*shape, generator=source, dtype=torch.float64)
    drawn = torch.where(drawn < 0.3, 0.0, drawn)  # exact zeros, as sparse attention has
    drawn[..., 0] += 0.01
    return drawn / drawn.sum(-1, keepdim=True)


def test_tvd_and_jsd_equal_scipy():
    p, q = distributions(1, 50, 1, 9), distributions(2, 50, 4, 9)
    got = ours.jsd(p, q)
    assert got.shape == ours.tvd(p, q).shape == (50, 4)
    expected = scipy.special.rel_entr(p, (p + q) / 2).sum(-1) + scipy.special.rel_entr(
        q, (p + q) / 2
    ).sum(-1)
    same(got, expected / 2, 1e-14)
    same(ours.tvd(p, q), np.abs(p.numpy() - q.numpy()).sum(-1) / 2, 1e-15)
    assert (
        ours.jsd(p.float(), q.float()).dtype
        == ours.tvd(p.float(), q.float()).dtype
        == torch.float64
    )


def test_jsd_is_0_for_equal_and_ln_2_for_disjoint_distributions():
    p = distributions(3, 2000, 30)
    zero = torch.zeros_like(p)
    assert (ours.jsd(p, p) == 0).all()
    assert (ours.tvd(p, p) == 0).all()
    apart = ours.jsd(torch.cat([p, zero], -1), torch.cat([zero, p], -1))
    assert (apart <= math.log(2)).all()
    same(apart, [math.log(2)] * 2000, 1e-14)
    near = p + 1e-9 * torch.randn(p.shape, generator=torch.Generator().manual_seed(0)).double() * (
        p > 0
    )
    assert (ours.jsd(p, near) >= 0).all()


def test_jsd_ignores_masked_items():
    p, q = distributions(4, 20, 5), distributions(5, 20, 5)
    garbage = GARBAGE.double().expand(20, 5)
    mask = torch.tensor([True] * 5 + [False] * 5).expand(20, 10)
    same(
        ours.jsd(torch.cat([p, garbage], -1), torch.cat([q, garbage.flip(-1)], -1), mask),
        ours.jsd(p, q),
        0,
    )


def test_the_kept_logarithm_gives_the_value_and_the_slopes_of_torch():
    p, q = distributions(8, 5, 9), distributions(9, 5, 9)
    for given in (p, q):  # the value does not depend on whether a gradient is wanted
        expected = ours.jsd(p, q)
        torch.testing.assert_close(
            ours.jsd(p.clone().requires_grad_(), q), expected, rtol=0, atol=1e-15
        )
        x = given.clone().requires_grad_()
        tiny = torch.finfo(x.dtype).tiny
        slope, plain = (
            torch.autograd.grad(value.sum(), x)[0]
            for value in (_x_log_x(x), torch.special.xlogy(x, x.clamp_min(tiny)))
        )
        torch.testing.assert_close(slope, plain, rtol=1e-14, atol=0)
        assert (slope[given == 0] == math.log(tiny)).all()
    inside = (p + 0.02).requires_grad_()
    assert torch.autograd.gradgradcheck(_x_log_x, (inside,))


def test_jsd_has_a_finite_gradient_also_at_zeros():
    p, q = distributions(6, 4, 6) + 0.02, distributions(7, 4, 6) + 0.02
    assert torch.autograd.gradcheck(ours.jsd, (p.requires_grad_(), q.requires_grad_()))

    # Exact zeros: in both, in one, in the other, and disjoint supports.
    p = torch.tensor([[0, 0, 0.5, 0.5], [0.3, 0.7, 0, 0]], dtype=torch.float64, requires_grad=True)
    q = torch.tensor([[0, 0.4, 0, 0.6], [0, 0, 0.1, 0.9]], dtype=torch.float64, requires_grad=True)
    ours.jsd(p, q).sum().backward()
    assert p.grad.isfinite().all()
    assert q.grad.isfinite().all()
    assert p.grad[0, 0] == 0
    assert p.grad[0, 1] < -100  # the true slope is -inf: giving p what q has brings them together
    # The slope survives also where rounding took the value beyond ln 2.
    one = distributions(3, 500, 30)
    p = torch.cat([one, torch.zeros_like(one)], -1).requires_grad_()
    ours.jsd(p, p.detach().flip(-1)).sum().backward()
    same(p.grad[p > 0], torch.full_like(p[p > 0], math.log(2) / 2), 1e-12)

    mask = torch.tensor([[True, True, False, False]])
    p = torch.tensor([[0.2, 0.8, torch.nan, torch.inf]], dtype=torch.float64, requires_grad=True)
    ours.jsd(p, torch.tensor([[0.5, 0.5, torch.nan, 0]]), mask).sum().backward()
    assert p.grad[0, 2:].tolist() == [0, 0]
    assert p.grad.isfinite().all()


def test_entropy_equals_scipy():
    p = distributions(8, 40, 12)
    mask = torch.arange(12) < torch.arange(1, 41).remainder(12)[:, None] + 1
    filled = torch.where(mask, p, torch.inf)
    plain = ours.entropy(filled, mask, normalised=False)
    same(plain, [stats.entropy(row) for (row,) in rows_of(p, mask)])
    lengths = mask.sum(-1).double()
    same(ours.entropy(filled, mask), torch.where(lengths > 1, plain / lengths.log(), torch.nan))
    assert ours.entropy(filled, mask).isnan().sum() == (lengths == 1).sum() > 0


def test_entropy_is_0_for_one_item_and_1_for_uniform():
    mask = torch.arange(50) < torch.arange(51)[:, None]
    uniform = mask / mask.sum(-1, keepdim=True)
    got = ours.entropy(uniform, mask)
    assert got[:2].isnan().all()
    assert (got[2:] <= 1).all()
    same(got[2:], torch.ones(49), 1e-14)
    point = torch.zeros(50, 50).fill_diagonal_(1)
    zero = ours.entropy(point, torch.ones(50, 50, dtype=torch.bool))
    assert (zero == 0).all()
    assert not torch.signbit(zero).any()
    assert ours.entropy(torch.zeros(1, 3), torch.ones(1, 3, dtype=torch.bool)).isnan()


def test_entropy_has_a_finite_gradient():
    p = distributions(9, 3, 5) + 0.05
    mask = torch.arange(5) < torch.tensor([[5], [3], [2]])
    assert torch.autograd.gradcheck(lambda each: ours.entropy(each, mask), (p.requires_grad_(),))
    p = torch.tensor([[1.0, 0, 0], [1.0, 5, 5]], dtype=torch.float64, requires_grad=True)
    ours.entropy(p, torch.tensor([[True, True, True], [True, False, False]])).nansum().backward()
    assert p.grad.isfinite().all()


def test_the_functional_gradient_is_that_of_autograd() -> None:
    draw = torch.Generator().manual_seed(0)
    one, other = torch.rand(2, 4, 5, generator=draw, dtype=torch.float64).softmax(-1)

    def total(given: torch.Tensor) -> torch.Tensor:
        return ours.jsd(given, other).sum()

    (expected,) = torch.autograd.grad(total(one.requires_grad_()), one)
    torch.testing.assert_close(torch.func.grad(total)(one.detach()), expected)
    by_row = torch.func.vmap(torch.func.grad(lambda p, q: ours.jsd(p, q)))
    torch.testing.assert_close(by_row(one.detach(), other), expected)
