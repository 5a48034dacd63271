"""Intervals of ratios and of relative values against brute force and limiting cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import optimize, stats

from attnaudit.core.errors import InputError
from attnaudit.statistics import bootstrap
from attnaudit.statistics.interval_kinds import Kind
from attnaudit.statistics.ratios import bootstrap_ratio
from attnaudit.statistics.relative import relative_interval


def test_the_ends_are_where_the_studentised_residual_reaches_its_quantiles() -> None:
    draw = np.random.default_rng(0)
    below = draw.gamma(2, 1, 60)
    above = below * draw.beta(2, 3, 60) + draw.normal(0, 0.1, 60)
    got = bootstrap_ratio(
        torch.from_numpy(above)[:, None], torch.from_numpy(below)[:, None], resamples=20_000
    )
    ratio = above.mean() / below.mean()
    assert float(got.estimate) == pytest.approx(ratio)

    def t(values: np.ndarray) -> float:
        return values.mean() / (values.std(ddof=1) / math.sqrt(len(values)))

    residual = above - ratio * below
    drawn = [t(draw.choice(residual, 60)) for _ in range(10_000)]
    for end, quantile in ((got.low, 0.975), (got.high, 0.025)):
        wanted = np.quantile(drawn, quantile)
        expected = optimize.brentq(lambda r, w=wanted: t(above - r * below) - w, 0, 1)
        assert float(end) == pytest.approx(expected, abs=0.003)


def test_a_constant_denominator_gives_the_interval_of_the_mean() -> None:
    values = torch.randn(50, 2, generator=torch.Generator().manual_seed(0)).double()
    for constant in (2.0, -2.0):  # a ceiling below the floor turns the interval round
        got = bootstrap_ratio(values, torch.full_like(values, constant))
        mean = bootstrap(values)
        ends = torch.stack([mean.low, mean.high]) / constant
        torch.testing.assert_close(torch.stack([got.low, got.high]), ends.sort(0).values)


def test_a_ratio_is_withheld_where_nothing_is_known_of_it() -> None:
    draw = torch.Generator().manual_seed(1)
    values = torch.randn(40, 1, generator=draw).double()
    centred = torch.randn(40, 1, generator=draw).double()
    assert bootstrap_ratio(values, centred - centred.mean() + 0.01).kind == Kind.NO_ROOM
    assert bootstrap_ratio(values, torch.zeros(40, 1)).kind == Kind.NO_ROOM
    assert bootstrap_ratio(0.5 * values + 1, values + 2).kind == Kind.SAME_PLACE
    assert bootstrap_ratio(values[:9], 1 + values[:9] ** 2).kind == Kind.FEW
    assert bootstrap_ratio(values * torch.nan, values).kind == Kind.NO_VALUE
    with pytest.raises(InputError, match="must both be"):
        bootstrap_ratio(values[:, 0], values[:, 0])


def test_the_place_of_a_rate_between_known_bounds_is_that_of_wilsons_ends() -> None:
    value = (torch.arange(40)[:, None] < 39).double()
    mean = bootstrap(value, limits=(0.0, 1.0))
    got = relative_interval(value, torch.full_like(value, 0.2), torch.ones_like(value), mean)
    expected = stats.binomtest(39, 40).proportion_ci(method="wilson")
    assert float(got.low) == pytest.approx((expected.low - 0.2) / 0.8)
    assert float(got.high) == pytest.approx((expected.high - 0.2) / 0.8)


def test_the_place_of_a_rate_between_noisy_bounds_covers() -> None:
    draw = np.random.default_rng(2)
    value = torch.from_numpy((draw.random((50, 1000)) < 0.9).astype(float))
    floor = torch.from_numpy(draw.beta(2, 6, (50, 1000)))
    ones = torch.ones_like(value)
    got = relative_interval(value, floor, ones, bootstrap(value, limits=(0.0, 1.0)))
    truth = (0.9 - 0.25) / 0.75
    assert 0.93 <= ((got.low <= truth) & (got.high >= truth)).double().mean() <= 0.985


def test_a_rate_that_is_its_own_ceiling_is_there_for_certain() -> None:
    value = (torch.arange(60)[:, None] < 30).double()
    got = relative_interval(
        value, torch.zeros_like(value), value, bootstrap(value, limits=(0.0, 1.0))
    )
    assert float(got.estimate) == 1
    assert 0.97 < float(got.low) <= 1 <= float(got.high) < 1.03


def test_no_interval_of_the_mean_means_none_of_its_place() -> None:
    value = torch.rand(9, 1).double()
    mean = bootstrap(value, limits=(0.0, 1.0))
    got = relative_interval(value, torch.zeros_like(value), torch.ones_like(value), mean)
    assert got.low.isnan()
    assert got.kind == Kind.FEW


def test_two_texts_far_from_the_rest_leave_a_wide_interval_where_there_is_room() -> None:
    draw = torch.Generator().manual_seed(0)
    value, floor = (torch.rand(178, 1, generator=draw).double() for _ in range(2))
    value, floor = 1 - 1e-9 * value, 0.1 + 0.1 * floor
    value[:2] = torch.tensor([[0.995], [0.991]])
    ceiling = torch.ones_like(value)
    ratio = bootstrap_ratio(value - floor, ceiling - floor)
    assert ratio.kind == Kind.NO_ROOM
    found = relative_interval(value, floor, ceiling, bootstrap(value))
    assert found.kind == Kind.PLACES
    assert 0.9 < float(found.low) < float(found.estimate) <= float(found.high)
    no_room = relative_interval(value, ceiling, ceiling, bootstrap(value))
    assert bool(no_room.low.isnan())


@pytest.mark.parametrize(("texts", "share"), [(20, 0.02), (50, 0.05), (100, 0.05)])
def test_places_that_are_almost_all_the_same_are_covered(texts: int, share: float) -> None:
    """Most texts at the ceiling, a few anywhere in the lower half: too wide, never too narrow."""
    draw = torch.Generator().manual_seed(0)
    floor, room, low, kind = (torch.rand(texts, 500, generator=draw).double() for _ in range(4))
    room = 1 + 4 * room
    value = floor + torch.where(kind < share, low / 2, torch.ones_like(low)) * room
    found = relative_interval(value, floor, floor + room, bootstrap(value))
    truth = 1 - 0.75 * share
    covered = (found.low <= truth) & (truth <= found.high)
    assert float(covered.double().mean()) > 0.93
    assert (found.kind == Kind.PLACES).any()
