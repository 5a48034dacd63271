"""What Jain & Wallace 2019 claim in words, as numbers with the range that supports them."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from attnaudit.papers.finished_cells import FinishedCells
from attnaudit.papers.item import Number
from attnaudit.papers.jain_wallace_2019.trained_models import MEASURES
from attnaudit.papers.published import published
from attnaudit.papers.run_numbers import (
    paired_difference,
    rank_correlation,
)


def _noise() -> float:
    """What "comparable" may mean: the mean difference of a tau between its published versions."""
    table = published("jain_wallace_2019_table2")
    taus = table[table["metric"] == "tau"]
    return float((taus["value"] - taus["other"]).abs().mean())


NOISE = round(_noise(), 2)


def difference(first: dict[str, str], second: dict[str, str], claim: tuple[float, float]):  # type: ignore[no-untyped-def]
    """Numbers of a claim: mean over texts of tau of one model less that of another."""

    def numbers(cells: FinishedCells) -> Iterator[Number]:
        for measure in MEASURES:
            taus = [
                cells.one(**parts).column("agreement", "tau", measure) for parts in (first, second)
            ]
            value = paired_difference(*taus)
            yield Number("tau_difference", value, {"measure": measure}, claim=claim)

    return numbers


def by_class(cells: FinishedCells) -> Iterator[Number]:
    """Diabetes: positives change more when shuffled, and leave less room for other attention."""
    run = cells.one(encoder="bilstm")
    negative, positive = run.classes[:2]
    for metric, audit, column, claim in (
        ("median_change", "permutation", "tvd_median", (0.0, math.inf)),
        ("furthest_jsd", "furthest", "jsd", (-math.inf, 0.0)),
    ):
        lines = [run.line(audit, column, group=group)["mean"] for group in (positive, negative)]
        yield Number(f"{metric}_positive_less_negative", lines[0] - lines[1], claim=claim)


def trend(cells: FinishedCells) -> Iterator[Number]:
    """tau over texts of the largest weight with the furthest JSD: negative, but weak."""
    run = cells.one(encoder="bilstm")
    peak = run.source.need("permutation", "max_attention")
    tau = rank_correlation(peak, run.source.need("furthest", "jsd"))
    yield Number("tau_of_peak_with_jsd", tau, claim=(-0.5, 0.0))


def by_length(cells: FinishedCells) -> Iterator[Number]:
    """tau over texts of length with significance, and with tau itself."""
    run = cells.one(encoder="bilstm")
    lengths = run.results.columns.examples["length"].to_numpy(dtype=float)
    for measure in MEASURES:
        significant = run.source.need("agreement", "significant", measure)
        value = rank_correlation(lengths, significant)
        keys = {"measure": measure}
        yield Number("tau_of_length_with_significance", value, keys, claim=(0.0, 1.0))
        tau = run.source.need("agreement", "tau", measure)
        size = rank_correlation(lengths, np.abs(tau))
        yield Number("tau_of_length_with_size_of_tau", size, keys)
