"""Pairs counted by sorting, against comparisons of every pair and the weighted merge sort."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from attnaudit.statistics import kendall
from attnaudit.statistics.pair_counts import counted_pairs
from attnaudit.statistics.pairs import dense_ranks, pairs_of
from score_cases import scipy_kendall

KINDS = ("plain", "masked", "padded", "tied", "few", "infinite", "zeros")


def scores(kind: str, items: int) -> tuple[Tensor, Tensor, Tensor]:
    draw = torch.Generator().manual_seed(items)
    x, y = (torch.randn(12, items, generator=draw) for _ in range(2))
    mask = torch.rand(12, items, generator=draw) < (1.0 if kind == "plain" else 0.7)
    if kind == "padded":  # next to a text without padding, padding has the rank N + 1
        mask[0] = True
    if kind == "tied":
        x, y = (4 * x).round(), (3 * y).round()
    if kind == "few":  # so that a table of the distinct scores is used
        x, y = x.sign(), y.round().clamp(-2, 2)
    if kind == "infinite":  # real scores that are not below masked ones
        x[:, ::5], y[:, ::3], y[:, 1::3] = torch.inf, torch.inf, -torch.inf
    if kind == "zeros":  # of both signs, which are equal
        x = torch.where(x > 0, 0.0, -0.0) + x.clamp_min(1) - 1
    return x, y, mask


def compared(x: np.ndarray, y: np.ndarray) -> dict[str, int]:
    """By comparing every pair of one text."""
    above = np.triu(np.ones((len(x), len(x)), bool), 1)
    x_order, y_order = (np.sign((a[:, None] > a) * 1 - (a[:, None] < a) * 1) for a in (x, y))
    return {
        "every": int(above.sum()),
        "untied_x": int((above & (x_order != 0)).sum()),
        "untied_y": int((above & (y_order != 0)).sum()),
        "untied": int((above & ((x_order != 0) | (y_order != 0))).sum()),
        "discordant": int((above & (x_order * y_order < 0)).sum()),
        "difference": int((above * x_order * y_order).sum()),
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("items", [1, 2, 3, 7, 20, 31, 32, 41, 63, 130])
def test_counts_are_those_of_every_pair(kind: str, items: int) -> None:
    x, y, mask = scores(kind, items)
    counted = counted_pairs(x.double().numpy(), y.double().numpy(), mask.numpy())
    for index, (a, b, real) in enumerate(zip(x.numpy(), y.numpy(), mask.numpy(), strict=True)):
        for name, expected in compared(a[real], b[real]).items():
            assert getattr(counted, name)[index] == expected, (name, index)
    if items > 2:
        assert counted.discordant.sum() > 0


@pytest.mark.parametrize("kind", KINDS)
def test_counts_are_those_of_weights_of_one(kind: str) -> None:
    x, y, mask = scores(kind, 130)
    counted = counted_pairs(x.double().numpy(), y.double().numpy(), mask.numpy())
    real = mask.double()
    weighted = pairs_of(dense_ranks(x, mask), dense_ranks(y, mask), real, real)
    for name in ("untied_x", "untied_y", "untied", "discordant"):
        assert getattr(counted, name).tolist() == getattr(weighted, name).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_ties_are_the_groups_of_equal_scores(kind: str) -> None:
    x, y, mask = scores(kind, 41)
    counted = counted_pairs(x.double().numpy(), y.double().numpy(), mask.numpy())
    for ties, score in ((counted.x_ties, x), (counted.y_ties, y)):
        rows = zip(score, mask, strict=True)
        sizes = [row[real].unique(return_counts=True)[1] for row, real in rows]
        expected = [float((size * (size - 1) * (size - 2)).sum()) for size in sizes]
        assert ties.total(lambda t: t - 2).tolist() == expected


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("items", [28, 90])
def test_tau_and_p_are_those_of_scipy(kind: str, items: int) -> None:
    x, y, mask = scores(kind, items)
    y[5, :] = torch.where(mask[5], torch.nan, y[5])
    y[7] = 3.0
    got = torch.stack(kendall(x, y, mask), -1).numpy()
    rows = zip(x.double().numpy(), y.double().numpy(), mask.numpy(), strict=True)
    expected = [scipy_kendall(a[real], b[real]) for a, b, real in rows]
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-15)
    assert np.isnan(got[[5, 7]]).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int64])
def test_scores_of_other_types(dtype: torch.dtype) -> None:
    x, y = torch.tensor([[3, 1, 2, 2]], dtype=dtype), torch.tensor([[1, 5, 4, 2]], dtype=dtype)
    mask = torch.ones(1, 4, dtype=torch.bool)
    assert torch.equal(kendall(x, y, mask)[0], kendall(x.double(), y.double(), mask)[0])


def test_no_text_has_no_tau() -> None:
    none = torch.zeros(0, 50)
    tau, p = kendall(none, none, none.bool())
    assert tau.shape == p.shape == (0,)


def test_a_text_without_items_has_no_tau() -> None:
    none = torch.zeros(3, 0)
    assert kendall(none, none, none.bool())[0].isnan().all()
