"""The figures of Meister et al. 2021: their numbers and drawings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from attnaudit.papers.finished_cells import FinishedCells
from attnaudit.papers.item import Number
from attnaudit.papers.meister_2021.trained_models import (
    DISPERSION,
    INPUTS,
    model_keys,
)
from attnaudit.papers.run_numbers import of_mean
from attnaudit.report.figures.table_points import table_lines, table_points


def tau_with(*measures: str):  # type: ignore[no-untyped-def]
    """tau of attention with the importance of inputs and of states."""

    def numbers(cells: FinishedCells) -> Iterator[Number]:
        for run in cells.runs:
            for measure in measures:
                line = run.line("agreement", "tau", measure)
                yield of_mean("tau", line, **model_keys(run), measure=measure)

    return numbers


def entropies(cells: FinishedCells) -> Iterator[Number]:
    """Entropy of attention and of the importance of inputs, for every projection."""
    for run in cells.runs:
        for measure in ("attention", *INPUTS):
            line = run.line(DISPERSION, "entropy", measure)
            yield of_mean("entropy", line, **model_keys(run), measure=measure)


def draw_by_model(cells: Sequence[FinishedCells], table: pd.DataFrame) -> Any:
    """Figures 1, 2 and 4: a point per model and measure."""
    projections = table["projection"].str.replace(":lam=", " ")
    named = table.assign(model=table["encoder"] + ", " + projections)
    return table_points(named, "model", "measure", named["metric"].iloc[0])


def draw_over_lam(cells: Sequence[FinishedCells], table: pd.DataFrame) -> Any:
    """Figure 3: tau against lam, a line per model and measure."""
    swept = table[table["projection"].str.startswith("sparsegen")]
    lams = swept["projection"].str.removeprefix("sparsegen:lam=").astype(float)
    named = swept.assign(lam=lams, line=swept["encoder"] + ", " + swept["measure"])
    return table_lines(named, "lam", "line", "tau with attention")
