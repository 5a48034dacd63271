"""Where a mean lies between its floor and its ceiling."""

from __future__ import annotations

import math

import numpy as np
import pytest

from attnaudit import audit
from bilstm_cases import bilstm_case


def test_the_summary_places_a_mean_between_floor_and_ceiling() -> None:
    model, record, _ = bilstm_case()
    measures = ["gradient", "leave_one_out", "random"]
    results = audit(
        model, record.batch, audits=["agreement", "erasure"], measures=measures, show_progress=False
    )
    whole = results.summary().query(
        "compared == 1"
    )  # floor and ceiling are of the very examples of the mean
    assert len(whole) > 10
    for line in whole.itertuples():
        room = line.ceiling - line.floor
        expected = (line.mean - line.floor) / room if room else math.nan
        assert line.relative == pytest.approx(expected, nan_ok=True)
    values = results.frame().query("audit == 'agreement' and measure == 'gradient'")
    p = values.query("metric == 'p'").set_index("example_id")["value"]
    stands = values.query("metric == 'significant_family'").set_index("example_id")["value"]
    from scipy.stats import false_discovery_control

    known = p.notna()
    expected = (false_discovery_control(p[known]) <= 0.05).astype(float)
    np.testing.assert_array_equal(stands[known], expected)
    assert stands[~known].isna().all()
    needed = results.examples_needed(0.1)
    assert (needed["needed"].dropna() >= 1).all()
