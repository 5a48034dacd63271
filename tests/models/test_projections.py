"""Projections against their definitions, each solved in another way."""

from __future__ import annotations

import math

import entmax as library
import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from attnaudit.core.errors import InputError
from attnaudit.models.projections import PROJECTIONS
from attnaudit.models.projections.entmax import Entmax
from attnaudit.models.projections.gumbel_softmax import GumbelSoftmax
from attnaudit.models.projections.sparsegen import Sparsegen
from attnaudit.models.projections.sparsemax import Sparsemax

EVERY = torch.tensor([[True] * 5])


def scores(seed: int, items: int = 5, spread: float = 2.0) -> torch.Tensor:
    return spread * torch.randn(
        1, items, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    )


def by_solver(z: np.ndarray, lam: float) -> np.ndarray:
    """argmin ‖p - z‖² - lam‖p‖² over the simplex, by a general solver."""
    start = np.full(len(z), 1 / len(z))
    found = minimize(
        lambda p: ((p - z) ** 2).sum() - lam * (p**2).sum(),
        start,
        jac=lambda p: 2 * (p - z) - 2 * lam * p,
        bounds=[(0, 1)] * len(z),
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1, "jac": lambda p: np.ones_like(p)},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-14},
    )
    return found.x


def onto_simplex(z: np.ndarray) -> np.ndarray:
    """Euclidean projection, by bisection on the threshold."""
    low, high = z.min() - 1, z.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.clip(z - middle, 0, None).sum() > 1 else (low, middle)
    return np.clip(z - low, 0, None)


@pytest.mark.parametrize("lam", [-5.0, -1.0, 0.0, 0.5, 0.9])
@pytest.mark.parametrize("seed", range(4))
def test_sparsegen_solves_its_problem(lam: float, seed: int) -> None:
    z = scores(seed)
    found = Sparsegen(lam=lam)(z, EVERY)[0].numpy()
    np.testing.assert_allclose(found, by_solver(z[0].numpy(), lam), atol=1e-5)
    np.testing.assert_allclose(found, onto_simplex(z[0].numpy() / (1 - lam)), atol=1e-10)


def test_sparsegen_is_sparsemax_uniform_or_argmax_at_its_limits() -> None:
    z = scores(1)
    torch.testing.assert_close(
        Sparsegen(lam=0.0)(z, EVERY), Sparsemax()(z, EVERY), atol=1e-12, rtol=0
    )
    torch.testing.assert_close(
        Sparsegen(lam=-1e9)(z, EVERY), torch.full_like(z, 0.2), atol=1e-8, rtol=0
    )
    assert Sparsegen(lam=1 - 1e-9)(z, EVERY).amax() == pytest.approx(1.0)
    with pytest.raises(InputError, match="lam must be below 1, got 1"):
        Sparsegen(lam=1)


@pytest.mark.parametrize("alpha", [1.2, 1.5, 1.9, 2.0])
def test_entmax_is_the_librarys_and_meets_its_optimality_condition(alpha: float) -> None:
    z = scores(3)
    found = Entmax(alpha=alpha)(z, EVERY)
    torch.testing.assert_close(
        found, library.entmax_bisect(z, alpha=alpha, dim=-1), atol=1e-7, rtol=0
    )
    # On the support, z - p^(alpha-1)/(alpha-1) is one constant; off it, z is below that constant.
    support = found[0] > 0
    level = z[0] - found[0] ** (alpha - 1) / (alpha - 1)
    assert level[support].std(unbiased=False) < 1e-6
    if (~support).any():
        assert z[0][~support].max() <= level[support].mean() + 1e-6


def test_learned_alpha_starts_at_one_and_a_half_and_has_a_gradient() -> None:
    projection = Entmax(alpha="learned").double()
    z = scores(3)
    found = projection(z, EVERY)
    torch.testing.assert_close(found, Entmax(alpha=1.5)(z, EVERY), atol=1e-6, rtol=0)
    (found**2).sum().backward()
    assert projection.raw.grad.abs() > 1e-6
    for wrong in (1, 0.5, 2.5, "big"):
        with pytest.raises(InputError, match="alpha must be above 1 and at most 2, or learned"):
            Entmax(alpha=wrong)


@pytest.mark.parametrize("name", PROJECTIONS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shift", [0.0, 300.0])
def test_masked_items_have_no_effect(name: str, dtype: torch.dtype, shift: float) -> None:
    projection = PROJECTIONS[name]().eval()
    z = (scores(5, items=4, spread=3.0) + shift).to(dtype)
    alone = projection(z, torch.ones_like(z, dtype=torch.bool))
    for garbage in (-1e4, 0.0, 1e4, math.nan, math.inf, -math.inf):
        extra = torch.full((1, 3), garbage, dtype=dtype)
        padded = torch.cat([z[:, :2], extra, z[:, 2:]], 1)
        mask = torch.tensor([[True, True, False, False, False, True, True]])
        found = projection(padded, mask)
        assert found[~mask].abs().max() == 0
        torch.testing.assert_close(
            found[mask], alone[0], atol=1e-6 if dtype == torch.float32 else 1e-12, rtol=0
        )


@pytest.mark.parametrize("name", [name for name in PROJECTIONS if name != "uniform"])
def test_rows_without_items_are_zero_and_have_finite_gradients(name: str) -> None:
    projection = PROJECTIONS[name]().eval()
    z = scores(2).repeat(2, 1).requires_grad_()
    mask = torch.tensor([[True] * 5, [False] * 5])
    found = projection(z, mask)
    assert found[1].abs().max() == 0
    (found * torch.arange(5.0)).sum().backward()
    assert torch.isfinite(z.grad).all()


@pytest.mark.parametrize("name", [name for name in PROJECTIONS if name != "uniform"])
def test_projections_pass_gradcheck(name: str) -> None:
    projection = PROJECTIONS[name]().double().eval()
    z = scores(7, spread=1.0).requires_grad_()
    mask = torch.tensor([[True, True, False, True, True]])
    assert torch.autograd.gradcheck(lambda s: projection(s, mask), (z,), atol=1e-4)


def test_gumbel_noise_is_on_in_training_and_off_in_evaluation() -> None:
    projection = GumbelSoftmax(temperature=0.8)
    z = scores(4)
    expected = (z / 0.8).softmax(-1)
    torch.testing.assert_close(projection.eval()(z, EVERY), expected, atol=1e-12, rtol=0)
    projection.train()
    drawn = torch.cat([projection(z.float(), EVERY) for _ in range(4000)])
    assert drawn.std(0).min() > 0.01
    # The Gumbel-max trick: the largest noisy score is item n with probability softmax(z)_n.
    share = torch.bincount(drawn.argmax(-1), minlength=5) / len(drawn)
    torch.testing.assert_close(share.double(), z[0].softmax(-1), atol=0.03, rtol=0)
    with pytest.raises(InputError, match="temperature must be above 0"):
        GumbelSoftmax(temperature=0)


def test_gumbel_softmax_can_be_built_without_storage() -> None:
    """As a stored model is checked before it is read; its noise is the same as ever."""
    with torch.device("meta"):
        GumbelSoftmax()
    torch.manual_seed(3)
    expected = torch.Generator().manual_seed(int(torch.randint(2**62, ()))).initial_seed()
    torch.manual_seed(3)
    assert GumbelSoftmax()._draw.initial_seed() == expected
