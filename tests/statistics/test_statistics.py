"""Statistics against SciPy, against slow plain Python, and against laws that hold for all of them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.special
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from attnaudit import statistics as ours
from attnaudit.core.errors import InputError
from attnaudit.statistics import pairs

GARBAGE = torch.tensor([torch.nan, torch.inf, -torch.inf, 1e30, -7.0])
LEVELS = (0, 2, 3, 6, 25)  # 0: no ties; else the number of different scores


def scores(source, rows, width, levels):
    drawn = torch.randn(rows, width, generator=source, dtype=torch.float64)
    return (drawn * levels / 4).round() if levels else drawn


def batch(seed, lengths, levels=0, width=None):
    """x, y, mask with lengths[i] real items at random places in row i, NaN, inf and nonsense at the others."""
    source = torch.Generator().manual_seed(seed)
    rows, width = len(lengths), width or max(lengths) + 3
    place = torch.rand(rows, width, generator=source).argsort(-1).argsort(-1)
    mask = place < torch.tensor(lengths)[:, None]
    garbage = [
        GARBAGE[torch.randint(5, (rows, width), generator=source)].double() for _ in range(2)
    ]
    x, y = (torch.where(mask, scores(source, rows, width, levels), each) for each in garbage)
    return x, y, mask


def rows_of(*tensors_and_mask):
    """The real items of each row, as NumPy arrays."""
    *tensors, mask = tensors_and_mask
    for *each, real in zip(*tensors, mask, strict=True):
        yield tuple(one[real].numpy() for one in each)


def whole(*rows):
    """Lists as one tensor with a full mask."""
    x = torch.from_numpy(np.array(rows, dtype=np.float64))
    return x, torch.ones_like(x, dtype=torch.bool)


def same(got, expected, tolerance=1e-10):
    torch.testing.assert_close(
        got, torch.as_tensor(expected, dtype=torch.float64), rtol=0, atol=tolerance, equal_nan=True
    )


def scipy_kendall(x, y):
    return tuple(stats.kendalltau(x, y)) if len(x) > 1 else (math.nan, math.nan)


# Kendall


@pytest.mark.parametrize("levels", LEVELS)
def test_kendall_is_scipys(levels):
    lengths = [*range(1, 41), 60, 150, 257, 400]
    x, y, mask = batch(levels, lengths, levels)
    tau, p = ours.kendall(x, y, mask)
    expected = np.array([scipy_kendall(a, b) for a, b in rows_of(x, y, mask)])
    same(tau, expected[:, 0])
    same(p, expected[:, 1])
    assert tau.dtype == p.dtype == torch.float64
    assert (tau.isnan() == p.isnan()).all()


@pytest.mark.parametrize("n", [2, 3, 5, 32, 33, 34, 35, 60, 171, 200])
def test_kendall_almost_sorted_has_scipys_exact_p(n):
    """None, one or two pairs out of place, either way round: where SciPy switches between exact and normal."""
    up = np.arange(float(n))
    orders = [up]
    for swaps in (1, 2):
        order = up.copy()
        for at in range(0, min(2 * swaps, n - 1), 2):
            order[[at, at + 1]] = order[[at + 1, at]]
        orders.append(order)
    orders += [order[::-1].copy() for order in orders]
    y, mask = whole(*orders)
    tau, p = ours.kendall(torch.from_numpy(up).expand_as(y), y, mask)
    expected = np.array([scipy_kendall(up, order) for order in orders])
    same(tau, expected[:, 0])
    # Relative: these p-values are so small that any absolute tolerance would let everything pass.
    np.testing.assert_allclose(p.numpy(), expected[:, 1], rtol=1e-8, atol=1e-300)


def test_kendall_p_of_four_in_order():
    x, mask = whole([1, 2, 3, 4], [1, 2, 3, 4])
    y, _ = whole([1, 2, 3, 4], [4, 3, 2, 1])
    tau, p = ours.kendall(x, y, mask)
    same(tau, [1, -1])
    same(p, [2 / 24, 2 / 24], 1e-15)  # two of the 4! orders are as extreme


def test_kendall_long_and_many():
    x, y, mask = batch(0, [2000, 1999, 1024, 1025], 40)
    same(
        torch.stack(ours.kendall(x, y, mask), -1),
        [scipy_kendall(*row) for row in rows_of(x, y, mask)],
    )
    many = torch.rand(25_000, 12)
    tau, p = ours.kendall(many, many, torch.ones_like(many, dtype=torch.bool))
    assert tau.shape == p.shape == (25_000,)
    same(tau, torch.ones(25_000))


# Top-k


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
def test_top_k_kendall_is_the_brute_force(levels, penalty, fidelity, brute):
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
def test_disjoint_lists(k, released):
    """What the released code says of disjoint top-k lists of 40 items, where Fagin's distance says -1."""
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
def test_independent_scores(n, k, released, fagin):
    """Published means over 1000 pairs of independent random scores: the released code's, and Fagin's K^(1/2)."""
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
def test_overlap_is_the_brute_force(levels):
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


# Weighted Kendall, Spearman, ranks


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("additive", [True, False])
def test_weighted_kendall_is_scipys(levels, additive):
    lengths = [*range(2, 41), 130]
    x, y, mask = batch(30 + levels, lengths, levels)
    weights = (
        torch.rand(mask.shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64) ** 3
    )
    weights = torch.where(mask, weights, torch.nan)
    combine = "additive" if additive else "multiplicative"
    expected = [
        math.nan
        if len({*a}) == 1 or len({*b}) == 1
        else stats.weightedtau(
            a, b, rank=np.arange(len(a)), weigher=lambda r, w=w: w[r], additive=additive
        )[0]
        for a, b, w in rows_of(x, y, weights, mask)
    ]
    got = ours.weighted_kendall(x, y, weights, mask, combine=combine)
    same(got, expected)
    other = "multiplicative" if additive else "additive"
    assert (
        got - ours.weighted_kendall(x, y, weights, mask, combine=other)
    ).abs().nanmedian() > 1e-4
    ones = torch.ones_like(x)
    same(ours.weighted_kendall(x, y, ones, mask, combine=combine), ours.kendall(x, y, mask)[0])


def test_weighted_kendall_without_weight_on_an_untied_pair_is_nan():
    x, mask = whole([1, 1, 2, 3])
    y, _ = whole([4, 3, 2, 1])
    weights, _ = whole([0.7, 0.3, 0, 0])
    same(ours.weighted_kendall(x, y, weights, mask, combine="multiplicative"), [math.nan])
    same(ours.weighted_kendall(y, y, weights, mask, combine="multiplicative"), [1])
    # Next to none is none: the rest would be rounding, 0 or 1 by chance.
    for least in (1e-30, 1e-17, 1e-14):
        weights, _ = whole([0.7, 0.3, least, least])
        same(ours.weighted_kendall(x, y, weights, mask, combine="multiplicative"), [math.nan])
        same(ours.weighted_kendall(y, y, weights, mask, combine="multiplicative"), [1])
    # But small weights count where all pairs are small, in whichever place the large one stands.
    for weights in ([1e-30, 1, 0, 0], [1, 1e-30, 0, 0], [0, 1e-30, 0, 1]):
        weights, _ = whole(weights)
        same(ours.weighted_kendall(y, y, weights, mask, combine="multiplicative"), [1])


@pytest.mark.parametrize("levels", LEVELS)
def test_spearman_and_ranks_are_scipys(levels):
    x, y, mask = batch(40 + levels, [*range(1, 41), 400], levels)
    expected = [
        math.nan if len({*a}) == 1 or len({*b}) == 1 else stats.spearmanr(a, b)[0]
        for a, b in rows_of(x, y, mask)
    ]
    same(ours.spearman(x, y, mask), expected)
    ranks = ours.average_ranks(x, mask)
    assert (ranks[~mask] == 0).all()
    for (got, scores), real in zip(rows_of(ranks, x, mask), mask, strict=True):
        assert real.sum() == len(got)
        np.testing.assert_array_equal(got, stats.rankdata(scores))


# Laws of every rank statistic

STATISTICS = {
    "tau": lambda x, y, mask: ours.kendall(x, y, mask)[0],
    "p": lambda x, y, mask: ours.kendall(x, y, mask)[1],
    "top_k": lambda x, y, mask: ours.top_k_kendall(x, y, 3, mask),
    "top_k_code": lambda x, y, mask: ours.top_k_kendall(x, y, 3, mask, fidelity="code"),
    "weighted": lambda x, y, mask: ours.weighted_kendall(x, y, (x * x + y * y).nan_to_num(), mask),
    "weighted_product": lambda x, y, mask: ours.weighted_kendall(
        x, y, (x * x + y * y).nan_to_num(), mask, combine="multiplicative"
    ),
    "spearman": ours.spearman,
    "overlap": lambda x, y, mask: ours.overlap_at_k(x, y, 3, mask),
}
every_statistic = pytest.mark.parametrize("name", STATISTICS)
number = st.integers(-4, 4).map(float) | st.floats(-1e3, 1e3, width=32)
pair = st.lists(st.tuples(number, number), min_size=1, max_size=12)


@every_statistic
@settings(max_examples=40, deadline=None)
@given(
    items=pair, pad=st.lists(st.booleans(), max_size=6), shuffle=st.randoms(use_true_random=False)
)
def test_laws(name, items, pad, shuffle):
    statistic = STATISTICS[name]
    (x, y), mask = (
        torch.tensor(items, dtype=torch.float64).T[:, None],
        torch.ones(1, len(items)).bool(),
    )
    value = statistic(x, y, mask)
    if not value.isnan():
        assert (0 if name in ("p", "overlap") else -1) <= value <= 1
    same(statistic(y, x, mask), value)

    # Padding is the shorter input, wherever it stands and whatever it holds.
    real = [True] * len(items) + [False] * len(pad)
    shuffle.shuffle(real)
    padded = torch.tensor(real)[None]
    wide_x, wide_y = (
        torch.full(padded.shape, shuffle.choice(GARBAGE.tolist())).double() for _ in range(2)
    )
    wide_x[padded], wide_y[padded] = x[0], y[0]
    same(statistic(wide_x, wide_y, padded), value)

    order = list(range(len(items)))
    shuffle.shuffle(order)
    if name != "top_k_code":  # there, ties at the cut go by position
        same(statistic(x[:, order], y[:, order], mask), value)


@every_statistic
def test_a_row_does_not_see_the_others(name, monkeypatch):
    statistic = STATISTICS[name]
    x, y, mask = batch(5, [0, 1, 2, 3, 7, 12, 12, 30], 6)
    value = statistic(x, y, mask)
    assert len(value.unique()) > 2
    for row in range(len(x)):
        same(statistic(x[row, None], y[row, None], mask[row, None]), value[row, None], 1e-14)
    monkeypatch.setattr(pairs, "_CHUNK", 70)  # two rows at a time
    same(statistic(x, y, mask), value, 1e-14)
    single = (x.float(), y.float(), mask)
    assert statistic(*single).dtype == torch.float64
    same(statistic(*single), statistic(x.float().double(), y.float().double(), mask), 0)


@every_statistic
def test_no_answer_is_nan(name):
    statistic = STATISTICS[name]
    x, mask = whole(
        [1, 2, 3, 4, 5], [3, 3, 3, 3, 3], [1, 2, torch.nan, 4, 5], [1, 2, 3, 4, 5], [1, 2, 3, 4, 5]
    )
    y = x[:1].expand_as(x)
    mask = mask.clone()
    mask[3, 1:] = False
    mask[4] = False
    got, turned = statistic(x, y, mask), statistic(y, x, mask)
    # The released top-k has a value for constants and for one item; NaN scores and no items have none anywhere.
    undefined = (
        [False, False, True, False, True]
        if name == "top_k_code"
        else [False, True, True, True, True]
    )
    assert got.isnan().tolist() == turned.isnan().tolist() == undefined


@every_statistic
@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (0, 0)])
def test_nothing_at_all(name, shape):
    x = torch.empty(shape)
    same(STATISTICS[name](x, x, x.bool()), torch.full(shape[:1], torch.nan))


def test_infinite_scores_are_scores():
    x, mask = whole([-torch.inf, 1, torch.inf, torch.inf, 0])
    y, _ = whole([0, 2, 3, 4, 1])
    wide, real = torch.cat([x, x * 0 + torch.inf], 1), torch.cat([mask, ~mask], 1)
    expected = stats.kendalltau([0, 2, 3, 3, 1], [0, 2, 3, 4, 1])[0]
    same(ours.kendall(wide, torch.cat([y, y], 1), real)[0], [expected])
    same(ours.overlap_at_k(wide, torch.cat([y, y], 1), 2, real), [1])


def test_ranks_of_nan_are_nan():
    x, mask = whole([1, torch.nan, 2], [5, 4, 4])
    mask[0, 2] = False
    same(ours.average_ranks(x, mask), [[math.nan, math.nan, 0], [3, 1.5, 1.5]])


# Distances and entropy


def distributions(seed, *shape):
    source = torch.Generator().manual_seed(seed)
    drawn = torch.rand(*shape, generator=source, dtype=torch.float64)
    drawn = torch.where(drawn < 0.3, 0.0, drawn)  # exact zeros, as sparse attention has
    drawn[..., 0] += 0.01
    return drawn / drawn.sum(-1, keepdim=True)


def test_tvd_and_jsd_are_scipys():
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


def test_jsd_of_the_same_and_the_disjoint():
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


def test_jsd_mask():
    p, q = distributions(4, 20, 5), distributions(5, 20, 5)
    garbage = GARBAGE.double().expand(20, 5)
    mask = torch.tensor([True] * 5 + [False] * 5).expand(20, 10)
    same(
        ours.jsd(torch.cat([p, garbage], -1), torch.cat([q, garbage.flip(-1)], -1), mask),
        ours.jsd(p, q),
        0,
    )


def test_jsd_gradient():
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


def test_entropy_is_scipys():
    p = distributions(8, 40, 12)
    mask = torch.arange(12) < torch.arange(1, 41).remainder(12)[:, None] + 1
    filled = torch.where(mask, p, torch.inf)
    plain = ours.entropy(filled, mask, normalised=False)
    same(plain, [stats.entropy(row) for (row,) in rows_of(p, mask)])
    lengths = mask.sum(-1).double()
    same(ours.entropy(filled, mask), torch.where(lengths > 1, plain / lengths.log(), torch.nan))
    assert ours.entropy(filled, mask).isnan().sum() == (lengths == 1).sum() > 0


def test_entropy_ends():
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


def test_entropy_gradient():
    p = distributions(9, 3, 5) + 0.05
    mask = torch.arange(5) < torch.tensor([[5], [3], [2]])
    assert torch.autograd.gradcheck(lambda each: ours.entropy(each, mask), (p.requires_grad_(),))
    p = torch.tensor([[1.0, 0, 0], [1.0, 5, 5]], dtype=torch.float64, requires_grad=True)
    ours.entropy(p, torch.tensor([[True, True, True], [True, False, False]])).nansum().backward()
    assert p.grad.isfinite().all()


# Bootstrap


def test_bootstrap_is_scipys():
    values = torch.randn(80, generator=torch.Generator().manual_seed(1)).double().exp()
    got = ours.bootstrap(values, resamples=20_000, level=0.9)
    expected = stats.bootstrap(
        (values.numpy(),),
        np.mean,
        n_resamples=20_000,
        confidence_level=0.9,
        method="percentile",
        rng=1,
    )
    noise = 0.03 * expected.standard_error
    same(got.estimate, values.mean(), 1e-14)
    assert abs(got.low - expected.confidence_interval.low) < 2 * noise
    assert abs(got.high - expected.confidence_interval.high) < 2 * noise
    assert [each.shape for each in got] == [()] * 4


def test_bootstrap_covers():
    # 400 samples of 60 as columns would share their draws, which is harmless here: the samples are independent.
    values = torch.randn(60, 400, generator=torch.Generator().manual_seed(2)) + 3
    got = ours.bootstrap(values, level=0.8, resamples=1000)
    share = ((got.low <= 3) & (got.high >= 3)).double().mean()
    assert 0.72 < share < 0.86
    assert [each.shape for each in got] == [(400,)] * 4
    assert all(each.dtype == torch.float64 for each in got)


def test_bootstrap_columns_are_paired_and_seeded(monkeypatch):
    first = torch.randn(30, generator=torch.Generator().manual_seed(3)).double()
    both = ours.bootstrap(torch.stack([first, first + 2], 1))
    same(both.low[1] - both.low[0], 2, 1e-12)
    same(both.high[1] - both.high[0], 2, 1e-12)
    alone = ours.bootstrap(first)
    same(torch.stack(alone), torch.stack(both)[:, 0], 1e-12)
    same(torch.stack(ours.bootstrap(first)), torch.stack(alone), 0)
    assert ours.bootstrap(first, seed=1).low != alone.low
    monkeypatch.setattr("attnaudit.statistics.bootstrap._CHUNK", 100)
    assert abs(ours.bootstrap(first).low - alone.low) < 0.02


def test_bootstrap_leaves_nan_out_and_counts_them():
    values = torch.randn(40, 4, generator=torch.Generator().manual_seed(4)).double()
    values[10:, 1] = torch.nan
    values[:, 2] = torch.nan
    values[1:, 3] = torch.nan
    got = ours.bootstrap(values)
    same(got.nan_share, [0, 0.75, 1, 0.975])
    same(got.estimate, [values[:, 0].mean(), values[:10, 1].mean(), math.nan, values[0, 3]], 1e-14)
    # One known value: how far another would lie is not known.
    assert got.low.isnan().tolist() == got.high.isnan().tolist() == [False, False, True, True]
    assert got.low[1] < got.estimate[1] < got.high[1]
    assert all(each.isnan() for each in ours.bootstrap(torch.empty(0)))
    assert all(each.isnan().tolist() == [True] * 3 for each in ours.bootstrap(torch.empty(0, 3)))


# What the user reads

X = torch.zeros(2, 3)
MASK = torch.ones(2, 3, dtype=torch.bool)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: ours.kendall(X, X[:, :2], MASK),
            r"one shape \(B,N\): got x \(2, 3\), y \(2, 2\), mask \(2, 3\). Pad",
        ),
        (lambda: ours.spearman(X[0], X[0], MASK[0]), r"got x \(3,\)"),
        (
            lambda: ours.kendall(X, X, MASK.float()),
            r"mask must be a bool tensor.*got torch.float32. Pass mask.bool",
        ),
        (lambda: ours.top_k_kendall(X, X, 0, MASK), "k must be at least 1; got 0"),
        (
            lambda: ours.overlap_at_k(X, X, torch.tensor([2, -1]), MASK),
            "k must be at least 1; got -1",
        ),
        (
            lambda: ours.overlap_at_k(X, X, 1.5, MASK),
            r"integer tensor \(2,\), one an example; got torch.float32",
        ),
        (lambda: ours.top_k_kendall(X, X, torch.ones(3).int(), MASK), r"got torch.int32 \(3,\)"),
        (
            lambda: ours.top_k_kendall(X, X, 1, MASK, fidelity="paper"),
            "'paper'. Choose from: corrected, code",
        ),
        (lambda: ours.top_k_kendall(X, X, 1, MASK, penalty=2), "between 0 and 1; got 2"),
        (
            lambda: ours.weighted_kendall(X, X, X, MASK, combine="sum"),
            "Choose from: additive, multiplicative",
        ),
        (lambda: ours.weighted_kendall(X, X, X - 1, MASK), "weights must not be negative"),
        (lambda: ours.weighted_kendall(X, X, X[:1], MASK), r"weights \(1, 3\)"),
        (lambda: ours.average_ranks(X, MASK[:1]), r"mask \(1, 3\)"),
        (lambda: ours.bootstrap(torch.zeros(2, 3, 4)), r"\(B,\) or \(B,M\); got \(2, 3, 4\)"),
        (lambda: ours.bootstrap(X, level=95), "level must lie between 0 and 1; got 95"),
        (lambda: ours.bootstrap(X, resamples=0), "at least 1; got 0"),
    ],
)
def test_errors(call, text):
    with pytest.raises(InputError, match=text):
        call()


def test_weights_outside_the_mask_may_be_negative():
    x, mask = whole([1, 2, 3, 9])
    mask[0, 3] = False
    weights, _ = whole([1, 1, 1, -5])
    same(ours.weighted_kendall(x, x, weights, mask), [1])
