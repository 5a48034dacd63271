"""Which sources explain the answer's probability when random ones are left out? (ContextCite)"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.option_limits import COUNT, Number, limits
from attnaudit.measures.citations.answer_values import kept_log_prob
from attnaudit.measures.citations.source_sets import source_sets


@limits(samples=COUNT, penalty=Number(least=0))
def surrogate(
    model: AttentionModel, record: Record, seed: int, *, samples: int = 32, penalty: float = 0.01
) -> Tensor:
    """Weights of a sparse linear model of the log-probability (Cohen-Wang et al. 2024).

    Fitted by Lasso to sets in which every source is left out with probability ½. Of their method,
    the columns are standardised and the penalty is 0.01; the value that is fitted is the mean
    log-probability here, the log-odds of the whole answer there.

    Parameters
    ----------
    samples : int, default 32
        Sets of sources; half of all possible sets if these are fewer.
    penalty : float, default 0.01
        Of Lasso.

    Returns
    -------
    Tensor (B,N)
        By how much the log-probability per token rises with the source.
    """
    sets, _ = source_sets(record, seed, count=samples)
    values = kept_log_prob(model, record, sets.keep)
    scores = torch.full(record.content.shape, torch.nan, dtype=torch.float64)
    for index in range(len(scores)):
        sources, real = record.content[index].cpu(), sets.real[index].cpu()
        kept = sets.keep[index].cpu()[real][:, sources].double().numpy()
        found = values[index].cpu()[real].numpy()
        scores[index, sources] = torch.from_numpy(_lasso(kept, found, penalty))
    return scores.to(record.alpha.device)


def _lasso(kept: np.ndarray, values: np.ndarray, penalty: float) -> np.ndarray:
    """Coefficients (sources,) on the scale of kept = 0 or 1."""
    from sklearn.linear_model import Lasso

    spread = kept.std(0)
    constant = spread == 0  # in all sets, or in none: nothing is known of its effect
    standard = (kept - kept.mean(0)) / np.where(constant, 1.0, spread)
    fitted = Lasso(alpha=penalty, max_iter=100_000).fit(standard, values)
    return np.where(constant, np.nan, fitted.coef_ / np.where(constant, 1.0, spread))
