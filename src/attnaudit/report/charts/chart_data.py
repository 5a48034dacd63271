"""The numbers behind the charts of a page.

Histograms and means are over all examples; points are of a random sample.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from attnaudit.report.charts import bins
from attnaudit.report.charts.concentration import concentration
from attnaudit.report.charts.kept_scores import score_blocks
from attnaudit.report.charts.measure_matrix import measure_matrix
from attnaudit.report.column_view import Columns
from attnaudit.report.inline_data import packed, rounded
from attnaudit.results.results import Results

POINTS = 2000
_CLASSES = 8  # more could not be distinguished; the rarer ones together are "other classes"
Masks = dict[int, np.ndarray]  # group -> mask of its examples; -1 is all of them


def chart_data(results: Results, *, points: int = POINTS) -> dict[str, Any]:
    """What the page needs to draw every chart; a chart whose audit was not run is missing.

    Parameters
    ----------
    results
        Of a run.
    points
        In a scatter plot, at most.

    Returns
    -------
    dict
        Chart -> its numbers, as `ChartData` in static/types.d.ts describes them.
    """
    columns = Columns(results.columns)
    classes, masks, groups = _groups(columns, results.about["classes"])
    blocks = score_blocks(results.examples)
    charts = {
        "classes": classes,
        "examples": columns.count,
        "tau": _histograms(columns, masks, "agreement", "tau", bins.TAU),
        "entropy": _histograms(columns, masks, "dispersion", "entropy", bins.SHARE),
        "jsd": _histograms(columns, masks, "furthest", "jsd", bins.JSD),
        "violins": _violins(columns, masks),
        "points": _points(columns, masks, points),
        "epsilon": _epsilon(columns, masks),
        "flips": _flips(columns, masks),
        "removal": _removal(columns, masks),
        "zeros": _means(columns, masks, "dispersion", "attention", "zeros"),
        "concentration": concentration(results.examples, groups, blocks),
        "matrix": measure_matrix(results.examples, blocks),
    }
    return {name: value for name, value in charts.items() if value not in (None, [], {})}


def _groups(
    columns: Columns, names: list[str]
) -> tuple[list[str], Masks, dict[int, list[int] | None]]:
    """Names of the groups, their masks, and the predicted classes in each (None: all)."""
    numbers, counts = np.unique(columns.predicted, return_counts=True)
    kept = numbers
    if len(numbers) > _CLASSES:
        kept = np.sort(numbers[np.argsort(-counts, kind="stable")][: _CLASSES - 1])
    groups = [[int(number)] for number in kept]
    titles = [str(names[number]) for number in kept]
    if len(kept) < len(numbers):
        groups.append(np.setdiff1d(numbers, kept).tolist())
        titles.append("other classes")
    masks = {index: np.isin(columns.predicted, group) for index, group in enumerate(groups)}
    everyone = np.ones(columns.count, dtype=bool)
    return titles, {-1: everyone, **masks}, {-1: None, **dict(enumerate(groups))}


def _histograms(
    columns: Columns, masks: Masks, audit: str, metric: str, span: bins.Span
) -> dict[str, Any]:
    """measure -> counts by class, number of undefined values, mean and median."""
    measures = {}
    for measure in columns.measures(audit, metric):
        column = columns(audit, measure, metric)
        if column is None or not np.isfinite(column).any():
            continue
        measures[measure or metric] = {
            "counts": [
                bins.histogram(column[mask], span).tolist()
                for group, mask in masks.items()
                if group >= 0
            ],
            "undefined": int(np.isnan(column).sum()),
            "mean": rounded(np.nanmean(column)),
            "median": rounded(np.nanmedian(column)),
        }
    return {"low": span[0], "high": span[1], "measures": measures} if measures else {}


def _violins(columns: Columns, masks: Masks) -> list[dict[str, Any]]:
    """Distribution of the median change under permutation, by the largest weight."""
    change = columns("permutation", "", "tvd_median")
    peak = columns("permutation", "", "max_attention")
    if change is None or peak is None:
        return []
    level = bins.peak_bin(peak)
    violins = []
    for index, name in enumerate(bins.PEAKS):
        for group, mask in masks.items():
            part = change[mask & (level == index) & np.isfinite(change) & np.isfinite(peak)]
            if group >= 0 and len(part):
                violins.append(
                    {
                        "peak": name,
                        "class": group,
                        "counts": bins.histogram(part, bins.SHARE).tolist(),
                        "median": rounded(np.median(part)),
                    }
                )
    return violins


def _points(columns: Columns, masks: Masks, most: int) -> dict[str, Any]:
    """The same examples in every scatter plot: all, or a random sample of `most`."""
    keys = {
        "max_attention": ("permutation", "max_attention"),
        "change": ("permutation", "tvd_median"),
        "jsd": ("furthest", "jsd"),
        "delta_alpha": ("top_item", "delta_alpha"),
        "delta_js": ("top_item", "delta_js"),
    }
    stored = {name: columns(audit, "", metric) for name, (audit, metric) in keys.items()}
    present = {name: column for name, column in stored.items() if column is not None}
    if not present:
        return {}
    count = columns.count
    sample = np.arange(count)
    if count > most:
        sample = np.sort(np.random.default_rng(0).permutation(count)[:most])
    groups = np.zeros(count)
    for group, mask in masks.items():
        if group >= 0:
            groups[mask] = group
    return {
        "class": packed(groups[sample], "<u1"),
        "count": len(sample),
        **{name: packed(column[sample]) for name, column in present.items()},
    }


def _epsilon(columns: Columns, masks: Masks) -> list[dict[str, Any]]:
    """Per ε: mean and quartiles of the furthest JSD, and the mean certified bound."""
    lines = []
    for name in sorted(_epsilons(columns), key=float):
        jsd = columns("epsilon_curve", "", f"jsd_{name}")
        upper = columns("epsilon_curve", "", f"upper_{name}")
        if jsd is None or upper is None:
            continue
        for group, mask in masks.items():
            part = jsd[mask & ~np.isnan(jsd)]
            if len(part):
                low, median, high = bins.sorted_quantiles(np.sort(part), bins.QUARTILES)
                lines.append(
                    {
                        "epsilon": float(name),
                        "class": group,
                        "mean": rounded(part.mean()),
                        "low": rounded(low),
                        "median": rounded(median),
                        "high": rounded(high),
                        "upper": rounded(np.nanmean(upper[mask])),
                    }
                )
    return lines


def _epsilons(columns: Columns) -> list[str]:
    metrics = columns.metrics("epsilon_curve")
    return [name.removeprefix("jsd_") for name in metrics if name.startswith("jsd_")]


def _flips(columns: Columns, masks: Masks) -> list[dict[str, Any]]:
    """Does the decision flip without the top item, and without a random one? Four shares."""
    names = ("both", "only_top", "only_random", "neither")
    columns_by_name = {name: columns("top_item", "", f"flips_{name}") for name in names}
    cells = {name: column for name, column in columns_by_name.items() if column is not None}
    if len(cells) < len(names):
        return []
    return [
        {
            "class": group,
            "count": int(mask.sum()),
            **{name: rounded(_mean(column[mask])) for name, column in cells.items()},
        }
        for group, mask in masks.items()
    ]


def _removal(columns: Columns, masks: Masks) -> list[dict[str, Any]]:
    """Per measure: quantiles of the share of items removed until the decision flips.

    1 where it never flips, so that all measures are over the same examples; otherwise the exact
    minimum would not be a minimum.
    """
    lines = []
    for measure in columns.measures("flip_fraction", "removed"):
        removed = columns("flip_fraction", measure, "removed")
        flipped = columns("flip_fraction", measure, "flipped")
        if removed is None or flipped is None:
            continue
        for group, mask in masks.items():
            part = removed[mask & ~np.isnan(removed)]
            if len(part):
                values = bins.sorted_quantiles(np.sort(part), bins.QUANTILES)
                quantiles = zip(bins.QUANTILES, values, strict=True)
                lines.append(
                    {
                        "measure": measure,
                        "class": group,
                        "flipped": int(np.nansum(flipped[mask])),
                        "count": int(mask.sum()),
                        **{f"q{round(100 * share)}": rounded(value) for share, value in quantiles},
                    }
                )
    return lines


def _means(
    columns: Columns, masks: Masks, audit: str, measure: str, metric: str
) -> list[dict[str, Any]]:
    column = columns(audit, measure, metric)
    if column is None:
        return []
    return [{"class": group, "mean": rounded(_mean(column[mask]))} for group, mask in masks.items()]


def _mean(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan
