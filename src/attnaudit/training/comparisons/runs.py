"""Two runs side by side: their cards, and every number they share with its difference and interval."""

from __future__ import annotations

import numpy as np
import pandas as pd
import torch

from attnaudit.results.number_formats import NO_INTERVAL
from attnaudit.results.results import Results
from attnaudit.results.rows import EVERY_ROW, METRIC_KEY, mean_by_example, one_line_per_metric
from attnaudit.statistics import bootstrap
from attnaudit.statistics.inference import Spread, length_matched

KEY = [*METRIC_KEY, "row"]
MATCHED = "matched by length"
_AT_ONCE = 256  # numbers, each with its resamples by length


def side_by_side(first: Results, second: Results, *, every: bool = False) -> str:
    """Both cards and the numbers on them, as text; every: all the numbers that both have."""
    values = compare_values(first, second)
    differs = (values["low"] > 0) | (values["high"] < 0)
    values = values.assign(differs=differs.map({True: "yes", False: ""}))
    shown = values if every else values[_on_card(values, first, second)]
    counts = " and ".join(str(each.frame()["example_id"].nunique()) for each in (first, second))
    how = values["how"].iloc[0] if len(values) else "nothing in common"
    if how == MATCHED:
        how += " (so not the difference of the two means, which are over all texts)"
    data = [
        each.about.get("run", {}).get("choices", {}).get("dataset", "your texts")
        for each in (first, second)
    ]
    lines = [
        *(
            [f"The two runs are on different data, {data[0]} and {data[1]}.\n"]
            if data[0] != data[1]
            else []
        ),
        compare_cards(first, second).to_string(index=False),
        f"\nDifferences (first − second), {how}, {counts} examples:",
        shown.drop(columns="how").to_string(index=False, float_format="{:.3f}".format, na_rep="–")
        if len(shown)
        else "No number of either card is in both.",
    ]
    if single := int((values["difference"].notna() & values["low"].isna()).sum()):
        lines.append(f"\n{single} of {len(values)} differences: {NO_INTERVAL}.")
    if not every:
        lines.append(
            f"\n{differs.sum()} of {len(values)} numbers differ (the interval excludes 0); --all shows every number."
        )
    return "\n".join(lines)


def _on_card(values: pd.DataFrame, *runs: Results) -> np.ndarray:
    """Which lines stand on a card: of a site with several rows, the mean over them."""
    names = {f.name for run in runs for answer in run.card().answers for f in answer.findings}
    told = (
        values["audit"]
        + "/"
        + values["metric"]
        + ("@" + values["measure"]).where(values["measure"] != "", "")
    )
    whole = values.index.isin(one_line_per_metric(values).index)
    return told.isin(names).to_numpy() & whole


def compare_cards(first: Results, second: Results) -> pd.DataFrame:
    """One line a question: both answers."""
    pairs = zip(first.card().answers, second.card().answers, strict=True)
    return pd.DataFrame(
        [{"question": a.question, "first": a.answer, "second": b.answer} for a, b in pairs]
    )


def compare_values(first: Results, second: Results, *, seed: int = 0) -> pd.DataFrame:
    """One line a number both runs have: both means, their difference (first − second) and its 95 % interval.

    The same examples: differences example by example (`paired`). Other examples: the difference between texts of like length
    (`matched by length`), since tau, its significance and entropy depend on length.
    """
    a, b = _wide(first), _wide(second)
    shared = [column for column in a.columns if column in b.columns]
    together = a.index.intersection(b.index)
    paired = len(together) == len(a) == len(b) and _same_texts(first, second)
    if not shared:
        return pd.DataFrame(columns=[*KEY, "first", "second", "difference", "low", "high", "how"])
    lines = []
    ends: list[Spread]
    if paired:
        gaps = torch.from_numpy(
            a.loc[together, shared].to_numpy(float) - b.loc[together, shared].to_numpy(float)
        )
        interval = bootstrap(gaps, seed=seed)
        ends = [
            Spread(float(e), float(low), float(high))
            for e, low, high in zip(*interval[:3], strict=True)
        ]
    else:
        sizes = _lengths(first).loc[a.index].to_numpy(), _lengths(second).loc[b.index].to_numpy()
        ends = []
        for start in range(0, len(shared), _AT_ONCE):  # the same draws for every part
            part = shared[start : start + _AT_ONCE]
            values = [each[part].to_numpy(float) for each in (a, b)]
            ends += length_matched(values[0], sizes[0], values[1], sizes[1], seed=seed)
    for column, (difference, low, high) in zip(shared, ends, strict=True):
        means = [
            float(np.nanmean(each[column])) if each[column].notna().any() else np.nan
            for each in (a, b)
        ]
        lines.append(
            {
                **dict(zip(KEY, column, strict=True)),
                "first": means[0],
                "second": means[1],
                "difference": difference,
                "low": low,
                "high": high,
                "how": "paired" if paired else MATCHED,
            }
        )
    return pd.DataFrame(lines)


def _wide(results: Results) -> pd.DataFrame:
    """One line an example, one column a number that some example has."""
    values = results.frame()
    known = values[values["value"].notna()]
    # By hand: a pivot over four keys would make a column of every combination of them, most of which do not exist.
    parts = {
        key: part.set_index("example_id")["value"]
        for key, part in known.groupby(KEY, observed=True, sort=False)
    }
    examples = pd.Index(values["example_id"].unique())
    for key, part in known.groupby(METRIC_KEY, observed=True, sort=False):
        if part["row"].nunique() > 1:
            index = examples.get_indexer(part["example_id"])
            means = mean_by_example(index, part["value"].to_numpy(), len(examples))
            parts[*key, EVERY_ROW] = pd.Series(means, index=examples)
    return pd.DataFrame(parts, index=examples)


def _same_texts(first: Results, second: Results) -> bool:
    """The same names must stand for the same texts: by the data's fingerprint, or else by label and length."""
    prints = [
        each.about.get("run", {}).get("data", {}).get("fingerprint") for each in (first, second)
    ]
    if all(prints):
        return prints[0] == prints[1]
    examples = [
        each.frame()
        .drop_duplicates("example_id")
        .set_index("example_id")[["label", "length"]]
        .sort_index()
        for each in (first, second)
    ]
    return examples[0].equals(examples[1])


def _lengths(results: Results) -> pd.Series:
    return results.frame().drop_duplicates("example_id").set_index("example_id")["length"]
