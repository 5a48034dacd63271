"""Bootstrap intervals against SciPy."""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest
import torch
from scipy import stats

from attnaudit import statistics as ours
from score_cases import same


def test_bootstrap_equals_scipy():
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


def test_bootstrap_intervals_cover_as_often_as_they_should():
    # The 400 samples of 60 share their draws, which is harmless: the samples are independent.
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
    module = importlib.import_module("attnaudit.statistics.bootstrap")
    monkeypatch.setattr(module, "_CHUNK", 100)
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


def test_a_single_value_has_an_estimate_but_no_interval():
    single = ours.bootstrap(torch.tensor([0.7]))
    assert float(single.estimate) == pytest.approx(0.7)
    assert single.low.isnan()
    columns = ours.bootstrap(torch.tensor([[0.9, 1.0]] + [[math.nan, 2.0]] * 9))
    assert columns.low.isnan().tolist() == [True, False]
