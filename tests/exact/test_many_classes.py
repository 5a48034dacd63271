"""The furthest attention with three and more classes: a constrained optimiser and dense scans."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.special import rel_entr, softmax
from torch import Tensor

from attnaudit.core.errors import InputError
from attnaudit.exact import furthest


def jsd(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    middle = (p + q) / 2
    return (rel_entr(p, middle) + rel_entr(q, middle)).sum(-1) / 2


def tvd(a: np.ndarray, alpha: np.ndarray, readout: np.ndarray) -> np.ndarray:
    return np.abs(softmax(a @ readout, axis=-1) - softmax(alpha @ readout)).sum(-1) / 2


def made(
    examples: int, items: int, classes: int, *, seed: int, scale: float = 2.0, sure: float = 0.0
) -> tuple[Tensor, Tensor, Tensor]:
    """alpha, readout, mask; `sure` is added to the logit of the first class."""
    draw = np.random.default_rng(seed)
    alpha = draw.dirichlet(np.full(items, 0.5), size=examples)
    readout = scale * draw.normal(size=(examples, items, classes))
    readout[..., 0] += sure
    return torch.tensor(alpha), torch.tensor(readout), torch.ones(examples, items, dtype=torch.bool)


def attack(
    alpha: np.ndarray, readout: np.ndarray, epsilon: float, *, starts: int, seed: int
) -> float:
    """The furthest feasible attention that SLSQP finds from random small supports."""
    draw = np.random.default_rng(seed)
    items, classes = readout.shape
    original, best = softmax(alpha @ readout), 0.0
    sets = np.array([[n >> c & 1 for c in range(classes)] for n in range(1, 2**classes - 1)])

    def room(a: np.ndarray) -> np.ndarray:
        return 1 - sets @ (softmax(a @ readout) - original) / epsilon

    def room_slope(a: np.ndarray) -> np.ndarray:
        p = softmax(a @ readout)
        return -sets @ (np.diag(p) - np.outer(p, p)) @ readout.T / epsilon

    for _ in range(starts):
        start, size = np.zeros(items), min(items, classes)
        start[draw.choice(items, size, replace=False)] = draw.dirichlet(np.ones(size))
        reached = minimize(
            lambda a: -jsd(np.clip(a, 0, None), alpha),
            start,
            jac=lambda a: (
                -0.5 * np.log(2 * np.clip(a, 1e-9, None) / (np.clip(a, 1e-9, None) + alpha))
            ),
            bounds=[(0, 1)] * items,
            constraints=[
                {"type": "ineq", "fun": room, "jac": room_slope},
                {"type": "eq", "fun": lambda a: a.sum() - 1, "jac": np.ones_like},
            ],
            method="SLSQP",
            options={"maxiter": 60},
        )
        a = np.nan_to_num(np.clip(reached.x, 0, None)) + 1e-300
        a /= a.sum()
        shares = np.linspace(1, 0, 2001)[:, None]
        mixed = shares * a + (1 - shares) * alpha  # drawn back to the original until it is feasible
        best = max(best, float(jsd(mixed[tvd(mixed, alpha, readout) <= epsilon][0], alpha)))
    return best


HIDDEN = (
    np.array([0.16283716, 0.0, 0.05794206, 0.77922078, 0.0]),
    np.array(
        [
            [-0.9, -1.9, -2.3, -1.1],
            [3.7, -1.9, 0.9, -0.7],
            [3.9, 0.7, -2.4, -1.0],
            [3.8, 1.5, 0.4, 1.2],
            [2.1, -2.7, -2.9, 0.1],
        ]
    ),
)


def test_a_far_attention_on_four_items_of_which_no_two_are_feasible_is_found() -> None:
    """A search from pairs and from the original's own vertices stops at 0.0325 here."""
    alpha, readout = HIDDEN
    alpha = alpha / alpha.sum()
    known = np.array([0.5495, 0.0981, 0.3357, 0.0, 0.0166])
    assert tvd(known / known.sum(), alpha, readout) < 0.0101
    found = furthest(
        torch.tensor(alpha)[None], torch.tensor(readout)[None], torch.ones(1, 5).bool()
    )
    assert found.jsd.item() >= 0.419
    assert found.upper.item() < 0.42
    a = found.alpha[0].numpy()
    assert tvd(a, alpha, readout) <= 0.01
    assert jsd(a, alpha) == pytest.approx(found.jsd.item(), abs=1e-12)


@pytest.mark.parametrize("sure", [0.0, 4.0])
@pytest.mark.parametrize(
    ("classes", "items", "epsilon", "scale"),
    [(3, 4, 0.01, 2.0), (3, 6, 0.2, 6.0), (4, 5, 0.001, 1.0), (5, 7, 0.05, 0.3), (6, 6, 0.01, 2.0)],
)
def test_no_constrained_optimiser_gets_above_the_upper_bound(
    classes: int, items: int, epsilon: float, scale: float, sure: float
) -> None:
    alpha, readout, mask = made(4, items, classes, seed=classes + items, scale=scale, sure=sure)
    found = furthest(alpha, readout, mask, epsilon=epsilon)
    attacks = np.array(
        [
            attack(alpha[at].numpy(), readout[at].numpy(), epsilon, starts=4, seed=at)
            for at in range(4)
        ]
    )
    assert (attacks <= found.upper.numpy() + 1e-9).all()
    assert (attacks <= found.jsd.numpy() + 0.02).all()
    assert attacks.max() > 0.5 * found.jsd.max(), "the attack is too weak to show anything"


@pytest.mark.parametrize(("epsilon", "loose"), [(0.001, 0.001), (0.01, 0.005), (0.2, 0.05)])
@pytest.mark.parametrize("classes", [3, 5])
def test_two_items_every_mixture_is_scanned(classes: int, epsilon: float, loose: float) -> None:
    alpha, readout, mask = made(30, 2, classes, seed=classes)
    found = furthest(alpha, readout, mask, epsilon=epsilon)
    weight = np.linspace(0, 1, 40_001)
    mixtures = np.stack([weight, 1 - weight], -1)
    excess = []
    for at in range(30):
        a, r = alpha[at].numpy(), readout[at].numpy()
        best = jsd(mixtures[tvd(mixtures, a, r) <= epsilon], a).max(initial=0.0)
        assert best <= found.upper[at].item() + 1e-12
        assert found.jsd[at].item() >= best - 1e-4
        excess.append(found.upper[at].item() - best)
    assert np.mean(excess) < loose


@pytest.mark.parametrize("classes", [3, 4, 6])
@pytest.mark.parametrize("items", [5, 10])
def test_the_interval_is_narrow(classes: int, items: int) -> None:
    """Mean widths before the branch and bound: 0.14 and 0.05 to 0.34 and 0.34."""
    found = furthest(*made(40, items, classes, seed=100 * classes + items))
    assert (found.upper - found.jsd).mean() < 0.02
    assert (found.upper >= found.jsd).all()
    assert found.jsd.mean() > 0.02


@pytest.mark.parametrize("sure", [20.0, 30.0, 60.0])
def test_a_prediction_that_is_almost_certain_is_held_to_a_tiny_tolerance(sure: float) -> None:
    """Rounding must not excuse what epsilon forbids: all in proportion to 1 - p."""
    alpha, readout, mask = made(12, 6, 3, seed=3, scale=1.0, sure=sure)
    logits = (alpha[:, None] @ readout)[:, 0]
    rest = 1 / (1 + torch.exp(logits[:, 0] - logits[:, 1:].logsumexp(-1)))
    found = furthest(alpha, readout, mask, epsilon=0.04 * rest)
    odds = (found.alpha[:, None] @ readout)[:, 0]
    before, after = (z[:, 0] - z[:, 1:].logsumexp(-1) for z in (logits, odds))
    assert (before - after <= math.log(1.04) + 1e-6).all()
    assert (after - before <= -math.log(0.96) + 1e-6).all()
    assert found.jsd.mean() > 0.05
    assert (found.upper - found.jsd).mean() < 0.05


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_one_epsilon_per_example_is_each_example_with_its_own(classes: int) -> None:
    alpha, readout, mask = made(6, 7, classes, seed=8)
    epsilon = torch.tensor([0.0, 0.001, 0.01, 0.05, 0.3, 1.0], dtype=torch.float64)
    together = furthest(alpha, readout, mask, epsilon=epsilon)
    for at, each in enumerate(epsilon.tolist()):
        one = slice(at, at + 1)
        alone = furthest(alpha[one], readout[one], mask[one], epsilon=each)
        torch.testing.assert_close(alone.jsd[0], together.jsd[at], rtol=0, atol=1e-9)
        torch.testing.assert_close(alone.upper[0], together.upper[at], rtol=0, atol=1e-9)
    assert together.jsd[5] > together.jsd[0] + 0.01


def test_one_epsilon_per_example_with_candidate_classes() -> None:
    alpha, readout, mask = made(4, 6, 5, seed=9)
    classes = torch.ones(4, 5, dtype=torch.bool)
    classes[::2, 2:] = False
    epsilon = torch.tensor([0.2, 0.2, 0.001, 0.001], dtype=torch.float64)
    together = furthest(alpha, readout, mask, epsilon=epsilon, classes=classes)
    for at, each in enumerate(epsilon.tolist()):
        one = slice(at, at + 1)
        alone = furthest(alpha[one], readout[one], mask[one], epsilon=each, classes=classes[one])
        torch.testing.assert_close(alone.jsd[0], together.jsd[at], rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("epsilon", "message"),
    [
        (torch.tensor([0.1, 0.2]), r"one per example, \(B,\) = \(3,\), got \(2,\)"),
        (torch.tensor([0.1, 0.2, 1.5]), "from 0 to 1, got 1.5"),
        (torch.tensor([0.1, math.nan, 0.5]), "from 0 to 1, got nan"),
    ],
)
def test_a_tensor_of_tolerances_is_checked(epsilon: Tensor, message: str) -> None:
    with pytest.raises(InputError, match=message):
        furthest(*made(3, 4, 3, seed=0), epsilon=epsilon)


@pytest.mark.parametrize("classes", [12, 30])
def test_more_classes_than_the_programs_consider_are_bounded_by_the_most_probable(
    classes: int,
) -> None:
    alpha, readout, mask = made(6, 8, classes, seed=classes, scale=1.0)
    found = furthest(alpha, readout, mask, epsilon=0.05)
    for at in range(6):
        a, r = alpha[at].numpy(), readout[at].numpy()
        assert tvd(found.alpha[at].numpy(), a, r) <= 0.05 + 1e-10
        random = np.random.default_rng(at).dirichlet(np.full(8, 0.3), size=20_000)
        mixed = 0.2 * random + 0.8 * a
        for points in (random, mixed):
            feasible = points[tvd(points, a, r) <= 0.05]
            assert jsd(feasible, a).max(initial=0.0) <= found.upper[at].item()


@pytest.mark.parametrize("classes", [3, 4, 6])
@pytest.mark.parametrize("real", [1, 2, 3, 9])
def test_no_weight_goes_to_masked_items(classes: int, real: int) -> None:
    """A vertex with fewer items than classes has room in its basis, which padding must not take."""
    alpha, readout, mask = made(30, 12, classes, seed=11, scale=1.0)
    mask[:, real:] = False
    alpha = torch.where(mask, alpha, 0.0)
    alpha = alpha / alpha.sum(-1, keepdim=True)
    found = furthest(alpha, readout, mask, epsilon=0.05)
    assert (found.alpha[~mask] == 0).all()
    for at in range(30):
        a, r = alpha[at].numpy(), readout[at].numpy()
        assert tvd(found.alpha[at].numpy(), a, r) <= 0.05 + 1e-10
