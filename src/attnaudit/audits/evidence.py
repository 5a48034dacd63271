"""Does the ranking find the words known to decide? (planted evidence, supporting facts, human rationales)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit import masking, retrieval
from attnaudit.audits.declaration import Declaration, Metric, Values, declares
from attnaudit.contract import AttentionModel, Record
from attnaudit.errors import NotApplicable


@declares(
    Declaration(
        question="Does the ranking find the words known to decide?",
        metrics={
            "hit": Metric("the top item is evidence; floor: what a random item would be", "share", 1.0),
            "auprc": Metric("area under precision–recall of evidence by the ranking", "auprc@random", 1.0),
            "mass": Metric("share of weight on evidence", "share", 1.0),
            "share": Metric("share of items that are evidence", 0.0, 1.0),
        },
        detects=("shifted",),
        blind={"inert": "attention sits on the evidence, although it cannot change the prediction"},
    )
)
def evidence(model: AttentionModel, record: Record, scores: dict[str, Tensor], seed: int) -> Values:
    """hit@1, average precision and mass on the evidence, for attention and every measure, row by row on the items the row may attend to;
    `share` is the evidence's share of those items, what uniform weight would have on it and a random item would hit. NaN for a row
    without evidence.
    """
    if record.batch.evidence is None:
        raise NotApplicable("the data does not say which words are evidence")
    items = record.content.shape[1]
    known = masking.to_items(record.batch.evidence.double(), record.item_of_token, items) > 0
    mask = record.content[:, None] & record.mask
    truth = known[:, None].expand_as(mask)
    values: Values = {}
    for name, score in scores.items():
        rows = score if score.dim() == 3 else score[:, None].expand_as(mask)
        for metric, function in _METRICS.items():
            flat = function(rows.flatten(0, 1), truth.flatten(0, 1), mask.flatten(0, 1))
            values[name, metric] = flat.view(mask.shape[:2])
    share = masking.mean(truth.double(), mask)
    values["", "share"] = share.where(share > 0, torch.nan)
    return values


_METRICS = {"hit": retrieval.hit_at_1, "auprc": retrieval.average_precision, "mass": retrieval.mass_on}
