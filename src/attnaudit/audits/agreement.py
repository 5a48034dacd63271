"""Does attention rank the words as measures of importance do? (Jain & Wallace 2019, table 2 and figure 2)"""

from __future__ import annotations

from itertools import combinations

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.audits.declaration import Declaration, Metric, NotApplicable, Values, declares
from attnaudit.contract import AttentionModel, Record
from attnaudit.measures import WITNESSES

BETWEEN = "between_measures"


@declares(
    Declaration(
        question="Does attention rank the words as measures of importance do?",
        metrics={
            "tau": Metric("Kendall's tau-b; 1 = the same order", "tau@random", f"tau@{BETWEEN}"),
            "p": Metric("p-value of tau, as SciPy's", 0.0, 1.0),
            "significant": Metric("p ≤ 0.05, per example", "significant@random", f"significant@{BETWEEN}"),
        },
        detects=("shifted",),
        blind={"inert": "the ranking is right, although attention cannot change the prediction"},
    )
)
def agreement(model: AttentionModel, record: Record, scores: dict[str, Tensor], seed: int) -> Values:
    """tau and its p-value of attention with every measure (B,R), and of every pair of measures: (B,).

    Floor: attention against random scores. Ceiling: the witnesses (gradient, leave_one_out) against each other, and the
    mean over their pairs, `between_measures`; no ranking can be asked to agree with them more than they agree among themselves. NaN: a constant vector has no tau.
    """
    others = [name for name in scores if name != "attention"]
    if not others:
        raise NotApplicable("no measure was computed besides attention")
    values: Values = {}
    rows = record.alpha.shape[1]
    for name in others:
        taus = [
            _tau(scores["attention"][:, r], _row(scores[name], r), record.content & record.mask[:, r])
            for r in range(rows)
        ]
        for metric in ("tau", "p", "significant"):
            values[name, metric] = torch.stack([tau[metric] for tau in taus], 1)
    pairs = {
        f"{a}|{b}": _tau(scores[a], scores[b], record.content)
        for a, b in combinations([name for name in WITNESSES if name in scores], 2)
    }
    for pair, found in pairs.items():
        values |= {(pair, metric): value for metric, value in found.items()}
    for metric in ("tau", "significant"):
        together = [found[metric] for found in pairs.values()] or [
            torch.full_like(record.logits[:, 0], torch.nan)
        ]
        values[BETWEEN, metric] = torch.stack(together, 1).nanmean(1)
    return values


def _tau(x: Tensor, y: Tensor, content: Tensor) -> dict[str, Tensor]:
    tau, p = statistics.kendall(x, y, content)
    significant = torch.where(p.isnan(), torch.nan, (p <= 0.05).to(p.dtype))
    return {"tau": tau, "p": p, "significant": significant}


def _row(scores: Tensor, row: int) -> Tensor:
    return scores if scores.dim() == 2 else scores[:, row]
