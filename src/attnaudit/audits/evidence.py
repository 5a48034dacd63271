"""Does the ranking find the words known to decide? (planted words, facts, human rationales)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.audits.declaration import SHARE, Declaration, Metric, Values, declares
from attnaudit.core import masking, randomness
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.statistics import retrieval


@declares(
    Declaration(
        question="Does the ranking find the words known to decide?",
        metrics={
            "hit": Metric("the top item is evidence; floor: a random item", "share", 1.0, SHARE),
            "auprc": Metric(
                "average precision of the ranking on the evidence", "auprc@random", 1.0, SHARE
            ),
            "token_f1": Metric(
                "F1 of as many top items as there are evidence items", "token_f1@random", 1.0, SHARE
            ),
            "iou_f1": Metric(
                "F1 over runs of items that overlap by at least half", "iou_f1@random", 1.0, SHARE
            ),
            "mass": Metric("share of weight on evidence", "share", 1.0, SHARE),
            "share": Metric("share of items that are evidence", 0.0, 1.0),
        },
        detects=("shifted",),
        blind={"inert": "attention sits on the evidence, although it cannot change the prediction"},
    )
)
def evidence(model: AttentionModel, record: Record, scores: dict[str, Tensor], seed: int) -> Values:
    """Compare the ranking of attention and every measure with the evidence, row by row.

    Returns
    -------
    dict of Tensor (B,R)
        `hit` (of the top item), `auprc`, `token_f1`, `iou_f1` and `mass` on the evidence, on the
        items the row may attend to; `share` of those items that are evidence, which uniform weights
        would have as mass and a random item as hit. NaN for a row without evidence.
    """
    if record.batch.evidence is None:
        raise NotApplicable("the data does not say which words are evidence")
    items = record.content.shape[1]
    known = masking.to_items(record.batch.evidence.double(), record.item_of_token, items) > 0
    mask = record.content[:, None] & record.mask
    truth = known[:, None].expand_as(mask)
    values: Values = {}
    keys = randomness.keys(seed, "evidence", record.batch.example_id)
    draws = randomness.uniform(keys, items).to(mask.device)
    tie_break = draws[:, None].expand_as(mask).flatten(0, 1)
    for name, score in scores.items():
        rows = score if score.dim() == 3 else score[:, None].expand_as(mask)
        flat_rows, flat_truth, flat_mask = (part.flatten(0, 1) for part in (rows, truth, mask))
        top = retrieval.top_as_many(flat_rows, flat_truth, flat_mask, tie_break)
        unknown = (flat_rows.isnan() & flat_mask).any(-1)
        for metric, compare in _ON_SETS.items():
            value = compare(top, flat_truth, flat_mask).masked_fill(unknown, torch.nan)
            values[name, metric] = value.view(mask.shape[:2])
        for metric, function in _METRICS.items():
            values[name, metric] = function(flat_rows, flat_truth, flat_mask).view(mask.shape[:2])
    share = masking.mean(truth.double(), mask)
    values["", "share"] = share.where(share > 0, torch.nan)
    return values


_METRICS = {
    "hit": retrieval.hit_at_1,
    "auprc": retrieval.average_precision,
    "mass": retrieval.mass_on,
}
_ON_SETS = {"token_f1": retrieval.token_f1, "iou_f1": retrieval.iou_f1}
