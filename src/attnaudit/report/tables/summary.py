"""Every mean of a run with its interval, floor, ceiling and how often it is undefined: overall, or by predicted class."""

from __future__ import annotations

from attnaudit.errors import NotApplicable
from attnaudit.report.sources import Run
from attnaudit.report.tables.table import PaperTable, number, percent, with_interval

_STATISTICS = ["mean", "low", "high", "sd", "floor", "ceiling", "relative", "nan_share", "count"]


def summary(run: Run) -> PaperTable:
    """Overall; the mean over rows where a site has several."""
    return _table(run, by_class=False)


def summary_by_class(run: Run) -> PaperTable:
    """By predicted class."""
    return _table(run, by_class=True)


def _table(run: Run, *, by_class: bool) -> PaperTable:
    frame = run.results.summaries
    frame = frame[(frame["group"] != "all") if by_class else (frame["group"] == "all")]
    if not len(frame):
        raise NotApplicable("the run holds no summary")
    first = frame.groupby(["audit", "measure", "metric", "group"], observed=True, sort=False)[
        "row"
    ].transform("min")
    keys = ["audit", "measure", "metric", *(["group"] if by_class else [])]
    part = frame.loc[frame["row"] == first, [*keys, *_STATISTICS]].rename(columns={"group": "predicted"})
    for name in ("audit", "measure", "metric"):
        part[name] = part[name].astype(str)
    if by_class:  # the classes of one number under one another
        order = {
            name: at
            for at, name in enumerate(
                dict.fromkeys(zip(part["audit"], part["measure"], part["metric"], strict=True))
            )
        }
        place = [order[key] for key in zip(part["audit"], part["measure"], part["metric"], strict=True)]
        part = part.assign(place=place).sort_values("place", kind="stable").drop(columns="place")
    part = part.reset_index(drop=True)
    words = part[[name for name in part.columns if name not in _STATISTICS]]
    printed = words.assign(
        **{
            "mean [95 % interval]": [
                with_interval(*each) for each in part[["mean", "low", "high"]].itertuples(index=False)
            ],
            "floor": [number(each) for each in part["floor"]],
            "ceiling": [number(each) for each in part["ceiling"]],
            "undefined": [percent(each) for each in part["nan_share"]],
            "n": [f"{each:d}" for each in part["count"]],
        }
    )
    what = "by predicted class" if by_class else "overall"
    return PaperTable(
        part,
        printed,
        words.shape[1],
        f"Every number of {run.title}, {what}: mean with 95 % interval, floor and ceiling.",
    )
