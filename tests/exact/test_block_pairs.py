"""Pairs of items in blocks, for long texts: the answer is that of trying every pair."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from attnaudit.exact import block_pairs, furthest, slab
from attnaudit.exact.block_pairs import furthest_pair

Problem = tuple[Tensor, Tensor]  # alpha, distance


def problem(kind: str, items: int, seed: int) -> Problem:
    draw = np.random.default_rng(seed)
    concentration = {"peaked": 0.02, "repeated": 0.3}.get(kind, 5.0)
    alpha = draw.dirichlet(np.full(items, concentration))
    distance = draw.normal(size=items) + (2.5 if kind == "one-sided" else 0.3)
    if kind == "repeated":  # few words, many times
        word = draw.integers(0, min(12, items), size=items)
        alpha, distance = alpha[word] / alpha[word].sum(), distance[word]
    distance[0], distance[-1] = -abs(distance[0]), abs(distance[-1])  # one on either side
    return torch.tensor(alpha), torch.tensor(distance)


def every_pair(alpha: Tensor, distance: Tensor) -> float:
    """The largest JSD, by its definition, of the mixtures that lie on the bound."""
    a, d = alpha.numpy(), distance.numpy()
    i, j = (side.nonzero()[0] for side in (d < 0, d > 0))
    w = d[j] / (d[j] - d[i][:, None])
    mine, across = a[i][:, None], a[j][None]

    def entropy_term(p: np.ndarray) -> np.ndarray:
        return np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0)), 0.0)

    def one(p: np.ndarray, q: np.ndarray) -> np.ndarray:
        return 0.5 * (entropy_term(p) + entropy_term(q)) - entropy_term((p + q) / 2)

    rest = (1 - mine - across) * math.log(2) / 2  # items without weight
    return float((one(w, mine) + one(1 - w, across) + rest).max())


KINDS = ["even", "peaked", "one-sided", "repeated"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("items", [2, 31, 33, 400, 1500])
def test_the_furthest_pair_is_that_of_all_pairs(kind: str, items: int) -> None:
    for seed in range(4):
        alpha, distance = problem(kind, items, seed)
        below, above = distance < 0, distance > 0
        found = furthest_pair(alpha, distance, below, above, -1.0, torch.inf)
        assert found is not None
        assert float(found.jsd) == pytest.approx(every_pair(alpha, distance), abs=1e-13)
        on_bound = (
            found.weight * distance[found.first] + (1 - found.weight) * distance[found.second]
        )
        assert float(on_bound) == pytest.approx(0, abs=1e-12)
        # Nothing is further than it, and it is further than anything less.
        assert furthest_pair(alpha, distance, below, above, float(found.jsd), torch.inf) is None
        less = float(found.jsd) - 1e-9
        again = furthest_pair(alpha, distance, below, above, less, torch.inf)
        assert again is not None
        assert again.jsd == found.jsd


def test_most_pairs_are_never_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = 0
    whole = block_pairs._furthest

    def counted(alpha: Tensor, distance: Tensor, under: Tensor, over: Tensor) -> object:
        nonlocal tried
        tried += len(under) * under.shape[1] * over.shape[1]
        return whole(alpha, distance, under, over)

    monkeypatch.setattr(block_pairs, "_furthest", counted)
    monkeypatch.setattr(block_pairs, "_AT_ONCE", 4)
    alpha, distance = problem("even", 5000, 0)
    found = furthest_pair(alpha, distance, distance < 0, distance > 0, -1.0, torch.inf)
    assert found is not None
    assert 0 < tried < 0.05 * int((distance < 0).sum()) * int((distance > 0).sum())


def test_blocks_are_bounded_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    alpha, distance = problem("even", 1500, 0)
    sides = distance < 0, distance > 0
    whole = furthest_pair(alpha, distance, *sides, -1.0, torch.inf)
    monkeypatch.setattr(block_pairs, "rows_at_once", lambda numbers: 3)
    assert furthest_pair(alpha, distance, *sides, -1.0, torch.inf) == whole


def test_any_pair_that_is_far_enough_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_pairs, "_AT_ONCE", 1)
    alpha, distance = problem("peaked", 400, 0)
    sides = distance < 0, distance > 0
    enough = 0.5 * every_pair(alpha, distance)
    found = furthest_pair(alpha, distance, *sides, -1.0, enough)
    assert found is not None
    assert float(found.jsd) > enough
    assert furthest_pair(alpha, distance, *sides, 1.1 * enough, enough) is None


@pytest.mark.parametrize(("classes", "items", "long"), [(2, 1100, slab._LONG), (3, 70, 1)])
@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.3])
def test_long_texts_have_the_answer_of_all_pairs(
    classes: int, items: int, long: int, epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many classes take a slow search besides, so those texts are short and taken for long."""
    draw = np.random.default_rng(classes)
    examples = 4
    mask = torch.ones(examples, items, dtype=torch.bool)
    mask[1, items // 2 :] = False
    mask[2, 1:] = False
    alpha = torch.tensor(draw.dirichlet(np.full(items, 0.2), size=examples)).where(mask, 0.0)
    alpha = alpha / alpha.sum(-1, keepdim=True)
    readout = torch.tensor(2 * draw.normal(size=(examples, items, classes)))
    monkeypatch.setattr(slab, "_LONG", long)
    in_blocks = furthest(alpha, readout, mask, epsilon=epsilon)
    monkeypatch.setattr(slab, "_LONG", 10**9)
    one_by_one = furthest(alpha, readout, mask, epsilon=epsilon)
    torch.testing.assert_close(in_blocks.jsd, one_by_one.jsd, rtol=0, atol=1e-13)
    torch.testing.assert_close(in_blocks.upper, one_by_one.upper, rtol=0, atol=1e-13)
