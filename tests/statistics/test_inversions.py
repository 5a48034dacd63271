"""Pairs counted by two sorts, against comparisons of every pair and the weighted merge sort."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from attnaudit.statistics import kendall
from attnaudit.statistics.inversions import counted_pairs, inversions
from attnaudit.statistics.pairs import compared_pairs, dense_ranks, pairs_of


@pytest.mark.parametrize("items", [1, 2, 3, 8, 33, 100])
def test_inversions_are_those_of_a_double_loop(items: int) -> None:
    draw = torch.Generator().manual_seed(items)
    listed = torch.rand(6, items, generator=draw).argsort(-1)
    expected = [
        sum(row[i] > row[j] for i in range(items) for j in range(i + 1, items))
        for row in listed.tolist()
    ]
    assert inversions(listed).tolist() == expected


def scores(kind: str, items: int) -> tuple[Tensor, Tensor, Tensor]:
    draw = torch.Generator().manual_seed(items)
    x, y = (torch.randn(12, items, generator=draw) for _ in range(2))
    mask = torch.rand(12, items, generator=draw) < (1.0 if kind == "plain" else 0.7)
    if kind == "tied":
        x, y = (2 * x).round(), y.round()
    if kind == "infinite":  # real scores that equal what stands in for masked ones
        x[:, ::5], y[:, ::3] = torch.inf, torch.inf
    return x, y, mask


@pytest.mark.parametrize("kind", ["plain", "masked", "tied", "infinite"])
@pytest.mark.parametrize("items", [41, 130])
def test_counts_are_those_of_every_pair_and_of_weights_of_one(kind: str, items: int) -> None:
    x, y, mask = scores(kind, items)
    counted, x_ties, y_ties = counted_pairs(x, y, mask)
    compared, x_compared, y_compared = compared_pairs(x, y, mask)
    real = mask.double()
    weighted = pairs_of(dense_ranks(x, mask), dense_ranks(y, mask), real, real)
    for one, every, merged in zip(counted, compared, weighted, strict=True):
        assert torch.equal(one, every)
        assert torch.equal(one, merged)
    assert (counted.discordant > 0).all()
    for ties, expected in ((x_ties, x_compared), (y_ties, y_compared)):
        torch.testing.assert_close(ties.total(lambda t: t - 2), expected.total(lambda t: t - 2))


def test_no_text_has_no_tau() -> None:
    none = torch.zeros(0, 50)
    tau, p = kendall(none, none, none.bool())
    assert tau.shape == p.shape == (0,)
