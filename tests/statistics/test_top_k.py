"""Top-k lists against slow plain Python and published numbers."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from attnaudit import statistics as ours
from attnaudit.statistics.top_k import top_list
from score_cases import LEVELS, batch, rows_of, same, scipy_kendall, whole


def brute_list(scores, k):
    cut = sorted(scores, reverse=True)[min(k, len(scores)) - 1]
    return {i for i, score in enumerate(scores) if score >= cut and score != min(scores)}


def sign(value):
    return (value > 0) - (value < 0)


def brute_top_k(x, y, k, penalty):
    """Pair by pair, from the definition."""
    if len(x) < 2 or len(set(x)) == 1 or len(set(y)) == 1:
        return math.nan
    if k >= len(x):
        return scipy_kendall(x, y)[0]
    a, b = brute_list(x, k), brute_list(y, k)
    distance = inside = 0.0
    for i, j in itertools.combinations(sorted(a | b), 2):
        in_x = (
            sign((x[i] if i in a else -math.inf) - (x[j] if j in a else -math.inf))
            if {i, j} & a
            else 0
        )
        in_y = (
            sign((y[i] if i in b else -math.inf) - (y[j] if j in b else -math.inf))
            if {i, j} & b
            else 0
        )
        if in_x * in_y == -1:
            distance += 1
        elif (in_x == 0) != (in_y == 0):
            distance += penalty
        inside += (i in a and j in a and x[i] != x[j]) + (i in b and j in b and y[i] != y[j])
    return 1 - 2 * distance / (len(a) * len(b) + penalty * inside)


def brute_released(x, y, k, penalty):
    """The released recipe, step by step; ties at the cut by position."""
    k = min(k, len(x))
    a = set(sorted(range(len(x)), key=lambda i: (x[i], i))[len(x) - k :])
    b = set(sorted(range(len(y)), key=lambda i: (y[i], i))[len(y) - k :])
    common = sorted(a & b)
    m = len(common)
    tau = scipy_kendall([x[i] for i in common], [y[i] for i in common])[0]
    distance = 0.0 if math.isnan(tau) else m**2 * (1 - tau) / 2
    distance += sum(x[i] < x[j] for i in common for j in a - b)
    distance += sum(y[i] < y[j] for i in common for j in b - a)
    distance += 2 * penalty * math.comb(k - m, 2)
    return 1 - 2 * distance / len(a | b) ** 2


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("penalty", [0.5, 0.0, 0.9])
@pytest.mark.parametrize(
    ("fidelity", "brute"), [("corrected", brute_top_k), ("code", brute_released)]
)
def test_top_k_kendall_equals_brute_force(levels, penalty, fidelity, brute):
    lengths = [*range(1, 13)] * 5
    x, y, mask = batch(10 + levels, lengths, levels)
    k = torch.randint(1, 8, (len(lengths),), generator=torch.Generator().manual_seed(1))
    got = ours.top_k_kendall(x, y, k, mask, penalty=penalty, fidelity=fidelity)
    rows = zip(rows_of(x, y, mask), k.tolist(), strict=True)
    same(got, [brute(a.tolist(), b.tolist(), each, penalty) for (a, b), each in rows])
    assert got.isnan().any() == (fidelity == "corrected")
    same(ours.top_k_kendall(x, y, k.int(), mask, penalty=penalty, fidelity=fidelity), got, 0)


@pytest.mark.parametrize(
    ("k", "released"), [(1, 1.0), (2, 0.875), (3, 0.8333), (5, 0.8), (10, 0.775), (20, 0.7625)]
)
def test_disjoint_lists_score_minus_1_and_not_what_was_released(k, released):
    """The released code's values for disjoint top-k lists of 40 items; Fagin's is -1."""
    x = torch.arange(40.0).expand(1, 40)
    mask = torch.ones(1, 40, dtype=torch.bool)
    assert round(ours.top_k_kendall(x, -x, k, mask, fidelity="code").item(), 4) == released
    same(ours.top_k_kendall(x, -x, k, mask), [-1])


@pytest.mark.parametrize(
    ("n", "k", "released", "fagin"),
    [
        (19, 1, 1.0, -0.894),
        (19, 3, 0.7927, -0.6282),
        (19, 10, 0.5515, 0.1275),
        (100, 5, 0.7856, -0.8612),
        (100, 30, 0.6587, -0.2859),
    ],
)
def test_independent_scores_have_the_published_means(n, k, released, fagin):
    """Published means over 1000 pairs: of the released code, and of Fagin's K^(1/2)."""
    source = torch.Generator().manual_seed(n + k)
    x, y = torch.rand(2, 4000, n, generator=source)
    for fidelity, published in (("code", released), ("corrected", fagin)):
        value = ours.top_k_kendall(
            x, y, k, torch.ones(4000, n, dtype=torch.bool), fidelity=fidelity
        )
        noise = value.std() * (1 / 1000 + 1 / 4000) ** 0.5
        assert abs(value.mean() - published) <= 3.5 * noise + 1e-4


def test_zeros_of_a_sparse_attention_are_never_in_a_list():
    x, mask = whole([0.6, 0.4, 0, 0, 0, 0])
    y, _ = whole([0, 0, 0, 0, 0.3, 0.7])
    z, _ = whole([0.7, 0.3, 0.0, 0.1, 0, 0])
    same(ours.top_k_kendall(x, y, 4, mask), [-1])
    same(ours.overlap_at_k(x, y, 4, mask), [0])
    same(ours.top_k_kendall(x, z, 2, mask), [1])
    same(ours.overlap_at_k(x, z, 4, mask), [2 / 3])


@pytest.mark.parametrize("levels", LEVELS)
def test_overlap_equals_brute_force(levels):
    def brute(x, y, k):
        if len(x) < 2 or len(set(x)) == 1 or len(set(y)) == 1:
            return math.nan
        a, b = brute_list(x, k), brute_list(y, k)
        return 1.0 if k >= len(x) else len(a & b) / max(len(a), len(b))

    x, y, mask = batch(20 + levels, [*range(1, 13)] * 3, levels)
    for k in (1, 3, 6):
        same(
            ours.overlap_at_k(x, y, k, mask),
            [brute(a.tolist(), b.tolist(), k) for a, b in rows_of(x, y, mask)],
        )


@pytest.mark.parametrize("levels", LEVELS)
def test_top_lists_equal_brute_force(levels):
    x, _, mask = batch(40 + levels, [*range(1, 13)] * 2, levels)
    x[0, mask[0].nonzero()[0, 0]] = math.nan
    for k in (1, 3, 7):
        found = top_list(x, k, mask)
        for index in range(len(x)):
            real = [item for item in range(x.shape[1]) if mask[index, item]]
            values = [x[index, item].item() for item in real]
            expected = set()
            if values and not any(map(math.isnan, values)):
                cut = sorted(values, reverse=True)[min(k, len(values)) - 1]
                expected = {i for i, v in zip(real, values, strict=True) if v >= cut}
                expected -= {i for i, v in zip(real, values, strict=True) if v == min(values)}
            assert set(found[index].nonzero()[:, 0].tolist()) == expected
