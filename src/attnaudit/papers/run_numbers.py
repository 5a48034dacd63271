"""Numbers that several papers print, read from finished runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from attnaudit.data.describe import describe, together
from attnaudit.papers.finished_cells import FinishedCells, FinishedRun
from attnaudit.papers.item import Number

FEW_CLASSES = 3  # more are printed together, as Jain & Wallace do


def of_mean(metric: str, line: dict[str, float], **keys: str) -> Number:
    """A mean of a run's summary as a number."""
    return Number(
        metric,
        line["mean"],
        keys,
        line["low"],
        line["high"],
        line["floor"],
        line["ceiling"],
        int(line["texts"]),
    )


def parts_of(run: FinishedRun, *names: str) -> dict[str, str]:
    """The parts of a run by name, without options: encoder, scorer, projection."""
    return {name: run.part(name) for name in names}


def groups_of(run: FinishedRun) -> list[tuple[str, str]]:
    """(number, name) of each predicted class; all together if there are more than three."""
    if len(run.classes) > FEW_CLASSES:
        return [("all", "all")]
    return [(str(number), name) for number, name in enumerate(run.classes)]


def tau_by_class(
    runs: Sequence[FinishedRun], measures: Sequence[str], *parts: str
) -> Iterator[Number]:
    """tau with each measure, its sd and its share of significant texts, by predicted class.

    Parameters
    ----------
    *parts : of the model that are keys of the table.
    """
    for run in runs:
        for number, group in groups_of(run):
            for measure in measures:
                keys = {**parts_of(run, *parts), "predicted_class": number, "measure": measure}
                line = run.line("agreement", "tau", measure, group)
                yield of_mean("tau", line, **keys)
                yield Number("tau_sd", line["sd"], keys, texts=int(line["texts"]))
                share = run.line("agreement", "significant", measure, group)
                yield of_mean("significant", share, **keys)


def corpus_counts(cells: FinishedCells) -> Iterator[Number]:
    """Sizes, mean length and vocabulary of the corpus, as `attnaudit data describe` counts them."""
    prepared = cells.runs[0].details["choices"]["dataset"]  # as the paper does
    description = describe(prepared, data_dir=cells.runs[0].data_dir)
    published = description.published
    train = description.splits["train"]
    if published is not None and published.train_holds_dev:
        train = together(train, description.splits["dev"])
    for name, split in (("train", train), ("test", description.splits["test"])):
        if len(split.classes) <= FEW_CLASSES:
            for number, count in enumerate(split.classes.values()):
                yield Number(f"{name}_{number}", count)
        yield Number(name, split.examples)
    yield Number("mean_length", float("nan") if train.mean_length is None else train.mean_length)
    yield Number("vocabulary", description.vocabulary)


def paired_difference(first: pd.Series, second: pd.Series) -> float:
    """Mean of first − second over the texts that both have; NaN if there are none."""
    both = pd.concat([first, second], axis=1).dropna()
    return float((both.iloc[:, 0] - both.iloc[:, 1]).mean()) if len(both) else float("nan")


def rank_correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Kendall's tau-b of two lists of numbers; NaN if one is constant or too short."""
    from scipy.stats import kendalltau

    known = ~(np.isnan(x) | np.isnan(y))
    return float(kendalltau(x[known], y[known])[0]) if known.sum() > 1 else float("nan")
