"""Our numbers of several trainings next to the published ones, with a verdict on each."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from attnaudit.papers.item import Item, Number
from attnaudit.papers.published import published
from attnaudit.papers.verdict import Verdict, judge, judge_claim, spread_of
from attnaudit.statistics.seeds import over_trainings

NUMBERS = (
    *("ours", "low", "high", "trainings", "texts_low", "texts_high", "least", "largest"),
    *("by_training", "floor", "ceiling", "published", "published_other", "published_sd", "spread"),
)
NOT_KEYS = ("dataset", "value", "other", "sd", "digits")  # of a published table
JUDGED = ("claim", "verdict", "why")


def as_frame(numbers: Sequence[tuple[str, int, Number]]) -> pd.DataFrame:
    """One line per (dataset, seed, number)."""
    return pd.DataFrame(
        [
            {
                "dataset": dataset,
                "seed": seed,
                **number.keys,
                "metric": number.metric,
                **{
                    name: getattr(number, name)
                    for name in ("value", "low", "high", "floor", "ceiling", "texts", "claim")
                },
            }
            for dataset, seed, number in numbers
        ]
    )


def compare(item: Item, ours: pd.DataFrame, corpus: str | None) -> pd.DataFrame:
    """One line per number: ours over trainings, published, and the verdict.

    Parameters
    ----------
    ours : one line per number and seed, of one dataset, from `as_frame`.
    corpus : the paper's, or None if the dataset is not one of the paper's.
    """
    keys = [
        name
        for name in ours.columns
        if name
        not in ("dataset", "seed", "value", "low", "high", "floor", "ceiling", "texts", "claim")
    ]
    printed = _published(item, corpus)
    lines = []
    for values, part in ours.groupby(["dataset", *keys], sort=False, dropna=False):
        of = dict(zip(["dataset", *keys], values, strict=True))
        lines.append({**of, **_line(item, part, _match(printed, of), corpus)})
    return pd.DataFrame(lines)


def _line(item: Item, part: pd.DataFrame, of_paper: pd.Series | None, corpus: str | None) -> dict:
    one = len(part) == 1
    line: dict[str, Any] = {
        **dict.fromkeys(NUMBERS, math.nan),
        **of_trainings(part["value"].to_numpy(dtype=float)),
        "texts_low": float(part["low"].iloc[0]) if one else math.nan,
        "texts_high": float(part["high"].iloc[0]) if one else math.nan,
        "floor": _mean(part["floor"]),
        "ceiling": _mean(part["ceiling"]),
    }
    claim = None if corpus is None else part["claim"].iloc[0]  # of other corpora it says nothing
    line["claim"] = "" if claim is None else f"{claim[0]:g} to {claim[1]:g}"
    if claim is not None:
        verdict, why = judge_claim(claim, line["low"], line["high"], line["trainings"])
    else:
        number = _number(of_paper, "value")
        other, sd = _number(of_paper, "other"), _number(of_paper, "sd")
        texts = int(part["texts"].max())
        spread = math.nan
        if of_paper is not None:
            digits = int(of_paper["digits"])
            spread = spread_of(number, other, sd, texts, stated=item.spread, digits=digits)
        line |= {
            "published": number,
            "published_other": other,
            "published_sd": sd,
            "spread": spread,
        }
        verdict, why = judge(number, line["low"], line["high"], line["trainings"], spread)
    reason = item.why_not(corpus)
    if reason and verdict is not Verdict.UNPUBLISHED:
        verdict, why = Verdict.IMPOSSIBLE, reason
    return {**line, "verdict": verdict.value, "why": why}


def of_trainings(values: np.ndarray) -> dict[str, Any]:
    """What a line says of the numbers of its trainings (K,), of which some may be NaN.

    Examples
    --------
    >>> of_trainings(np.array([0.2, math.nan]))["by_training"]
    '[0.2, null]'
    """
    known = values[~np.isnan(values)]
    mean, low, high = over_trainings(values)
    return {
        "ours": mean,
        "low": low,
        "high": high,
        "trainings": len(known),
        "least": float(known.min()) if len(known) else math.nan,
        "largest": float(known.max()) if len(known) else math.nan,
        "by_training": json.dumps([None if math.isnan(value) else value for value in values]),
    }


def not_run(item: Item, corpus: str, why: str) -> pd.DataFrame:
    """Every published number of a corpus that cannot be compared here, with the reason."""
    printed = _published(item, corpus)
    if printed is None:
        return pd.DataFrame()
    keys = [name for name in printed.columns if name not in NOT_KEYS]
    return pd.DataFrame(
        [
            {
                "dataset": corpus,
                **{key: line[key] for key in keys},
                **dict.fromkeys(NUMBERS, math.nan),
                "trainings": 0,
                "by_training": "[]",
                "published": _number(line, "value"),
                "published_other": _number(line, "other"),
                "published_sd": _number(line, "sd"),
                "claim": "",
                "verdict": Verdict.IMPOSSIBLE.value,
                "why": why,
            }
            for _, line in printed.iterrows()
        ]
    )


def _published(item: Item, corpus: str | None) -> pd.DataFrame | None:
    """The published lines of a corpus, or None if there are none."""
    if item.published is None or corpus is None:
        return None
    table = published(item.published)
    part = table[table["dataset"] == corpus]
    return part if len(part) else None


def _match(table: pd.DataFrame | None, of: dict[str, Any]) -> pd.Series | None:
    """The published line with the same keys; keys that are not published do not count."""
    if table is None:
        return None
    keys = [key for key in table.columns if key not in NOT_KEYS]
    same = np.ones(len(table), dtype=bool)
    for key in keys:
        same &= (table[key] == of.get(key, "")).to_numpy()
    # A number with a key that the table does not have is of something else.
    extra = [key for key in of if key not in (*keys, "dataset") and str(of[key]) not in ("", "nan")]
    if extra or same.sum() != 1:
        return None
    return table[same].iloc[0]


def _number(line: pd.Series | None, name: str) -> float:
    return math.nan if line is None or name not in line else float(line[name])


def _mean(values: pd.Series) -> float:
    known = values.to_numpy(dtype=float)
    known = known[~np.isnan(known)]
    return float(known.mean()) if len(known) else math.nan
