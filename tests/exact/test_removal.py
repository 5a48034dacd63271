"""Removal curves against a plain loop; the smallest flip against every subset, exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from attnaudit.core.errors import InputError
from attnaudit.exact import removal_curve, smallest_flip
from attnaudit.exact.inputs import prepare
from attnaudit.exact.removal import fewest_to_flip, first_flip

# Weights are multiples of 1/64 and readouts integers: sums are exact, ties are ties.
UNIT = 64


def looped_curve(
    alpha: np.ndarray, readout: np.ndarray, length: int, order: np.ndarray
) -> np.ndarray:
    curve = np.full(readout.shape, np.nan)
    for removed in range(length):
        left = [int(i) for i in order[removed:length]]
        weight = math.fsum(alpha[i] for i in left)
        if weight > 0:
            curve[removed] = sum(alpha[i] / weight * readout[i] for i in left)
    return curve


def dyadic(
    examples: int, items: int, classes: int, *, seed: int, spread: float = 0.4
) -> tuple[Tensor, Tensor, Tensor]:
    draw = np.random.default_rng(seed)
    shares = draw.dirichlet(np.full(items, spread), size=examples)
    alpha = np.stack([draw.multinomial(UNIT, p) for p in shares]) / UNIT
    readout = draw.integers(-3, 4, size=(examples, items, classes)).astype(float)
    return torch.tensor(alpha), torch.tensor(readout), torch.ones(examples, items, dtype=torch.bool)


def flips(
    weight: np.ndarray, readout: np.ndarray, candidates: list[int], kept: np.ndarray, predicted: int
) -> np.ndarray:
    """For every row of kept (S,N): is a candidate strictly above the predicted class?

    weight and readout are integers.
    """
    sums = kept.astype(np.int64) @ (weight[:, None] * readout)
    return (sums[:, candidates] > sums[:, [predicted]]).any(-1)


def smallest_by_subsets(weight: np.ndarray, readout: np.ndarray, candidates: list[int]) -> float:
    """weight and readout in whole numbers; inf where no subset flips the decision."""
    total = weight @ readout
    predicted = max(candidates, key=lambda c: (total[c], -c))
    items = len(weight)
    kept = (np.arange(2**items)[:, None] >> np.arange(items)) & 1
    flipped = flips(weight, readout, candidates, kept, predicted)
    return (
        float((items - kept.sum(-1))[flipped].min(initial=items + 1)) if flipped.any() else math.inf
    )


def whole(alpha: Tensor, readout: Tensor) -> tuple[np.ndarray, np.ndarray]:
    return (alpha * UNIT).numpy().astype(np.int64), readout.numpy().astype(np.int64)


# Removal curves


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_every_prefix_equals_a_plain_loop(classes: int) -> None:
    draw = np.random.default_rng(classes)
    alpha = draw.dirichlet(np.full(9, 0.3), size=20)
    readout = draw.normal(size=(20, 9, classes))
    length = draw.integers(1, 10, size=20)
    mask = np.arange(9) < length[:, None]
    alpha = np.where(mask, alpha, 0)
    alpha /= alpha.sum(-1, keepdims=True)
    order = np.stack(
        [np.r_[draw.permutation(n), draw.permutation(np.arange(n, 9))] for n in length]
    )
    curve = removal_curve(*(torch.tensor(each) for each in (alpha, readout, mask, order)))
    expected = np.stack(
        [looped_curve(*each) for each in zip(alpha, readout, length, order, strict=True)]
    )
    np.testing.assert_allclose(curve.numpy(), expected, rtol=1e-12, atol=1e-12)
    assert np.isnan(expected).any()


def test_zero_weights_that_are_left_alone_have_no_output() -> None:
    alpha, readout, mask = dyadic(40, 8, 3, seed=0)
    order = torch.stack(
        [torch.randperm(8, generator=torch.Generator().manual_seed(i)) for i in range(40)]
    )
    curve = removal_curve(alpha, readout, mask, order)
    expected = np.stack(
        [
            looped_curve(a, r, 8, o)
            for a, r, o in zip(alpha.numpy(), readout.numpy(), order.numpy(), strict=True)
        ]
    )
    assert np.isnan(expected).any()
    np.testing.assert_allclose(curve.numpy(), expected, rtol=1e-12, atol=1e-12)


def test_a_tiny_weight_that_is_left_alone_counts_in_full() -> None:
    alpha = torch.tensor([[1.0, 1e-30, 1e-200]], dtype=torch.float64)
    readout = torch.tensor([[[1.0, 0.0], [2.0, 5.0], [-3.0, 7.0]]], dtype=torch.float64)
    curve = removal_curve(
        alpha, readout, torch.ones(1, 3, dtype=torch.bool), torch.tensor([[0, 1, 2]])
    )
    np.testing.assert_allclose(curve[0].numpy(), [[1, 0], [2, 5], [-3, 7]], rtol=1e-12, atol=1e-12)


def test_masked_items_in_between_are_never_used() -> None:
    alpha = torch.tensor([[0.5, math.nan, 0.25, 0.25]], dtype=torch.float64)
    readout = torch.tensor(
        [[[4.0, 0.0], [math.inf, 0.0], [0.0, 8.0], [0.0, 0.0]]], dtype=torch.float64
    )
    mask = torch.tensor([[True, False, True, True]])
    curve = removal_curve(alpha, readout, mask, torch.tensor([[2, 0, 3, 1]]))
    assert curve[0, :3].tolist() == [[2.0, 2.0], [8 / 3, 0.0], [0.0, 0.0]]
    assert curve[0, 3].isnan().all()


def test_a_curve_keeps_the_dtype_of_alpha() -> None:
    alpha, readout, mask = dyadic(2, 3, 2, seed=1)
    assert (
        removal_curve(alpha.float(), readout.float(), mask, torch.arange(3).expand(2, 3)).dtype
        == torch.float32
    )


@pytest.mark.parametrize(
    ("order", "text"),
    [
        ([[0, 1, 2]], r"Expected order \(1, 4\) like mask, got \(1, 3\)"),
        ([[0, 1, 1, 3]], "every item of each example exactly once"),
        ([[0, 3, 1, 2]], "the real items first; see masking.descending"),
    ],
)
def test_an_order_that_cannot_be_followed_is_rejected(order: list[list[int]], text: str) -> None:
    alpha, readout, mask = dyadic(1, 4, 2, seed=2)
    alpha, mask = torch.tensor([[0.5, 0.25, 0.25, 0.0]]).double(), mask.clone()
    mask[0, 3] = False
    with pytest.raises(InputError, match=text):
        removal_curve(alpha, readout, mask, torch.tensor(order))


@pytest.mark.parametrize("classes", [2, 4])
def test_the_first_flip_is_that_of_a_loop_over_prefixes(classes: int) -> None:
    """Whatever the class said to be predicted, and however many items may be removed."""
    alpha, readout, mask = dyadic(50, 7, classes, seed=20 + classes)
    draw = np.random.default_rng(classes)
    order = np.stack([[draw.permutation(7) for _ in range(3)] for _ in range(50)])
    predicted, most = draw.integers(0, classes, 50), draw.integers(0, 8, 50)
    margin = 0.25
    given = prepare(alpha, readout, mask)
    tensors = (torch.tensor(each) for each in (order, predicted, most))
    found = first_flip(given, *tensors, margin)
    expected = np.full((50, 3), math.inf)
    for at, ranking in np.ndindex(50, 3):
        for removed in range(min(int(most[at]), 6), 0, -1):
            left = order[at, ranking, removed:]
            weight = alpha[at].numpy()[left]
            if weight.sum() > 0:
                logits = weight @ readout[at].numpy()[left] / weight.sum()
                own = logits[predicted[at]]
                if logits.max() - own > margin * (1 + abs(own)):
                    expected[at, ranking] = removed
    np.testing.assert_array_equal(found.numpy(), expected)
    assert len(set(expected.flatten())) > 4


# The smallest flip


@pytest.mark.parametrize("classes", [2, 3, 4, 5])
@pytest.mark.parametrize(
    ("items", "examples"), [(1, 10), (2, 30), (5, 60), (8, 40), (10, 30), (12, 4)]
)
def test_the_size_is_the_least_over_all_subsets(items: int, examples: int, classes: int) -> None:
    alpha, readout, mask = dyadic(examples, items, classes, seed=items * classes)
    found = smallest_flip(alpha, readout, mask)
    weight, votes = whole(alpha, readout)
    expected = np.array(
        [
            smallest_by_subsets(w, r, list(range(classes)))
            for w, r in zip(weight, votes, strict=True)
        ]
    )
    np.testing.assert_array_equal(np.where(found.possible, found.size, math.inf), expected)
    assert torch.equal(found.possible, found.size.isfinite())
    assert not found.items[~found.possible].any()


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_the_items_really_flip_the_decision_and_are_as_many_as_said(classes: int) -> None:
    alpha, readout, mask = dyadic(80, 9, classes, seed=classes)
    found = smallest_flip(alpha, readout, mask)
    assert found.possible.sum() > 20
    for at in found.possible.nonzero()[:, 0].tolist():
        weight, votes = whole(alpha[at], readout[at])
        predicted = int(np.argmax(weight @ votes))
        kept = ~found.items[at].numpy()[None]
        assert flips(weight, votes, list(range(classes)), kept, predicted).all()
        assert found.items[at].sum() == found.size[at]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_only_a_candidate_can_take_over(count: int) -> None:
    alpha, readout, mask = dyadic(60, 7, 5, seed=count)
    draw = np.random.default_rng(count)
    candidates = [sorted(draw.choice(5, size=count, replace=False).tolist()) for _ in range(60)]
    classes = torch.zeros(60, 5, dtype=torch.bool)
    for at, each in enumerate(candidates):
        classes[at, each] = True
    found = smallest_flip(alpha, readout, mask, classes=classes)
    weight, votes = whole(alpha, readout)
    expected = [
        smallest_by_subsets(w, r, c) for w, r, c in zip(weight, votes, candidates, strict=True)
    ]
    np.testing.assert_array_equal(np.where(found.possible, found.size, math.inf), expected)


@pytest.mark.parametrize("classes", [1, 2, 5])
def test_the_fewest_items_alone_are_those_of_the_smallest_set(classes: int) -> None:
    alpha, readout, mask = dyadic(60, 8, classes, seed=classes)
    free = torch.arange(8) != torch.arange(60)[:, None] % 9
    candidates = torch.arange(classes) != torch.arange(60)[:, None] % classes
    candidates[~candidates.any(-1)] = True
    for some in (candidates, None):
        found = smallest_flip(alpha, readout, mask, removable=free, classes=some)
        fewest = fewest_to_flip(prepare(alpha, readout, mask, some), mask & free)
        assert torch.equal(fewest, found.size.nan_to_num(nan=torch.inf))
    assert found.possible.any() == (classes > 1)


def test_a_tie_is_no_flip() -> None:
    alpha = torch.tensor([[0.5, 0.25, 0.25]]).double()
    readout = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]]).double()
    found = smallest_flip(alpha, readout, torch.ones(1, 3, dtype=torch.bool))
    # Without item 0 the classes draw; without items 0 and 2 class 1 leads.
    assert found.size.tolist() == [2.0]
    assert found.items.tolist() == [[True, False, True]]


def test_no_output_is_no_flip() -> None:
    """Only items of weight 0 speak for the other class."""
    alpha = torch.tensor([[0.5, 0.5, 0.0]]).double()
    readout = torch.tensor([[[1.0, 0.0], [1.0, 0.0], [0.0, 9.0]]]).double()
    found = smallest_flip(alpha, readout, torch.ones(1, 3, dtype=torch.bool))
    assert found.possible.tolist() == [False]
    assert found.size.isnan().all()


@pytest.mark.parametrize("tiny", [1e-3, 1e-9, 1e-13, 1e-30, 1e-200])
def test_a_tiny_weight_can_take_over_once_everything_else_is_gone(tiny: float) -> None:
    """What is left is renormalised, so the last item decides however little it was attended."""
    alpha = torch.tensor([[1 - tiny, tiny]], dtype=torch.float64)
    readout = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]]).double()
    found = smallest_flip(alpha, readout, torch.ones(1, 2, dtype=torch.bool))
    assert found.possible.tolist() == [True]
    assert found.size.tolist() == [1.0]
    assert found.items.tolist() == [[True, False]]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(st.integers(0, 40), st.integers(-4, 4)),
        min_size=1,
        max_size=9,
        unique_by=lambda item: item[0],
    )
)
def test_weights_many_orders_of_magnitude_apart(items: list[tuple[int, int]]) -> None:
    """Weights 32^-k, as a sharp softmax gives them; all subsets, in fractions."""
    weight = [Fraction(1, 32**power) for power, _ in items]
    votes = [vote for _, vote in items]
    total = sum(w * v for w, v in zip(weight, votes, strict=True))
    predicted = 0 if total >= 0 else 1
    sign = 1 if predicted == 0 else -1
    expected = math.inf
    for size in range(len(items)):
        if any(
            sign * sum(weight[i] * votes[i] for i in range(len(items)) if i not in removed) < 0
            for removed in combinations(range(len(items)), size)
        ):
            expected = size
            break
    alpha = torch.tensor([[float(w / sum(weight)) for w in weight]], dtype=torch.float64)
    readout = torch.tensor([[[float(v), 0.0] for v in votes]], dtype=torch.float64)
    found = smallest_flip(alpha, readout, torch.ones(1, len(items), dtype=torch.bool))
    assert (found.size.item() if found.possible.item() else math.inf) == expected


@pytest.mark.parametrize("parts", [10, 30])
def test_a_tie_that_rounding_blurs_is_still_no_flip(parts: int) -> None:
    """Tenths and thirtieths are not exact in binary: a sum of 0 comes out slightly off."""
    draw = np.random.default_rng(parts)
    weight = np.stack([draw.multinomial(parts, np.full(6, 1 / 6)) for _ in range(300)])
    votes = draw.integers(-2, 3, size=(300, 6, 2))
    clear = (
        np.ptp((weight[:, None] @ votes)[:, 0], axis=-1) > 0
    )  # else rounding chooses the prediction
    weight, votes = weight[clear], votes[clear]
    found = smallest_flip(
        torch.tensor(weight / parts),
        torch.tensor(votes).double(),
        torch.ones(len(weight), 6, dtype=torch.bool),
    )
    expected = [smallest_by_subsets(w, r, [0, 1]) for w, r in zip(weight, votes, strict=True)]
    np.testing.assert_array_equal(np.where(found.possible, found.size, math.inf), expected)


def test_no_ranking_flips_with_fewer() -> None:
    alpha, readout, mask = dyadic(60, 9, 3, seed=9)
    found = smallest_flip(alpha, readout, mask)
    draw = np.random.default_rng(9)
    reached = 0
    for at in range(60):
        weight, votes = whole(alpha[at], readout[at])
        predicted = int(np.argmax(weight @ votes))
        for order in [
            np.argsort(-weight, kind="stable"),
            *(draw.permutation(9) for _ in range(10)),
        ]:
            kept = np.array([[item in order[k:] for item in range(9)] for k in range(9)])
            prefix = np.flatnonzero(flips(weight, votes, [0, 1, 2], kept, predicted))
            if len(prefix):
                assert found.size[at] <= prefix[0]
                reached += 1
    assert reached > 50


def test_masked_items_are_never_among_those_removed() -> None:
    alpha, readout, mask = dyadic(30, 6, 3, seed=11)
    wide = torch.nn.functional.pad
    short = smallest_flip(alpha, readout, mask)
    padded = smallest_flip(
        wide(alpha, (2, 3), value=math.nan),
        wide(readout, (0, 0, 2, 3), value=math.inf),
        wide(mask, (2, 3)),
    )
    torch.testing.assert_close(padded.size, short.size, equal_nan=True)
    assert torch.equal(padded.items[:, 2:8], short.items)
    assert not padded.items[:, :2].any()
    assert not padded.items[:, 8:].any()


def test_an_empty_mask_cannot_flip() -> None:
    alpha, readout, mask = dyadic(2, 4, 2, seed=12)
    mask[0] = False
    found = smallest_flip(alpha, readout, mask)
    assert not found.possible[0]
    assert found.size[0].isnan()


def test_one_by_one_equals_batched() -> None:
    alpha, readout, mask = dyadic(20, 7, 4, seed=13)
    together = smallest_flip(alpha, readout, mask)
    for at in range(20):
        alone = smallest_flip(alpha[at : at + 1], readout[at : at + 1], mask[at : at + 1])
        torch.testing.assert_close(alone.size[0], together.size[at], equal_nan=True)
        assert torch.equal(alone.items[0], together.items[at])


def test_items_that_are_not_removable_stay() -> None:
    draw = torch.Generator().manual_seed(3)
    alpha = torch.rand(40, 6, generator=draw, dtype=torch.float64)
    alpha = alpha / alpha.sum(-1, keepdim=True)
    readout = torch.randn(40, 6, 2, generator=draw, dtype=torch.float64)
    mask, free = torch.ones(40, 6, dtype=torch.bool), torch.rand(40, 6, generator=draw) > 0.4
    found = smallest_flip(alpha, readout, mask, removable=free)
    own = (alpha[..., None] * readout).sum(1).argmax(-1)
    for index in range(40):
        best = math.inf
        for chosen in range(1, 64):
            gone = torch.tensor([bool(chosen >> item & 1) for item in range(6)])
            if (gone & ~free[index]).any() or gone.all():
                continue
            logits = (alpha[index, ~gone, None] * readout[index, ~gone]).sum(0)
            if logits.argmax() != own[index]:
                best = min(best, int(gone.sum()))
        assert bool(found.possible[index]) == (best < math.inf)
        if best < math.inf:
            assert int(found.size[index]) == best
            assert not (found.items[index] & ~free[index]).any()
