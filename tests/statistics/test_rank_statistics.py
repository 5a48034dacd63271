"""Properties of every statistic that compares two rankings."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnaudit import statistics as ours
from attnaudit.statistics import pairs
from score_cases import GARBAGE, batch, same, whole

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
def test_bounds_symmetry_padding_and_order(name, items, pad, shuffle):
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
def test_undefined_values_are_nan(name):
    statistic = STATISTICS[name]
    x, mask = whole(
        [1, 2, 3, 4, 5], [3, 3, 3, 3, 3], [1, 2, torch.nan, 4, 5], [1, 2, 3, 4, 5], [1, 2, 3, 4, 5]
    )
    y = x[:1].expand_as(x)
    mask = mask.clone()
    mask[3, 1:] = False
    mask[4] = False
    got, turned = statistic(x, y, mask), statistic(y, x, mask)
    # The released top-k has a value for constants and for one item.
    undefined = (
        [False, False, True, False, True]
        if name == "top_k_code"
        else [False, True, True, True, True]
    )
    assert got.isnan().tolist() == turned.isnan().tolist() == undefined


@every_statistic
@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (0, 0)])
def test_no_examples_or_no_items_give_no_values(name, shape):
    x = torch.empty(shape)
    same(STATISTICS[name](x, x, x.bool()), torch.full(shape[:1], torch.nan))
