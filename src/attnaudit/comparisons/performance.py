"""Does one model do better than another on the same examples? Differences with their interval, paired by example."""

from __future__ import annotations

import numpy as np
import pandas as pd
from torch import Tensor

from attnaudit import randomness
from attnaudit.performance import performance


def compare_performance(
    labels: Tensor, first: Tensor, second: Tensor, *, seed: int = 0, resamples: int = 500
) -> pd.DataFrame:
    """labels (B,), probs (B,C) of two models -> one line a metric: first, second, difference, low, high (95 %, percentile bootstrap).

    The same resamples for both models: what an example makes hard for both does not count as a difference.
    """
    own, other = performance(labels, first), performance(labels, second)
    draw = np.random.default_rng(randomness.derive(seed, "performance"))
    drawn = []
    for _ in range(resamples):
        picked = draw.integers(0, len(labels), len(labels))
        a, b = (performance(labels[picked], probs[picked]) for probs in (first, second))
        drawn.append({name: a.get(name, np.nan) - b.get(name, np.nan) for name in own})
    spread = pd.DataFrame(drawn)
    return pd.DataFrame(
        [
            {
                "metric": name,
                "first": own[name],
                "second": other[name],
                "difference": own[name] - other[name],
                "low": float(spread[name].quantile(0.025)),
                "high": float(spread[name].quantile(0.975)),
            }
            for name in own
        ]
    )
