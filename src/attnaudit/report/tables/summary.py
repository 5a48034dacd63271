"""Every mean of a run with its interval, floor and ceiling: overall, by class or by row."""

from __future__ import annotations

import pandas as pd

from attnaudit.core.errors import NotApplicable
from attnaudit.report.run_sources import Run
from attnaudit.report.tables.table import PaperTable, number, percent, with_interval
from attnaudit.results.groups import class_of_group
from attnaudit.results.number_formats import TOO_FEW
from attnaudit.results.rows import EVERY_ROW, has_several_rows, one_line_per_metric

_STATISTICS = [
    "mean",
    "low",
    "high",
    "interval",
    "sd",
    "floor",
    "ceiling",
    "relative",
    "relative_low",
    "relative_high",
    "nan_share",
    "count",
]


def summary(run: Run) -> PaperTable:
    """Overall; the mean over attention rows."""
    frame = run.results.summaries
    return _table(run, one_line_per_metric(frame[frame["group"] == "all"]), [], "overall")


def summary_by_class(run: Run) -> PaperTable:
    """By predicted class; the mean over attention rows."""
    frame = run.results.summaries
    classes = frame["group"].astype(str).map(class_of_group)
    part = one_line_per_metric(frame[classes.notna()].assign(group=classes))
    part = part.rename(columns={"group": "predicted"})
    return _table(run, part, ["predicted"], "by predicted class")


def summary_by_row(run: Run) -> PaperTable:
    """By attention row, with its name (layer and head); only numbers that are stored by row."""
    frame = run.results.summaries
    part = frame[(frame["group"] == "all") & (frame["row"] != EVERY_ROW)]
    several = has_several_rows(part)
    if not several.any():
        raise NotApplicable("the run has one row of attention")
    part = part[several]
    named = part.assign(row_name=part["row"].map(run.results.row_name))
    return _table(run, named, ["row_name"], "by row of attention")


def _table(run: Run, part: pd.DataFrame, by: list[str], scope: str) -> PaperTable:
    """by: the column in which the lines of one number differ, if any."""
    if not len(part):
        raise NotApplicable("the run holds no summary")
    part = part[["audit", "measure", "metric", *by, *_STATISTICS]].copy()
    for name in ("audit", "measure", "metric"):
        part[name] = part[name].astype(str)
    if by:  # the lines of one number under one another
        keys = list(zip(part["audit"], part["measure"], part["metric"], strict=True))
        order = {key: index for index, key in enumerate(dict.fromkeys(keys))}
        part = part.iloc[sorted(range(len(keys)), key=lambda line: order[keys[line]])]
    part = part.reset_index(drop=True)
    words = part[[name for name in part.columns if name not in _STATISTICS]]
    printed = words.rename(columns={"row_name": "row"}).assign(
        **{
            "mean [95 % interval]": [
                with_interval(*line[:3], why_not=_reason(line.interval))
                for line in part[["mean", "low", "high", "interval"]].itertuples(index=False)
            ],
            "floor": [number(value) for value in part["floor"]],
            "ceiling": [number(value) for value in part["ceiling"]],
            "undefined": [percent(share) for share in part["nan_share"]],
            "n": [f"{count:d}" for count in part["count"]],
        }
    )
    return PaperTable(
        part,
        printed,
        words.shape[1],
        f"Every number of {run.title}, {scope}: mean with 95 % interval, floor and ceiling.",
    )


def _reason(interval: str) -> str:
    """Why an interval is withheld; older runs do not say."""
    return interval.removeprefix("withheld: ") or TOO_FEW
