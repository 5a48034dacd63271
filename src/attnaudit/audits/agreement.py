"""Does attention rank the words as measures of importance do? (Jain & Wallace 2019, table 2)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.audits.declaration import CORRELATION, SHARE, Declaration, Metric, Values, declares
from attnaudit.audits.per_row import row_of
from attnaudit.audits.reference_measures import BETWEEN, between, compared
from attnaudit.core.contract import AttentionModel, Record


@declares(
    Declaration(
        question="Does attention rank the words as measures of importance do?",
        metrics={
            "tau": Metric(
                "Kendall's tau-b; 1 = the same order", "tau@random", f"tau@{BETWEEN}", CORRELATION
            ),
            "p": Metric("p-value of tau, as in SciPy", 0.0, 1.0),
            "significant": Metric(
                "p ≤ 0.05, per example", "significant@random", f"significant@{BETWEEN}", SHARE
            ),
            "significant_family": Metric(
                "significant over all examples (Benjamini–Hochberg, 5 %)",
                "significant_family@random",
                1.0,
                SHARE,
            ),
        },
        detects=("shifted",),
        blind={"inert": "the ranking is right, although attention cannot change the prediction"},
    )
)
def agreement(
    model: AttentionModel,
    record: Record,
    scores: dict[str, Tensor],
    seed: int,
    *,
    of: str = "attention",
) -> Values:
    """Kendall's tau of attention with every measure, row by row on the items a row may attend to.

    Floor: random scores. Ceiling: the reference measures (gradient, leave_one_out) with each other,
    `between_measures`; no ranking can be expected to agree with them more than they agree among
    themselves.

    Parameters
    ----------
    of : str, default "attention"
        Another measure that is shown as the explanation instead, such as head_mean or rollout.

    Returns
    -------
    dict of Tensor (B,R)
        `tau`, its p-value `p`, and `significant`; NaN where a constant vector has no tau.
    """
    values: Values = {}
    for first, second, name in compared(scores, of):
        values |= _tau_per_row(name, scores[first], scores[second], record)
    for metric in ("tau", "significant"):
        values[BETWEEN, metric] = between(values, scores, metric, record)
    return values


def _tau_per_row(name: str, first: Tensor, second: Tensor, record: Record) -> Values:
    rows = [
        _tau(row_of(first, row), row_of(second, row), record.content & record.mask[:, row])
        for row in range(record.mask.shape[1])
    ]
    return {(name, metric): torch.stack([row[metric] for row in rows], 1) for metric in rows[0]}


def _tau(x: Tensor, y: Tensor, content: Tensor) -> dict[str, Tensor]:
    tau, p = statistics.kendall(x, y, content)
    significant = torch.where(p.isnan(), torch.nan, (p <= 0.05).to(p.dtype))
    return {"tau": tau, "p": p, "significant": significant}
