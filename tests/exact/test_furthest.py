"""The furthest equivalent attention against enumeration, grids, linear programs and searches."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal, localcontext
from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.special import rel_entr, softmax
from torch import Tensor

from attnaudit.core.errors import InputError
from attnaudit.exact import Furthest, furthest, slab

LN2 = math.log(2)


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """The tensors here are so small that threads would only wait for one another."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module", params=["all pairs", "in rounds"])
def _both_ways_of_pairing(request: pytest.FixtureRequest) -> Iterator[None]:
    """Short texts try all pairs of items, long ones leave out those that cannot win."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "in rounds":
            patch.setattr(slab, "_ALL_PAIRS", 0)
        yield


paired_both_ways = pytest.mark.usefixtures("_both_ways_of_pairing")


# Independent computations


def jsd(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    middle = (p + q) / 2
    return (rel_entr(p, middle) + rel_entr(q, middle)).sum(-1) / 2


def tvd(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    return np.abs(p - q).sum(-1) / 2


def probs(alpha: np.ndarray, readout: np.ndarray) -> np.ndarray:
    return softmax(alpha @ readout, axis=-1)


def bounds(alpha: np.ndarray, s: np.ndarray, epsilon: float) -> tuple[float, float]:
    """The log-odds at p - epsilon and p + epsilon, in 60 digits."""
    with localcontext() as context:
        context.prec = 60
        weight = [Decimal(float(a)) for a in alpha]
        odds = sum(a * Decimal(float(x)) for a, x in zip(weight, s, strict=True)) / sum(weight)
        p, q, e = 1 / (1 + (-odds).exp()), 1 / (1 + odds.exp()), Decimal(epsilon)
        low = float(((p - e) / (q + e)).ln()) if p > e else -math.inf
        high = float(((p + e) / (q - e)).ln()) if q > e else math.inf
    return low, high


def vertices(s: np.ndarray, low: float, high: float) -> np.ndarray:
    """Every vertex of {a on the simplex, low <= a·s <= high}: one item, or two on a bound."""
    items = len(s)
    found = [np.eye(items)[i] for i in range(items) if low - 1e-12 <= s[i] <= high + 1e-12]
    for i, j in combinations(range(items), 2):
        for bound in (low, high):
            if math.isfinite(bound) and min(s[i], s[j]) < bound < max(s[i], s[j]):
                vertex = np.zeros(items)
                vertex[i] = (bound - s[j]) / (s[i] - s[j])
                vertex[j] = (s[i] - bound) / (s[i] - s[j])
                found.append(vertex)
    return np.array(found)


def enumerated(alpha: np.ndarray, readout: np.ndarray, epsilon: float) -> float:
    """The true maximum for two classes."""
    s = readout[:, 0] - readout[:, 1]
    return float(jsd(vertices(s, *bounds(alpha, s, epsilon)), alpha).max())


def enumerated_long(alpha: np.ndarray, s: np.ndarray, epsilon: float) -> float:
    """The same for many items: no dense vertices, one row of pairs at a time."""

    def term(p: np.ndarray | float, a: np.ndarray | float) -> np.ndarray:
        return 0.5 * (rel_entr(p, (p + a) / 2) + rel_entr(a, (p + a) / 2))

    low, high = bounds(alpha, s, epsilon)
    inside = alpha[(s >= low) & (s <= high)]
    best = (0.5 * LN2 * (1 - inside) + term(np.ones_like(inside), inside)).max(initial=0.0)
    for bound in (low, high):
        above = np.flatnonzero(s > bound)
        for i in np.flatnonzero(s < bound) if math.isfinite(bound) else []:
            weight = (s[above] - bound) / (s[above] - s[i])
            rest = 0.5 * LN2 * (1 - alpha[i] - alpha[above])
            pairs = rest + term(weight, alpha[i]) + term(1 - weight, alpha[above])
            best = max(best, pairs.max(initial=0.0))
    return float(best)


def simplex_grid(items: int, steps: int) -> np.ndarray:
    cuts = np.array(list(combinations(range(steps + items - 1), items - 1)))
    ends = np.full((len(cuts), 1), steps + items - 1)
    return (np.diff(np.hstack([-np.ones_like(ends), cuts, ends])) - 1) / steps


def adam_search(
    alpha: Tensor, readout: Tensor, epsilon: float, *, steps: int = 250, starts: int = 6
) -> Tensor:
    """The JSD of the furthest feasible attention that a plain penalised search finds: (B,)."""
    draw = torch.Generator().manual_seed(1)
    shape = (len(alpha), starts, alpha.shape[1])
    scores = (3 * torch.randn(shape, generator=draw, dtype=torch.float64)).requires_grad_()
    target = (alpha[:, None] @ readout).softmax(-1)
    best = torch.zeros(len(alpha), dtype=torch.float64)
    optimiser = torch.optim.Adam([scores], lr=0.2)
    for _ in range(steps):
        a = scores.softmax(-1)
        middle = (a + alpha[:, None]) / 2
        far = (
            torch.xlogy(a, a / middle) + torch.xlogy(alpha[:, None], alpha[:, None] / middle)
        ).sum(-1) / 2
        moved = ((a @ readout).softmax(-1) - target).abs().sum(-1) / 2
        best = torch.maximum(best, far.detach().where(moved <= epsilon, 0.0).amax(-1))
        optimiser.zero_grad()
        (30 * (moved - 0.9 * epsilon).clamp_min(0) / max(epsilon, 1e-6) - far).sum().backward()
        optimiser.step()
    return best


def lp_search(alpha: np.ndarray, readout: np.ndarray, *, starts: int, seed: int) -> float:
    """Successive linear programs over the attentions with the very same log-odds."""
    draw = np.random.default_rng(seed)
    constraints = np.vstack([(readout[:, 1:] - readout[:, :1]).T, np.ones(len(alpha))])
    best = 0.0
    for _ in range(starts):
        direction, reached = draw.normal(size=len(alpha)), -1.0
        for _ in range(8):
            solved = linprog(
                -direction, A_eq=constraints, b_eq=constraints @ alpha, bounds=(0, None)
            )
            if solved.status != 0 or jsd(solved.x, alpha) <= reached + 1e-9:
                break
            reached = float(jsd(solved.x, alpha))
            direction = 0.5 * np.log(2 * (solved.x + 1e-9) / (solved.x + alpha + 1e-9))
        best = max(best, reached)
    return best


# Making examples


def made(
    examples: int,
    items: int,
    classes: int,
    *,
    seed: int,
    concentration: float = 0.5,
    scale: float = 2.0,
) -> tuple[Tensor, Tensor, Tensor]:
    """alpha, readout, mask with everything real."""
    draw = np.random.default_rng(seed)
    alpha = draw.dirichlet(np.full(items, concentration), size=examples)
    readout = scale * draw.normal(size=(examples, items, classes))
    return torch.tensor(alpha), torch.tensor(readout), torch.ones(examples, items, dtype=torch.bool)


def two_class(
    alpha: list[float] | np.ndarray, s: list[float] | np.ndarray, **options: float
) -> Furthest:
    """One example whose log-odds of class 0 are s."""
    weight, odds = torch.as_tensor(np.array(alpha, float)), torch.as_tensor(np.array(s, float))
    readout = torch.stack([odds, torch.zeros_like(odds)], -1)
    return furthest(
        weight[None], readout[None], torch.ones(1, len(weight), dtype=torch.bool), **options
    )


def assert_sound(
    found: Furthest, alpha: Tensor, readout: Tensor, mask: Tensor, epsilon: float
) -> None:
    """On the simplex and the mask, feasible, as far as it says, and not above its upper bound."""
    a = found.alpha.numpy()
    assert (a >= 0).all()
    assert (a[~mask.numpy()] == 0).all()
    np.testing.assert_allclose(a.sum(-1), 1, atol=1e-12)
    clean = torch.where(mask, alpha, 0.0).numpy()
    rows = torch.where(mask[..., None], readout, 0.0).numpy()
    np.testing.assert_allclose(found.jsd.numpy(), jsd(a, clean), atol=1e-12)
    for at in range(len(a)):
        moved = probs(a[at], rows[at])
        assert tvd(moved, probs(clean[at], rows[at])) <= epsilon + 1e-9
        np.testing.assert_allclose(found.probs[at].numpy(), moved, atol=1e-12)
    assert (found.jsd <= found.upper).all()


# Two classes


@paired_both_ways
@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.05, 0.3])
@pytest.mark.parametrize("items", [2, 3, 4, 5, 6])
def test_two_classes_the_maximum_is_that_of_all_vertices(items: int, epsilon: float) -> None:
    alpha, readout, mask = made(20, items, 2, seed=items)
    found = furthest(alpha, readout, mask, epsilon=epsilon)
    expected = [
        enumerated(a, r, epsilon) for a, r in zip(alpha.numpy(), readout.numpy(), strict=True)
    ]
    np.testing.assert_allclose(found.jsd.numpy(), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.upper.numpy(), expected, rtol=0, atol=1e-12)
    assert found.exact.all()
    assert_sound(found, alpha, readout, mask, epsilon)


@pytest.mark.parametrize(("items", "steps"), [(2, 4000), (3, 300), (4, 60)])
def test_two_classes_no_point_of_a_dense_grid_is_further_and_some_come_close(
    items: int, steps: int
) -> None:
    alpha, readout, mask = made(8, items, 2, seed=10 + items, concentration=1.0)
    found = furthest(alpha, readout, mask, epsilon=0.15)
    grid = simplex_grid(items, steps)
    for at in range(len(alpha)):
        feasible = (
            tvd(probs(grid, readout[at].numpy()), probs(alpha[at].numpy(), readout[at].numpy()))
            <= 0.15
        )
        best = jsd(grid[feasible], alpha[at].numpy()).max()
        assert best <= found.jsd[at] + 1e-12
        assert best >= found.jsd[at] - 0.03


@paired_both_ways
@pytest.mark.parametrize("items", [9, 17, 30])
def test_two_classes_longer_texts_all_pairs_agree(items: int) -> None:
    alpha, readout, mask = made(15, items, 2, seed=items, concentration=0.2)
    found = furthest(alpha, readout, mask)
    expected = [enumerated(a, r, 0.01) for a, r in zip(alpha.numpy(), readout.numpy(), strict=True)]
    np.testing.assert_allclose(found.jsd.numpy(), expected, rtol=0, atol=1e-12)
    assert_sound(found, alpha, readout, mask, 0.01)


@pytest.mark.parametrize(("items", "epsilon"), [(5, 0.05), (30, 0.01), (30, 0.2)])
def test_two_classes_a_long_search_never_gets_further(items: int, epsilon: float) -> None:
    alpha, readout, mask = made(12, items, 2, seed=items, concentration=0.3)
    found = furthest(alpha, readout, mask, epsilon=epsilon)
    searched = adam_search(alpha, readout, epsilon)
    assert (searched <= found.jsd + 1e-9).all()
    assert searched.mean() > 0.7 * found.jsd.mean(), "the search is too weak to show anything"


weights = st.lists(
    st.sampled_from([0.0, 0.0, 1e-300, 1e-12, 1e-3, 1.0, 1.0, 2.0, 3.0, 1e6]),
    min_size=1,
    max_size=30,
).filter(lambda values: sum(values) > 0)


@paired_both_ways
@settings(max_examples=150, deadline=None, derandomize=True)
@given(weights, st.data(), st.sampled_from([0.0, 1e-6, 0.01, 0.2, 0.6, 1.0]))
@example([1.0] * 20, None, 0.01)
@example([1e6, *[0.0] * 20], None, 0.01)
def test_two_classes_leaving_pairs_out_loses_nothing_whatever_the_ties_and_zeros(
    given_weights: list[float], data: st.DataObject | None, epsilon: float
) -> None:
    items = len(given_weights)
    spread = [float(i % 7 - 3) for i in range(items)]
    odds = st.lists(st.integers(-6, 6).map(float), min_size=items, max_size=items)
    s = np.array(data.draw(odds) if data is not None else spread)
    alpha = np.array(given_weights) / sum(given_weights)
    found = two_class(alpha, s, epsilon=epsilon)
    expected = jsd(vertices(s, *bounds(alpha, s, epsilon)), alpha).max()
    assert found.jsd.item() == pytest.approx(expected, rel=0, abs=1e-12)
    assert found.upper.item() == pytest.approx(expected, rel=0, abs=1e-12)


@paired_both_ways
@pytest.mark.parametrize("attended", list(permutations(range(4))))
def test_two_classes_the_furthest_pair_is_found_whichever_side_it_hides_on(
    attended: tuple[int, ...],
) -> None:
    """Groups of eight items far below, just below, just above and far above the bound.

    Each is attended a little more or less. One item near the bound mixed with one far from it is
    almost one-hot and the furthest; which two groups they come from depends on which is attended
    least, and they need not be the least attended of their sides.
    """
    alpha = np.repeat(1 + 0.05 * np.array(attended), 8)
    alpha /= alpha.sum()
    s = np.repeat([-1e4, -1.0, 1.0, 0.0], 8)
    s[24:] = -(alpha @ s) / alpha[24:].sum()  # about 1e4: the bound lies between the inner two
    found = two_class(alpha, s, epsilon=1e-6)
    expected = jsd(vertices(s, *bounds(alpha, s, 1e-6)), alpha).max()
    assert found.jsd.item() == pytest.approx(expected, rel=0, abs=1e-12)


def test_two_classes_thousands_of_items_agree_with_plain_pair_enumeration() -> None:
    alpha, readout, mask = made(8, 2000, 2, seed=3, concentration=0.05)
    readout = 40 * readout
    found = furthest(alpha, readout, mask)
    assert found.exact.all()
    s = (readout[..., 0] - readout[..., 1]).numpy()
    for at in (0, 5):
        expected = enumerated_long(alpha[at].numpy(), s[at], 0.01)
        assert found.jsd[at].item() == pytest.approx(expected, rel=0, abs=1e-12)


def test_two_classes_uniform_attention_over_a_thousand_items_ends() -> None:
    """With all items alike nothing is ever ruled out by a better one."""
    s = np.random.default_rng(0).normal(size=1000) * 30
    alpha = np.full(1000, 1e-3)
    found = two_class(alpha, s)
    assert found.jsd.item() == pytest.approx(enumerated_long(alpha, s, 0.01), rel=0, abs=1e-12)


def test_two_classes_more_tolerance_never_means_nearer() -> None:
    alpha, readout, mask = made(20, 9, 2, seed=5)
    curve = [
        furthest(alpha, readout, mask, epsilon=e).jsd
        for e in (0, 1e-6, 0.001, 0.01, 0.1, 0.3, 0.5, 0.9, 1)
    ]
    for smaller, larger in pairwise(curve):
        assert (larger >= smaller - 1e-12).all()
    assert (curve[-1] > curve[0] + 0.01).any()


# Degenerate examples


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_one_item_leaves_no_choice(classes: int) -> None:
    alpha, readout, mask = made(3, 1, classes, seed=0)
    found = furthest(alpha, readout, mask)
    assert found.jsd.tolist() == found.upper.tolist() == [0.0] * 3
    assert found.exact.all()
    assert found.alpha.tolist() == [[1.0]] * 3


@pytest.mark.parametrize("classes", [2, 3, 6])
@pytest.mark.parametrize("epsilon", [0.0, 0.01])
def test_equal_readouts_allow_the_furthest_one_hot(classes: int, epsilon: float) -> None:
    alpha, readout, mask = made(6, 7, classes, seed=1)
    readout = readout[:, :1].expand(-1, 7, -1).clone()
    found = furthest(alpha, readout, mask, epsilon=epsilon)
    expected = jsd(np.eye(7), alpha.numpy()[:, None]).max(-1)
    np.testing.assert_allclose(found.jsd.numpy(), expected, atol=1e-12)
    assert found.exact.all()


@pytest.mark.parametrize("size", [30.0, 200.0, 1e3])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_prediction_at_0_or_1_bounds_one_side_only(size: float, sign: float) -> None:
    alpha = np.array([0.4, 0.3, 0.2, 0.05, 0.05])
    s = sign * np.array([size, size / 2, size, -size / 100, -size / 3])
    found = two_class(alpha, s)
    low, high = bounds(alpha, s, 0.01)
    assert math.isinf(low) != math.isinf(high)
    assert found.jsd.item() == pytest.approx(
        jsd(vertices(s, low, high), alpha).max(), rel=0, abs=1e-12
    )
    assert found.exact.item()


@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 0.01])
@pytest.mark.parametrize("odds", [-4.6, -4.595119850134589, -4.59, 4.595119850134589, 4.6])
def test_a_prediction_just_at_epsilon_from_0_or_1(odds: float, epsilon: float) -> None:
    """logit(0.01) is -4.595119850134589."""
    alpha, s = np.array([0.5, 0.25, 0.25]), odds + np.array([1.0, -2.0, 0.0])
    found = two_class(alpha, s, epsilon=epsilon)
    expected = jsd(vertices(s, *bounds(alpha, s, epsilon)), alpha).max()
    assert found.jsd.item() == pytest.approx(expected, rel=0, abs=1e-7)


def test_a_large_number_common_to_all_classes_changes_nothing() -> None:
    alpha, readout, mask = made(10, 8, 2, seed=8)
    plain, moved = (furthest(alpha, readout + shift, mask).jsd for shift in (0.0, 1024.0))
    torch.testing.assert_close(plain, moved, rtol=0, atol=1e-9)


def test_zero_weights_are_the_furthest_place_to_be() -> None:
    found = two_class([0.5, 0.5, 0.0], [1.0, 1.0, 1.0])
    assert found.jsd.item() == pytest.approx(LN2, abs=1e-15)
    assert found.alpha.tolist() == [[0.0, 0.0, 1.0]]


def test_one_hot_attention_can_move_to_a_mixture_of_the_others() -> None:
    """All weight on the middle item; half on each of the outer two gives the same odds."""
    found = two_class([0.0, 1.0, 0.0], [-1.0, 0.0, 1.0], epsilon=0.0)
    assert found.jsd.item() == pytest.approx(LN2, abs=1e-12)
    np.testing.assert_allclose(found.alpha.numpy(), [[0.5, 0.0, 0.5]], atol=1e-12)


def test_no_tolerance_and_two_unlike_items_pin_the_attention_down() -> None:
    found = two_class([0.3, 0.7], [2.0, -1.0], epsilon=0.0)
    assert found.jsd.item() == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(found.alpha.numpy(), [[0.3, 0.7]], atol=1e-9)


@pytest.mark.parametrize("classes", [2, 4])
def test_full_tolerance_allows_the_furthest_one_hot(classes: int) -> None:
    alpha, readout, mask = made(6, 5, classes, seed=2, scale=30.0)
    found = furthest(alpha, readout, mask, epsilon=1.0)
    np.testing.assert_allclose(
        found.jsd.numpy(), jsd(np.eye(5), alpha.numpy()[:, None]).max(-1), atol=1e-12
    )
    assert found.exact.all()


@pytest.mark.parametrize("classes", [2, 3])
def test_an_empty_mask_has_no_answer_and_disturbs_nobody(classes: int) -> None:
    alpha, readout, mask = made(3, 4, classes, seed=4)
    alone = furthest(alpha[[0, 2]], readout[[0, 2]], mask[[0, 2]])
    mask[1] = False
    found = furthest(alpha, readout, mask)
    assert found.jsd[1].isnan()
    assert found.upper[1].isnan()
    assert not found.exact[1]
    torch.testing.assert_close(found.jsd[[0, 2]], alone.jsd, rtol=0, atol=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("garbage", [math.nan, math.inf, -math.inf, 1e300])
def test_nothing_outside_the_mask_matters(classes: int, garbage: float) -> None:
    alpha, readout, mask = made(3, 6, classes, seed=6)
    mask[:, [1, 5]] = False
    alpha = torch.where(mask, alpha, 0.0)
    alpha = alpha / alpha.sum(-1, keepdim=True)
    clean = furthest(alpha, torch.where(mask[..., None], readout, 0.0), mask)
    dirty = furthest(
        alpha.masked_fill(~mask, garbage), readout.masked_fill(~mask[..., None], garbage), mask
    )
    for name in ("alpha", "jsd", "upper", "exact", "probs"):
        assert torch.equal(getattr(clean, name), getattr(dirty, name)), name


def test_two_candidates_of_five_are_a_two_class_problem() -> None:
    alpha, readout, mask = made(20, 7, 5, seed=7)
    classes = torch.zeros(20, 5, dtype=torch.bool)
    classes[:, [1, 4]] = True
    found = furthest(alpha, readout, mask, classes=classes)
    expected = [
        enumerated(a, r[:, [1, 4]], 0.01)
        for a, r in zip(alpha.numpy(), readout.numpy(), strict=True)
    ]
    np.testing.assert_allclose(found.jsd.numpy(), expected, atol=1e-12)
    assert found.exact.all()
    assert (found.probs[:, [0, 2, 3]] == 0).all()


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_a_lone_candidate_allows_everything(classes: int) -> None:
    alpha, readout, mask = made(6, 5, classes, seed=8)
    candidate = torch.zeros(6, classes, dtype=torch.bool)
    candidate[:, 1] = True
    found = furthest(alpha, readout, mask, classes=candidate)
    expected = jsd(np.eye(5), alpha.numpy()[:, None]).max(-1)
    np.testing.assert_allclose(found.jsd.numpy(), expected, atol=1e-12)
    np.testing.assert_allclose(found.upper.numpy(), expected, atol=1e-12)
    assert found.exact.all()


def test_weights_rounded_to_half_precision_are_scaled_to_sum_to_1() -> None:
    alpha, readout, mask = made(10, 8, 2, seed=9, concentration=1.0)
    rounded = 1.004 * alpha
    found = furthest(rounded, readout, mask)
    expected = [enumerated(a, r, 0.01) for a, r in zip(alpha.numpy(), readout.numpy(), strict=True)]
    np.testing.assert_allclose(found.jsd.numpy(), expected, atol=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_float32_in_gives_float32_out_near_the_float64_answer(classes: int) -> None:
    alpha, readout, mask = made(5, 6, classes, seed=9)
    alpha, readout = alpha.float(), readout.float()
    found = furthest(alpha, readout, mask)
    for name in ("alpha", "jsd", "upper", "probs"):
        assert getattr(found, name).dtype == torch.float32, name
    precise = furthest(alpha.double(), readout.double(), mask)
    torch.testing.assert_close(found.jsd.double(), precise.jsd, rtol=0, atol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_one_by_one_equals_batched(classes: int) -> None:
    alpha, readout, mask = made(4, 10, classes, seed=10)
    mask[1, 6:] = False
    alpha[1, 6:] = 0
    alpha = alpha / alpha.sum(-1, keepdim=True)
    together = furthest(alpha, readout, mask)
    for at in range(4):
        alone = furthest(alpha[at : at + 1], readout[at : at + 1], mask[at : at + 1])
        torch.testing.assert_close(alone.jsd[0], together.jsd[at], rtol=0, atol=1e-9)
        torch.testing.assert_close(alone.upper[0], together.upper[at], rtol=0, atol=1e-9)


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("items", [3, 6, 9])
def test_padding_equals_a_shorter_input(items: int, classes: int) -> None:
    alpha, readout, mask = made(40, items, classes, seed=11, concentration=0.3, scale=1.0)
    short = furthest(alpha, readout, mask)
    wide = torch.nn.functional.pad
    padded = furthest(wide(alpha, (0, 21)), wide(readout, (0, 0, 0, 21)), wide(mask, (0, 21)))
    # With more than two classes, which of several equally good multipliers is found depends on
    # rounding, and the bounds they give are equally valid but not equal.
    within = 1e-12 if classes == 2 else 1e-3
    torch.testing.assert_close(padded.jsd, short.jsd, rtol=0, atol=1e-6 if classes > 2 else 1e-9)
    torch.testing.assert_close(padded.upper, short.upper, rtol=0, atol=within)


# More than two classes


@pytest.mark.parametrize(
    ("classes", "items", "epsilon"), [(3, 12, 0.01), (4, 5, 0.1), (5, 20, 0.05), (6, 8, 0.01)]
)
def test_many_classes_the_attention_found_is_feasible_and_on_the_mask(
    classes: int, items: int, epsilon: float
) -> None:
    alpha, readout, mask = made(10, items, classes, seed=classes)
    mask[:4, items - 2 :] = False
    alpha[:4, items - 2 :] = 0
    alpha = alpha / alpha.sum(-1, keepdim=True)
    found = furthest(alpha, readout, mask, epsilon=epsilon)
    assert_sound(found, alpha, readout, mask, epsilon)


@pytest.mark.parametrize("epsilon", [0.0, 0.01])
def test_many_classes_no_weight_goes_to_a_masked_item_where_no_item_alone_is_feasible(
    epsilon: float,
) -> None:
    """The prediction is uniform, as a masked item's zeros would give; no real item's is."""
    alpha = torch.tensor([[0.0, 0.2, 0.2, 0.2, 0.2, 0.2, 0.0]], dtype=torch.float64)
    readout = torch.zeros(1, 7, 3, dtype=torch.float64)
    readout[0, 1:6] = 10 * torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, -2], [0, 0, 0]])
    readout[0, 5] = -readout[0, 1:5].sum(0)
    mask = torch.tensor([[False, True, True, True, True, True, False]])
    found = furthest(alpha, readout, mask, epsilon=epsilon)
    assert_sound(found, alpha, readout, mask, epsilon)


@pytest.mark.parametrize("classes", [3, 4, 6])
def test_many_classes_linear_programs_stay_below_the_bound_and_do_not_beat_the_search(
    classes: int,
) -> None:
    alpha, readout, mask = made(30, 12, classes, seed=20 + classes, concentration=0.7)
    found = furthest(alpha, readout, mask)
    programs = np.array(
        [lp_search(alpha[i].numpy(), readout[i].numpy(), starts=3, seed=i) for i in range(30)]
    )
    assert (programs <= found.upper.numpy() + 1e-9).all()
    assert found.jsd.numpy().mean() >= programs.mean() - 0.01
    assert programs.mean() > 0.1, "the programs are too weak to show anything"


def test_many_classes_without_tolerance_the_same_odds_are_still_reached() -> None:
    alpha, readout, mask = made(12, 9, 3, seed=31)
    found = furthest(alpha, readout, mask, epsilon=0.0)
    programs = np.array(
        [lp_search(alpha[i].numpy(), readout[i].numpy(), starts=3, seed=i) for i in range(12)]
    )
    assert (programs <= found.upper.numpy() + 1e-9).all()
    assert found.jsd.numpy().mean() >= programs.mean() - 0.01
    assert_sound(found, alpha, readout, mask, 0.0)


@pytest.mark.parametrize("classes", [3, 4])
def test_many_classes_the_bound_is_at_most_the_least_of_the_slabs_and_the_half_space(
    classes: int,
) -> None:
    """Each rival's log-odds, and all rivals together by logsumexp(x) >= q·x + H(q)."""
    alpha, readout, mask = made(25, 7, classes, seed=70, scale=1.0)
    found = furthest(alpha, readout, mask, epsilon=0.03)
    binding = smaller = 0
    for at in range(25):
        a, r = alpha[at].numpy(), readout[at].numpy()
        p = probs(a, r)
        best = int(p.argmax())
        rivals = [c for c in range(classes) if c != best]
        slabs = []
        for c in rivals:
            low = math.log((p[best] - 0.03) / (p[c] + 0.03))
            high = math.log((p[best] + 0.03) / (p[c] - 0.03)) if p[c] > 0.03 else math.inf
            slabs.append(jsd(vertices(r[:, best] - r[:, c], low, high), a).max())
        q = p[rivals] / p[rivals].sum()
        rest = math.log((p[rivals].sum() + 0.03) / (p[best] - 0.03)) + (q * np.log(q)).sum()
        together = jsd(vertices(r[:, rivals] @ q - r[:, best], -math.inf, rest), a).max()
        binding += together < min(slabs)
        expected = max(min(*slabs, together), found.jsd[at].item())
        assert found.upper[at].item() <= expected + 1e-10
        smaller += found.upper[at].item() < expected - 0.01
    assert binding > 0
    assert smaller > 10


@pytest.mark.parametrize("epsilon", [0.02, 0.2])
def test_three_classes_no_point_of_a_dense_grid_is_above_the_bound(epsilon: float) -> None:
    alpha, readout, mask = made(12, 3, 3, seed=40, concentration=1.0, scale=1.0)
    found = furthest(alpha, readout, mask, epsilon=epsilon)
    grid, grids = simplex_grid(3, 300), []
    for at in range(len(alpha)):
        feasible = (
            tvd(probs(grid, readout[at].numpy()), probs(alpha[at].numpy(), readout[at].numpy()))
            <= epsilon
        )
        best = jsd(grid[feasible], alpha[at].numpy()).max(initial=0.0)
        assert best <= found.upper[at] + 1e-12
        grids.append(best)
    assert found.jsd.mean() >= np.mean(grids) - 0.01


def test_three_classes_no_random_attention_is_above_the_bound() -> None:
    alpha, readout, mask = made(10, 6, 3, seed=41)
    found = furthest(alpha, readout, mask, epsilon=0.1)
    random = np.random.default_rng(0).dirichlet(np.full(6, 0.25), size=100_000)
    met = 0
    for at in range(len(alpha)):
        feasible = (
            tvd(probs(random, readout[at].numpy()), probs(alpha[at].numpy(), readout[at].numpy()))
            <= 0.1
        )
        met += feasible.sum()
        assert jsd(random[feasible], alpha[at].numpy()).max(initial=0.0) <= found.upper[at] + 1e-12
    assert met > 1000


@pytest.mark.parametrize(
    ("classes", "items", "epsilon", "scale"),
    [
        (3, 8, 0.05, 1.0),
        (3, 10, 0.3, 6.0),
        (5, 10, 0.1, 0.5),
        (20, 12, 0.1, 1.0),
        (4, 10, 0.01, 40.0),
    ],
)
def test_many_classes_a_long_search_never_gets_above_the_bound(
    classes: int, items: int, epsilon: float, scale: float
) -> None:
    alpha, readout, mask = made(10, items, classes, seed=50, scale=scale)
    found = furthest(alpha, readout, mask, epsilon=epsilon)
    assert (adam_search(alpha, readout, epsilon) <= found.upper + 1e-9).all()
    assert_sound(found, alpha, readout, mask, epsilon)


@pytest.mark.parametrize("classes", [3, 4, 6])
def test_many_classes_never_nearer_than_the_furthest_feasible_item_alone(classes: int) -> None:
    alpha, readout, mask = made(150, 12, classes, seed=60, concentration=0.3, scale=0.3)
    found = furthest(alpha, readout, mask, epsilon=0.05)
    a, r = alpha.numpy(), readout.numpy()
    original = softmax((a[:, None] @ r)[:, 0], axis=-1)
    feasible = tvd(softmax(r, axis=-1), original[:, None]) <= 0.05
    alone = np.where(feasible, jsd(np.eye(12), a[:, None]), 0.0).max(-1)
    assert (alone > 0).sum() > 50
    np.testing.assert_array_less(alone, found.jsd.numpy() + 1e-9)


def test_a_class_that_is_no_candidate_bounds_nothing() -> None:
    alpha, readout, mask = made(8, 7, 4, seed=61)
    readout[..., 2] += 50
    classes = torch.tensor([True, True, False, True]).expand(8, 4)
    found = furthest(alpha, readout, mask, classes=classes)
    without = furthest(alpha, readout[..., [0, 1, 3]], mask)
    torch.testing.assert_close(found.upper, without.upper, rtol=0, atol=1e-9)
    torch.testing.assert_close(found.jsd, without.jsd, rtol=0, atol=0.01)
    assert (found.probs[:, 2] == 0).all()


# Errors


@pytest.mark.parametrize("epsilon", [-0.01, 1.01, math.nan])
def test_epsilon_out_of_range_is_rejected(epsilon: float) -> None:
    with pytest.raises(
        InputError, match=r"epsilon is a distance between probabilities, from 0 to 1, got"
    ):
        furthest(*made(1, 3, 2, seed=0), epsilon=epsilon)


@pytest.mark.parametrize("wrong", ["alpha", "readout", "readout without classes", "mask"])
def test_shapes_that_do_not_match_are_named(wrong: str) -> None:
    alpha, readout, mask = made(2, 3, 2, seed=0)
    if wrong == "alpha":
        alpha = alpha[:, None]
    elif wrong == "readout":
        readout = readout[:, :2]
    elif wrong == "readout without classes":
        readout = readout[..., 0]
    else:
        mask = mask[:1]
    with pytest.raises(
        InputError, match=r"Expected alpha \(B,N\), readout \(B,N,C\) and mask \(B,N\), got"
    ):
        furthest(alpha, readout, mask)


def test_classes_of_another_shape_are_rejected() -> None:
    with pytest.raises(InputError, match=r"Expected classes \(B,C\) = \(2, 2\), got \(2, 3\)"):
        furthest(*made(2, 3, 2, seed=0), classes=torch.ones(2, 3, dtype=torch.bool))


@pytest.mark.parametrize("name", ["alpha", "readout"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_numbers_that_are_not_finite_are_rejected(name: str, value: float) -> None:
    alpha, readout, mask = made(2, 3, 2, seed=0)
    (alpha if name == "alpha" else readout)[1, 2] = value
    with pytest.raises(InputError, match=f"{name} has NaN or infinite values inside the mask"):
        furthest(alpha, readout, mask)


def test_weights_that_do_not_sum_to_one_are_rejected() -> None:
    alpha, readout, mask = made(3, 4, 2, seed=0)
    alpha[2] *= 1.5
    with pytest.raises(InputError, match=r"sum to 1 within the mask, but row 2 sums to 1\.5"):
        furthest(alpha, readout, mask)


def test_negative_weights_are_rejected() -> None:
    with pytest.raises(InputError, match="alpha must be non-negative"):
        two_class([1.2, -0.2], [0.0, 1.0])
