"""The numbers behind the charts, from the stored values: counted over all examples, drawn as points for a sample of them."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from attnaudit.report.charts.concentration import concentration
from attnaudit.report.charts.measure_matrix import measure_matrix
from attnaudit.report.column_view import Columns
from attnaudit.report.inline_data import packed, rounded
from attnaudit.results.results import Results

POINTS = 2000
_CLASSES = 8  # more would be told apart by nobody; the rarer ones together are "other classes"
_BINS = 40
_WIDEST = (0.0, 0.25, 0.5, 0.75, 1.0)  # bins of the largest weight, as in Jain & Wallace 2019
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def chart_data(results: Results, *, points: int = POINTS) -> dict[str, Any]:
    """What the page needs to draw every plot; a chart whose audit did not run is missing."""
    columns = Columns(results.values)
    classes, member, numbers = _groups(columns, results.about["classes"])
    found = {
        "classes": classes,
        "examples": len(columns.ids),
        "tau": _histograms(columns, member, "agreement", "tau", (-1.0, 1.0)),
        "entropy": _histograms(columns, member, "dispersion", "entropy", (0.0, 1.0)),
        "jsd": _histograms(columns, member, "furthest", "jsd", (0.0, math.log(2))),
        "violins": _violins(columns, member),
        "points": _points(columns, member, points),
        "epsilon": _epsilon(columns, member),
        "flips": _flips(columns, member),
        "removal": _removal(columns, member),
        "zeros": _means(columns, member, "dispersion", "attention", "zeros"),
        "concentration": concentration(results.examples, numbers),
        "matrix": measure_matrix(results.examples),
    }
    return {name: value for name, value in found.items() if value not in (None, [], {})}


def _groups(
    columns: Columns, names: list[str]
) -> tuple[list[str], dict[int, np.ndarray], dict[int, list[int] | None]]:
    """The classes that are told apart; group -> which examples, and group -> which predicted classes; -1 is all of them."""
    numbers, counts = np.unique(columns.predicted, return_counts=True)
    kept = numbers if len(numbers) <= _CLASSES else np.sort(numbers[np.argsort(-counts, kind="stable")][: _CLASSES - 1])  # fmt: skip
    grouped = [[int(number)] for number in kept]
    shown = [str(names[number]) for number in kept]
    if len(kept) < len(numbers):
        grouped.append(np.setdiff1d(numbers, kept).tolist())
        shown.append("other classes")
    members = {at: np.isin(columns.predicted, each) for at, each in enumerate(grouped)}
    everyone = np.ones(len(columns.ids), dtype=bool)
    return shown, {-1: everyone, **members}, {-1: None, **dict(enumerate(grouped))}


def _histograms(
    columns: Columns,
    member: dict[int, np.ndarray],
    audit: str,
    metric: str,
    span: tuple[float, float],
) -> dict[str, Any]:
    """measure -> counts by class; how many are undefined, the mean and the median of all."""
    measures = {}
    for measure in columns.measures(audit, metric):
        column = columns(audit, measure, metric)
        if column is None or not np.isfinite(column).any():
            continue
        inside = np.clip(column, *span)  # rounding may step over an end
        measures[measure or metric] = {
            "counts": [
                np.histogram(inside[who & ~np.isnan(column)], _BINS, span)[0].tolist()
                for group, who in member.items()
                if group >= 0
            ],
            "undefined": int(np.isnan(column).sum()),
            "mean": rounded(np.nanmean(column)),
            "median": rounded(np.nanmedian(column)),
        }
    return {"low": span[0], "high": span[1], "measures": measures} if measures else {}


def _violins(columns: Columns, member: dict[int, np.ndarray]) -> list[dict[str, Any]]:
    """How the median change under permutation is spread, by the largest weight."""
    change, widest = (
        columns("permutation", "", "tvd_median"),
        columns("permutation", "", "max_attention"),
    )
    if change is None or widest is None:
        return []
    place = np.clip(np.digitize(widest, _WIDEST) - 1, 0, len(_WIDEST) - 2)
    found = []
    for at, (low, high) in enumerate(pairwise(_WIDEST)):
        for group, who in member.items():
            inside = who & (place == at) & np.isfinite(change) & np.isfinite(widest)
            if group >= 0 and inside.any():
                counts = np.histogram(np.clip(change[inside], 0, 1), _BINS, (0.0, 1.0))[0]
                found.append({"widest": f"{low:g}–{high:g}", "class": group, "counts": counts.tolist(),
                              "median": rounded(np.median(change[inside]))})  # fmt: skip
    return found


def _points(columns: Columns, member: dict[int, np.ndarray], most: int) -> dict[str, Any]:
    """The same examples in every scatter: all, or a random sample of `most`."""
    wanted = {
        "max_attention": ("permutation", "max_attention"),
        "change": ("permutation", "tvd_median"),
        "jsd": ("furthest", "jsd"),
        "delta_alpha": ("top_item", "delta_alpha"),
        "delta_js": ("top_item", "delta_js"),
    }
    known = {name: columns(audit, "", metric) for name, (audit, metric) in wanted.items()}
    present = {name: column for name, column in known.items() if column is not None}
    if not present:
        return {}
    count = len(columns.ids)
    chosen = np.arange(count) if count <= most else np.sort(np.random.default_rng(0).permutation(count)[:most])  # fmt: skip
    group = np.zeros(count)
    for at, who in member.items():
        if at >= 0:
            group[who] = at
    return {
        "class": packed(group[chosen], "<u1"),
        "count": len(chosen),
        **{name: packed(column[chosen]) for name, column in present.items()},
    }


def _epsilon(columns: Columns, member: dict[int, np.ndarray]) -> list[dict[str, Any]]:
    """ε -> furthest JSD found: mean, quartiles; and the mean of what is certified."""
    found = []
    for name in sorted(_epsilons(columns), key=float):
        jsd, upper = (
            columns("epsilon_curve", "", f"jsd_{name}"),
            columns("epsilon_curve", "", f"upper_{name}"),
        )
        if jsd is None or upper is None:
            continue
        for group, who in member.items():
            part = jsd[who & ~np.isnan(jsd)]
            if len(part):
                low, middle, high = np.quantile(part, (0.25, 0.5, 0.75))
                found.append({"epsilon": float(name), "class": group, "mean": rounded(part.mean()), "low": rounded(low),
                              "median": rounded(middle), "high": rounded(high),
                              "upper": rounded(np.nanmean(upper[who]))})  # fmt: skip
    return found


def _epsilons(columns: Columns) -> list[str]:
    return [
        name.removeprefix("jsd_")
        for name in columns.metrics("epsilon_curve")
        if name.startswith("jsd_")
    ]


def _flips(columns: Columns, member: dict[int, np.ndarray]) -> list[dict[str, Any]]:
    """Does the decision flip without the top item, and without a random one? Shares of examples, the four cells of the table."""
    names = ("both", "only_top", "only_random", "neither")
    cells = {name: columns("top_item", "", f"flips_{name}") for name in names}
    if any(cell is None for cell in cells.values()):
        return []
    return [
        {"class": group, "count": int(who.sum()), **{n: rounded(_mean(c[who])) for n, c in cells.items() if c is not None}}
        for group, who in member.items()
    ]  # fmt: skip


def _removal(columns: Columns, member: dict[int, np.ndarray]) -> list[dict[str, Any]]:
    """measure -> quantiles of the share of items removed until the decision flips, 1 where it never does: of the same examples for every
    measure, or the exact minimum would not be one."""
    found = []
    for measure in columns.measures("flip_fraction", "removed"):
        column, flips = (columns("flip_fraction", measure, name) for name in ("removed", "flipped"))
        if column is None or flips is None:
            continue
        for group, who in member.items():
            part = column[who & ~np.isnan(column)]
            if len(part):
                ends = {f"q{round(100 * q)}": rounded(v) for q, v in zip(_QUANTILES, np.quantile(part, _QUANTILES), strict=True)}  # fmt: skip
                found.append({"measure": measure, "class": group, "flipped": int(np.nansum(flips[who])), "count": int(who.sum()), **ends})  # fmt: skip
    return found


def _means(
    columns: Columns, member: dict[int, np.ndarray], audit: str, measure: str, metric: str
) -> list[dict[str, Any]]:
    column = columns(audit, measure, metric)
    if column is None:
        return []
    return [{"class": group, "mean": rounded(_mean(column[who]))} for group, who in member.items()]


def _mean(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan
