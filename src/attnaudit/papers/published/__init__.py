"""Numbers the papers print, as tables; each file's first word is the paper. Datasets are named as `attnaudit run --dataset` names them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import pandas as pd

from attnaudit import choices


@cache
def table(name: str) -> pd.DataFrame:
    """One published table by the name of its file."""
    with (files(__name__) / f"{name}.csv").open(encoding="utf-8") as stream:
        return pd.read_csv(stream, dtype={"predicted_class": str})


def corpus_of(dataset: str) -> str:
    """The corpus a choice of dataset is about, whatever its other options: "sst", "babi:task=2", "mimic:task=anemia"."""
    name, options = choices.parse(dataset)
    if name in ("babi", "babi_files"):
        return f"babi:task={options.get('task', 1)}"
    if name == "mimic":
        return f"mimic:task={options.get('task', 'diabetes')}"
    return name
