"""The scores of the examples that were kept whole: of attention and of every measure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd


def kept_scores(examples: pd.DataFrame) -> Iterator[tuple[int, dict[str, Any]]]:
    """Per example, its number of words, and measure -> scores, attention first."""
    if not len(examples):
        return
    # Not itertuples: iterating over the columns of text takes longer than all the rest.
    columns = (examples[name] for name in ("tokens", "attention", "scores"))
    for tokens, attention, scores in zip(*columns, strict=True):
        named = {score["measure"]: score["values"] for score in scores}
        yield len(tokens), {"attention": attention, **named}
