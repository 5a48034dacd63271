"""Intervals of means against SciPy, brute force, and their own claims."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import stats

from attnaudit import statistics as ours
from attnaudit.core.errors import InputError
from attnaudit.statistics import resampling
from attnaudit.statistics.interval_kinds import Kind, describe_interval, why_withheld
from score_cases import same


def brute_force(values: np.ndarray, *, level: float, resamples: int) -> tuple[float, float]:
    """Bootstrap-t as in the textbook: one resample at a time."""
    draw = np.random.default_rng(9)
    error = values.std(ddof=1) / math.sqrt(len(values))
    t = []
    for _ in range(resamples):
        drawn = draw.choice(values, len(values))
        t.append((drawn.mean() - values.mean()) / (drawn.std(ddof=1) / math.sqrt(len(values))))
    upper, lower = np.quantile(t, [(1 + level) / 2, (1 - level) / 2])
    return values.mean() - upper * error, values.mean() - lower * error


def test_bootstrap_equals_brute_force() -> None:
    values = torch.randn(80, generator=torch.Generator().manual_seed(1)).double().exp()
    got = ours.bootstrap(values, resamples=20_000, level=0.9)
    low, high = brute_force(values.numpy(), level=0.9, resamples=20_000)
    noise = 0.05 * float(values.std()) / math.sqrt(80)
    same(got.estimate, values.mean(), 1e-14)
    assert abs(got.low - low) < noise
    assert abs(got.high - high) < 2 * noise
    # Skewed to the right, so the interval reaches further up; the percentiles know little of it.
    percentile = stats.bootstrap((values.numpy(),), np.mean, method="percentile", rng=1)
    assert got.high - got.estimate > 1.3 * (got.estimate - got.low)
    assert ours.bootstrap(values).high > percentile.confidence_interval.high + 2 * noise
    assert [each.shape for each in got] == [()] * 5


def test_values_that_have_gradients_have_the_same_interval() -> None:
    values = torch.randn(30, 2, dtype=torch.float64)
    plain, tracked = (ours.bootstrap(part) for part in (values, values.clone().requires_grad_()))
    assert torch.equal(plain.low, tracked.low.detach())
    assert torch.equal(plain.high, tracked.high.detach())


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_rates_have_wilsons_interval(level: float) -> None:
    hits, count = torch.tensor([0, 1, 7, 20, 33, 40]), 40
    values = (torch.arange(count)[:, None] < hits).double()
    got = ours.bootstrap(values, limits=(0.0, 1.0), level=level)
    for index, number in enumerate(hits.tolist()):
        expected = stats.binomtest(number, count).proportion_ci(level, method="wilson")
        same(torch.stack([got.low[index], got.high[index]]), list(expected), 1e-12)
    assert (got.kind == Kind.RATE).all()


def test_values_of_minus_one_zero_and_one_have_walds_interval_with_two_examples_added() -> None:
    values = torch.tensor([1.0] * 9 + [-1.0] * 4 + [0.0] * 27)
    more = np.append(values.numpy(), [1, -1])
    reach = stats.norm.ppf(0.975) * more.std() / math.sqrt(len(more))
    got = ours.bootstrap(values)
    same(torch.stack([got.low, got.high]), [more.mean() - reach, more.mean() + reach], 1e-12)
    assert got.kind == Kind.SIGNED_RATE
    # Differences that happen not to be negative are no rate.
    assert ours.bootstrap(values.abs(), limits=(-1.0, 1.0)).kind == Kind.SIGNED_RATE
    assert ours.bootstrap(values.abs()).kind == Kind.RATE


def test_equal_values_may_hide_others_on_their_scale() -> None:
    """0.5 in all of 20 texts: up to 16 % of other texts may have any other value."""
    unseen = stats.binomtest(0, 20).proportion_ci(method="wilson").high
    got = ours.bootstrap(torch.full((20,), 0.5), limits=(-1.0, 1.0))
    same(torch.stack([got.low, got.high]), [0.5 - 1.5 * unseen, 0.5 + 0.5 * unseen], 1e-12)
    unknown = ours.bootstrap(torch.full((20,), 0.5))
    assert unknown.low.isnan()
    assert describe_interval(int(unknown.kind)).startswith("withheld: all values are equal")


def test_intervals_are_withheld_with_a_reason() -> None:
    draw = torch.Generator().manual_seed(0)
    few = torch.rand(9, generator=draw)
    assert why_withheld(int(ours.bootstrap(few).kind)) == "fewer than 10 values"
    assert not ours.bootstrap(torch.rand(10, generator=draw)).low.isnan()
    narrow = torch.rand(59, generator=draw) * 0.09
    wide = ours.bootstrap(narrow, limits=(0, 1))
    assert wide.kind == Kind.NARROW
    unseen = 1.96**2 / (59 + 1.96**2)  # Wilson's upper end for 0 of 59
    mean = float(narrow.double().mean())
    assert float(wide.low) == pytest.approx(mean * (1 - unseen), rel=1e-4)
    assert float(wide.high) == pytest.approx(mean + unseen * (1 - mean), rel=1e-4)
    assert not ours.bootstrap(narrow).low.isnan()  # not narrow on an unknown scale
    more = torch.cat([narrow, narrow[:1]])
    assert not ours.bootstrap(more, limits=(0, 1)).low.isnan()
    single = torch.cat([torch.zeros(30), torch.tensor([0.7])])
    assert why_withheld(int(ours.bootstrap(single).kind)) == "too few different values"
    assert why_withheld(int(ours.bootstrap(torch.empty(0)).kind)) == "no value"
    assert why_withheld(Kind.STUDENTISED) == ""


def test_an_interval_stays_within_the_limits() -> None:
    values = torch.cat([torch.linspace(0.9, 1, 12), torch.tensor([0.1, 0.4, 0.6])]).double()
    free = ours.bootstrap(values)
    assert free.low < 0
    assert ours.bootstrap(values, limits=(0.0, 1.0)).low == 0
    assert ours.bootstrap(values, limits=torch.tensor([[0.0, 1.0]])).high == free.high
    assert ours.bootstrap(values, limits=torch.tensor([[0.0, 1e9]])).kind == Kind.NARROW
    # Values beyond the limits show that they are none.
    assert ours.bootstrap(values, limits=(0.0, 0.9)).low == free.low
    with pytest.raises(InputError, match="limits must be"):
        ours.bootstrap(values, limits=torch.zeros(3))


def test_bootstrap_intervals_cover_as_often_as_they_should() -> None:
    # The 400 samples of 60 share their draws, which is harmless: the samples are independent.
    values = torch.randn(60, 400, generator=torch.Generator().manual_seed(2)) + 3
    got = ours.bootstrap(values, level=0.8, resamples=1000)
    share = ((got.low <= 3) & (got.high >= 3)).double().mean()
    assert 0.74 < share < 0.86
    assert [each.shape for each in got] == [(400,)] * 5
    assert all(each.dtype == torch.float64 for each in got[:4])


def test_bootstrap_columns_are_paired_and_seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    first = torch.randn(30, generator=torch.Generator().manual_seed(3)).double()
    both = ours.bootstrap(torch.stack([first, first + 2], 1))
    same(both.low[1] - both.low[0], 2, 1e-12)
    same(both.high[1] - both.high[0], 2, 1e-12)
    alone = ours.bootstrap(first)
    same(torch.stack(alone), torch.stack(both)[:, 0], 1e-12)
    same(torch.stack(ours.bootstrap(first)), torch.stack(alone), 0)
    assert ours.bootstrap(first, seed=1).low != alone.low
    monkeypatch.setattr(resampling, "CHUNK", 100)
    assert abs(ours.bootstrap(first).low - alone.low) < 0.03


def test_bootstrap_leaves_nan_out_and_counts_them() -> None:
    values = torch.randn(40, 4, generator=torch.Generator().manual_seed(4)).double()
    values[15:, 1] = torch.nan
    values[:, 2] = torch.nan
    values[1:, 3] = torch.nan
    got = ours.bootstrap(values)
    same(got.nan_share, [0, 0.625, 1, 0.975])
    same(got.estimate, [values[:, 0].mean(), values[:15, 1].mean(), math.nan, values[0, 3]], 1e-14)
    assert got.low.isnan().tolist() == got.high.isnan().tolist() == [False, False, True, True]
    assert got.kind.tolist()[2:] == [Kind.NO_VALUE, Kind.FEW]
    # As wide as without the texts that have no value.
    dense = ours.bootstrap(values[:15, 1], resamples=20_000)
    sparse = ours.bootstrap(values[:, 1], resamples=20_000)
    assert sparse.high - sparse.low == pytest.approx(float(dense.high - dense.low), rel=0.1)
    empty = ours.bootstrap(torch.empty(0, 3))
    assert all(each.isnan().tolist() == [True] * 3 for each in empty[:4])
