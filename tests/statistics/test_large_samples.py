"""Quantiles of large samples in closed form: those of resamples, up to the noise of the draws."""

from __future__ import annotations

import math

import torch

from attnaudit.statistics import resampling


def test_the_closed_form_is_that_of_resamples_within_their_noise() -> None:
    draw = torch.Generator().manual_seed(0)
    count = resampling.LARGE + 1
    normal = torch.randn(count, generator=draw, dtype=torch.float64)
    skewed = torch.empty(count, dtype=torch.float64).exponential_(generator=draw)
    values = torch.stack([normal, skewed, -skewed], 1)
    values -= values.mean(0)
    known = torch.ones_like(values, dtype=torch.bool)
    drawn = resampling.studentised_quantiles(values[:-1], known[:-1], 0.95, 2000, 1)
    closed = resampling.studentised_quantiles(values, known, 0.95, 2000, 1)
    # The 2.5 % point of 2,000 resamples has a standard error of about .06.
    for ends, expected in zip(closed, drawn, strict=True):
        torch.testing.assert_close(ends, expected, atol=0.25, rtol=0)
    shift = (closed[0] + closed[1]) / 2
    gamma = (skewed - skewed.mean()).pow(3).mean() / skewed.var(correction=0) ** 1.5
    z = 1.959963984540054
    assert abs(float(shift[1]) + float(gamma) * (2 * z * z + 1) / 6 / math.sqrt(count)) < 1e-6
    assert float(shift[1]) == -float(shift[2])
