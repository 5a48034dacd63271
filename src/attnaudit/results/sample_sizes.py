"""How many examples an interval of a wanted width takes."""

from __future__ import annotations

import math

import pandas as pd

from attnaudit.results.rows import METRIC_KEY
from attnaudit.statistics import inference


def examples_needed(summary: pd.DataFrame, width: float) -> pd.DataFrame:
    """The column `needed` next to the `count` of examples there were, per line of a summary.

    Parameters
    ----------
    summary : of all examples, as `Results.summary` returns it.
    width : of the whole 95 % interval, high − low. Examples without a value count in proportion.
    """
    known = (1 - summary["nan_share"]).where(lambda share: share > 0)
    needed = [
        None if count is None or math.isnan(share) else math.ceil(count / share)
        for count, share in zip(
            (inference.examples_needed(sd, width) for sd in summary["sd"]), known, strict=True
        )
    ]
    return summary[[*METRIC_KEY, "row", "mean", "sd", "count"]].assign(
        needed=pd.array(needed, dtype="Int64")
    )
