"""Does one model perform better than another? Differences with intervals, paired by example."""

from __future__ import annotations

import pandas as pd
from torch import Tensor

from attnaudit.statistics.classification import performance
from attnaudit.statistics.interval_kinds import describe_interval
from attnaudit.statistics.score_differences import (
    Ends,
    accuracy_difference,
    auc_difference,
    f1_difference,
)


def compare_performance(labels: Tensor, first: Tensor, second: Tensor) -> pd.DataFrame:
    """Compare the performance of two models on the same examples.

    Examples that are hard for both do not count as a difference: only those do on which the two
    models differ.

    Parameters
    ----------
    labels : true classes (B,).
    first, second : predicted probabilities of the two models, (B,C) each.

    Returns
    -------
    One line per metric: first, second, difference, the ends of its 95 % interval, low and high,
    and how the interval was made or why it is withheld.

    Examples
    --------
    >>> import torch
    >>> labels, probs = torch.arange(20) % 2, torch.eye(2)[torch.arange(20) % 2]
    >>> lines = compare_performance(labels, probs, probs.flip(0)).set_index("metric")
    >>> float(lines.loc["accuracy", "difference"])
    1.0
    """
    own, other = performance(labels, first), performance(labels, second)
    lines = []
    for name in own:
        ends = _ends(name, labels, first, second)
        lines.append(
            {
                "metric": name,
                "first": own[name],
                "second": other[name],
                "difference": own[name] - other[name],
                "low": ends.low,
                "high": ends.high,
                "interval": describe_interval(ends.kind),
            }
        )
    return pd.DataFrame(lines)


def _ends(name: str, labels: Tensor, first: Tensor, second: Tensor) -> Ends:
    if name == "roc_auc":
        return auc_difference(labels.numpy(), first[:, 1].numpy(), second[:, 1].numpy())
    predicted = [probs.argmax(-1).numpy() for probs in (first, second)]
    if name == "accuracy":
        return accuracy_difference(labels.numpy(), *predicted)
    # Of class 1 for two classes, and the macro average for more.
    return f1_difference(labels.numpy(), *predicted, classes=[1] if first.shape[1] == 2 else None)
