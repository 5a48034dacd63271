"""Masked operations equal the same operations on the real items alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from attnaudit.core import masking

GARBAGE = (math.nan, math.inf, -math.inf, 1e30)


def masked(seed: int, *shape: int) -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(seed)
    values = torch.randn(*shape, generator=draw, dtype=torch.float64)
    mask = torch.rand(*shape, generator=draw) < 0.6
    mask[..., 0] = True
    return values, mask


@pytest.mark.parametrize("garbage", GARBAGE)
def test_softmax_is_that_of_the_real_items_and_0_elsewhere(garbage: float) -> None:
    scores, mask = masked(0, 6, 9)
    alpha = masking.softmax(scores.masked_fill(~mask, garbage), mask)
    for row, real, out in zip(scores.numpy(), mask.numpy(), alpha.numpy(), strict=True):
        np.testing.assert_allclose(out[real], softmax(row[real]), rtol=1e-14)
        assert (out[~real] == 0).all()


def test_softmax_of_an_empty_row_is_0_and_so_is_its_gradient() -> None:
    scores = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    alpha = masking.softmax(scores, torch.tensor([[False, False], [True, True]]))
    assert alpha[0].tolist() == [0.0, 0.0]
    (alpha * torch.tensor([1.0, -1.0])).sum().backward()
    assert scores.grad is not None
    assert scores.grad[0].tolist() == [0.0, 0.0]
    assert (scores.grad[1] != 0).all()


@pytest.mark.parametrize("garbage", GARBAGE)
def test_garbage_outside_the_mask_does_not_reach_the_gradient(garbage: float) -> None:
    scores, mask = masked(1, 3, 5)
    dirty = scores.masked_fill(~mask, garbage).requires_grad_()
    (masking.softmax(dirty, mask) * torch.arange(5.0)).sum().backward()
    assert dirty.grad is not None
    assert dirty.grad.isfinite().all()
    assert (dirty.grad[~mask] == 0).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_large_scores_do_not_overflow(dtype: torch.dtype) -> None:
    scores = torch.tensor([[1e4, -1e4, 1e4]], dtype=dtype)
    alpha = masking.softmax(scores, torch.tensor([[True, True, False]]))
    assert alpha.tolist() == [[1.0, 0.0, 0.0]]
    assert alpha.dtype == dtype


def test_probabilities_are_over_the_candidates_for_any_number_of_dimensions_between() -> None:
    logits = masked(2, 4, 3, 2, 5)[0]
    classes = masked(3, 4, 5)[1]
    p = masking.probabilities(logits, classes).numpy()
    for at in range(4):
        real = classes[at].numpy()
        np.testing.assert_allclose(
            p[at][..., real], softmax(logits[at].numpy()[..., real], axis=-1), rtol=1e-12
        )
        assert (p[at][..., ~real] == 0).all()


def test_without_candidates_every_class_counts() -> None:
    logits = masked(4, 4, 5)[0]
    np.testing.assert_allclose(
        masking.probabilities(logits, None).numpy(), softmax(logits.numpy(), axis=-1), rtol=1e-12
    )
    assert torch.equal(masking.argmax(logits, None), torch.from_numpy(logits.numpy().argmax(-1)))


@pytest.mark.parametrize("garbage", GARBAGE)
def test_argmax_looks_at_real_values_only(garbage: float) -> None:
    values, mask = masked(5, 40, 6)
    picked = masking.argmax(values.masked_fill(~mask, garbage), mask)
    expected = [
        max(np.flatnonzero(m), key=lambda i: v[i])
        for v, m in zip(values.tolist(), mask, strict=True)
    ]
    assert picked.tolist() == expected


def test_argmax_takes_candidates_with_a_dimension_between() -> None:
    values, classes = masked(6, 5, 3, 4)[0], masked(7, 5, 4)[1]
    picked = masking.argmax(values, classes)
    assert picked.shape == (5, 3)
    for at in range(5):
        for k in range(3):
            real = np.flatnonzero(classes[at].numpy())
            assert picked[at, k] == real[values[at, k].numpy()[real].argmax()]


@pytest.mark.parametrize("garbage", GARBAGE)
def test_total_and_mean_are_over_real_values(garbage: float) -> None:
    values, mask = masked(8, 6, 7)
    dirty = values.masked_fill(~mask, garbage)
    real = [v[m] for v, m in zip(values.numpy(), mask.numpy(), strict=True)]
    np.testing.assert_allclose(
        masking.total(dirty, mask).numpy(), [each.sum() for each in real], atol=1e-14
    )
    np.testing.assert_allclose(
        masking.mean(dirty, mask).numpy(), [each.mean() for each in real], atol=1e-14
    )


def test_the_mean_of_nothing_is_nan_and_the_total_0() -> None:
    empty = torch.zeros(1, 3, dtype=torch.bool)
    assert masking.mean(torch.ones(1, 3), empty).isnan().all()
    assert masking.total(torch.ones(1, 3), empty).tolist() == [0.0]


def test_renormalised_weights_keep_their_proportions_and_sum_to_1() -> None:
    weights = torch.tensor([[0.2, 0.3, 0.5], [0.0, 0.7, 0.3], [0.0, 0.5, 0.5]], dtype=torch.float64)
    mask = torch.tensor([[True, True, False], [True, True, True], [True, False, False]])
    out = masking.renormalise(weights, mask)
    np.testing.assert_allclose(out[:2].numpy(), [[0.4, 0.6, 0.0], [0.0, 0.7, 0.3]], rtol=1e-14)
    assert out[2].isnan().any(), "no weight is left, so there is nothing to scale"


def test_uniform_spreads_over_the_mask_and_leaves_an_empty_row_0() -> None:
    mask = torch.tensor([[True, False, True, True], [False] * 4])
    assert masking.uniform(mask, torch.float64).tolist() == [[1 / 3, 0.0, 1 / 3, 1 / 3], [0.0] * 4]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.data(), st.integers(1, 8))
def test_descending_sorts_by_score_then_key_with_the_masked_last(
    data: st.DataObject, items: int
) -> None:
    score = st.sampled_from([-math.inf, -1.0, 0.0, 2.0, math.inf])
    scores = data.draw(st.lists(score, min_size=items, max_size=items))
    mask = data.draw(st.lists(st.booleans(), min_size=items, max_size=items))
    keys = data.draw(st.permutations(range(items)))
    order = masking.descending(
        torch.tensor([scores]), torch.tensor([mask]), torch.tensor([keys]).float()
    )[0].tolist()
    real = sorted((i for i in range(items) if mask[i]), key=lambda i: (-scores[i], keys[i]))
    assert order[: len(real)] == real
    assert sorted(order) == list(range(items))


def test_equal_scores_are_not_ordered_by_position() -> None:
    order = masking.descending(
        torch.zeros(1, 3), torch.ones(1, 3, dtype=torch.bool), torch.tensor([[0.9, 0.1, 0.5]])
    )
    assert order.tolist() == [[1, 2, 0]]


def test_token_values_are_summed_into_their_items() -> None:
    per_token = torch.tensor([[1.0, 2.0, 4.0, 8.0], [1.0, 2.0, 4.0, 8.0]])
    item_of_token = torch.tensor([[-1, 0, 2, 0], [1, 1, 1, -1]])
    assert masking.to_items(per_token, item_of_token, 3).tolist() == [
        [10.0, 0.0, 4.0],
        [0.0, 7.0, 0.0],
    ]


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 33])
@pytest.mark.parametrize("some", [False, True])
def test_many_probabilities_are_those_one_by_one(count: int, some: bool) -> None:
    logits = 5 * torch.randn(6, count, 4, generator=torch.Generator().manual_seed(count))
    classes = torch.tensor([True, False, True, True]).expand(6, 4) if some else None
    probs = masking.many_probabilities(logits, classes)
    expected = masking.probabilities(logits.double(), classes)
    torch.testing.assert_close(probs, expected, rtol=1e-14, atol=1e-15)
    if some:
        assert (probs[..., 1] == 0).all()


def test_a_score_that_is_not_known_comes_before_masked_items() -> None:
    scores = torch.tensor([[1.0, torch.nan, 2.0, 0.0]])
    mask = torch.tensor([[True, True, True, False]])
    order = masking.descending(scores, mask, torch.tensor([[0.4, 0.1, 0.3, 0.2]]))
    assert order.tolist() == [[1, 2, 0, 3]]
