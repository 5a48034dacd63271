"""Published cells that no stored table is next to, each with the reason; for reproduction_page.py.

A mean over all corpora of a paper stands next to ours over those that are stored, without a
verdict.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

import pandas as pd

from attnaudit.data.corpus_info import corpus_of
from attnaudit.papers.comparison import JUDGED, NOT_KEYS, NUMBERS
from attnaudit.papers.conditions import corpus_of_paper
from attnaudit.papers.item import Item
from attnaudit.papers.published import published
from attnaudit.training.presets import preset_dataset

ALL = "all"
_NOT_HERE = "the corpus is not at hand"
WHY = {
    "adr_tweets": _NOT_HERE,
    "amazon": _NOT_HERE,
    "babi:task=3": "a tenth of its training stories is at hand",
    "cnn_qa": _NOT_HERE,
    "imdb_ten_classes": _NOT_HERE,
    "mimic:task=anemia": _NOT_HERE,
    "mimic:task=diabetes": _NOT_HERE,
    "yahoo": _NOT_HERE,
    "yelp": _NOT_HERE,
}
NOT_RUN = "not run"
_SETTINGS = {"lam": "a setting, not a result"}


def uncompared(item: Item, tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The published lines of an item that have no verdict, with `ours` and `why`.

    Parameters
    ----------
    item : with published numbers.
    tables : as `attnaudit reproduce` stored them, one per dataset.
    """
    printed = published(str(item.published))
    keys = [name for name in printed.columns if name not in NOT_KEYS]
    done = {
        (_corpus(item, line["dataset"]), *(_word(line.get(key, "")) for key in keys))
        for table in tables
        for line in table.to_dict("records")
        if not math.isnan(line["published"])
    }
    pooled = _pooled(item, tables, keys)
    lines = []
    for line in printed.to_dict("records"):
        cell = (line["dataset"], *(_word(line[key]) for key in keys))
        if cell in done:
            continue
        why = _SETTINGS.get(line["metric"]) or WHY.get(line["dataset"], NOT_RUN)
        if line["dataset"] == ALL:
            corpora = list(dict.fromkeys(str(table["dataset"].iloc[0]) for table in tables))
            why = f"ours over {', '.join(corpora)} only" if cell in pooled else NOT_RUN
        lines.append({**line, "ours": pooled.get(cell, math.nan), "why": why})
    return pd.DataFrame(lines, columns=[*printed.columns, "ours", "why"])


def _pooled(
    item: Item, tables: Sequence[pd.DataFrame], keys: Sequence[str]
) -> Mapping[tuple[str, ...], float]:
    """Numbers of all stored corpora together: means over the trainings that each has, by cell."""
    if item.pool is None or not tables:
        return {}
    each = min(len(json.loads(part)) for table in tables for part in table["by_training"])
    raw = [
        {**line, "seed": seed, "value": math.nan if value is None else value}
        for table in tables
        for line in table.drop(columns=[*NUMBERS, *JUDGED])
        .assign(by_training=table["by_training"])
        .to_dict("records")
        for seed, value in enumerate(json.loads(line["by_training"])[:each])
    ]
    together = item.pool(pd.DataFrame(raw))
    means = together.groupby(keys, sort=False)["value"].mean()
    return {
        (ALL, *map(str, index if isinstance(index, tuple) else (index,))): float(value)
        for index, value in means.items()
    }


def _corpus(item: Item, dataset: str) -> str:
    """As the published table names it; the name itself if it is no corpus of the paper."""
    chosen = preset_dataset(item.preset, dataset)
    return corpus_of_paper(chosen, item.preset) or corpus_of(dataset)


def _word(value: object) -> str:
    return "" if value != value else str(value)
