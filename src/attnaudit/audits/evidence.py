"""Does the ranking find the words known to decide? (planted evidence, supporting facts, human rationales)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit import masking, retrieval
from attnaudit.audits.declaration import Declaration, Metric, NotApplicable, Values, declares
from attnaudit.contract import AttentionModel, Record


@declares(
    Declaration(
        question="Does the ranking find the words known to decide?",
        metrics={
            "hit": Metric("the top item is evidence", "hit@random", 1.0),
            "auprc": Metric("area under precision–recall of evidence by the ranking", "auprc@random", 1.0),
            "mass": Metric("share of weight on evidence", "share", 1.0),
            "share": Metric("share of items that are evidence", 0.0, 1.0),
        },
        detects=("shifted",),
        blind={"inert": "attention sits on the evidence, although it cannot change the prediction"},
    )
)
def evidence(model: AttentionModel, record: Record, scores: dict[str, Tensor], seed: int) -> Values:
    """hit@1, average precision and mass on the evidence, for attention (each row) and every measure; `share` is the evidence's share of
    the items, what uniform weight would have on it. NaN for an example without evidence.
    """
    if record.batch.evidence is None:
        raise NotApplicable("the data does not say which words are evidence")
    items = record.content.shape[1]
    known = masking.to_items(record.batch.evidence.double(), record.item_of_token, items) > 0
    values: Values = {}
    for name, score in scores.items():
        rows = score if score.dim() == 3 else score[:, None]
        flat, truth, mask = (
            rows.flatten(0, 1),
            *(_each_row(x, rows.shape[1]) for x in (known, record.content)),
        )
        for metric, function in _METRICS.items():
            values[name, metric] = function(flat, truth, mask).view(rows.shape[:2])
    share = masking.mean(known.double(), record.content)
    values["", "share"] = share.where(share > 0, torch.nan)
    return values


_METRICS = {"hit": retrieval.hit_at_1, "auprc": retrieval.average_precision, "mass": retrieval.mass_on}


def _each_row(values: Tensor, rows: int) -> Tensor:
    return values[:, None].expand(-1, rows, -1).flatten(0, 1)
