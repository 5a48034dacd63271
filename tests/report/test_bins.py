"""The page and the figures bin values in the same way."""

from __future__ import annotations

import numpy as np
import pytest

from attnaudit.report.charts import bins
from attnaudit.report.charts.chart_data import chart_data
from attnaudit.report.figures import OF_RUN
from attnaudit.report.run_sources import Run
from finished_runs import finished, opened


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return opened(finished(tmp_path_factory.mktemp("run")))


def test_values_at_and_over_the_ends_of_a_span_are_counted() -> None:
    values = np.array([-1.0 - 1e-12, -1.0, 0.0, 1.0, 1.0 + 1e-12, np.nan])
    counts = bins.histogram(values, bins.TAU)
    assert counts.sum() == 5
    assert (counts[0], counts[-1]) == (2, 2)


@pytest.mark.parametrize(("peak", "name"), [(0.0, "0–0.25"), (0.25, "0.25–0.5"), (1.0, "0.75–1")])
def test_a_peak_falls_into_the_bin_that_starts_with_it(peak: float, name: str) -> None:
    assert bins.PEAKS[int(bins.peak_bin(np.array([peak]))[0])] == name


@pytest.mark.parametrize(
    ("figure", "chart", "measure"),
    [("tau_histograms", "tau", "gradient"), ("furthest_histogram", "jsd", "jsd")],
)
def test_the_histograms_of_page_and_figure_are_the_same(
    run: Run, figure: str, chart: str, measure: str
) -> None:
    counts = np.array(chart_data(run.results)[chart]["measures"][measure]["counts"])
    axes = OF_RUN[figure](run).axes[0]
    shares = [patch.get_xy()[1 : 2 * bins.BINS + 1 : 2, 1] for patch in axes.patches[:2]]
    np.testing.assert_allclose(shares, counts / counts.sum(1, keepdims=True), atol=1e-12)


def test_the_violins_of_page_and_figure_have_the_same_counts(run: Run) -> None:
    violins = chart_data(run.results)["violins"]
    axes = OF_RUN["permutation_violins"](run).axes[0]
    for label in axes.get_yticklabels():
        peak, count = label.get_text().split("\nn = ")
        total = sum(sum(violin["counts"]) for violin in violins if violin["peak"] == peak)
        assert total == int(count)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 41, 500])
def test_quantiles_of_sorted_values_are_those_of_numpy_to_the_last_bit(count: int) -> None:
    draw = np.random.default_rng(count)
    for values in (draw.random((3, count)), draw.integers(0, 4, (3, count)) / 3):
        found = bins.sorted_quantiles(np.sort(values, axis=1), bins.QUANTILES)
        np.testing.assert_array_equal(found, np.quantile(values, bins.QUANTILES, axis=1))
