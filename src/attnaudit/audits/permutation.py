"""Does the prediction change when the attention weights are shuffled? (Jain & Wallace 2019, algorithm 2)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.audits.counterfactual import flipped, permuted
from attnaudit.audits.declaration import SHARE, Declaration, Metric, Values, declares
from attnaudit.core import masking
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.decoding import logits_under
from attnaudit.core.option_limits import COUNT, limits


@limits(shuffles=COUNT)
@declares(
    Declaration(
        question="Does the prediction change when the attention weights are shuffled?",
        metrics={
            "tvd_median": Metric(
                "median change of the prediction over the shuffles", 0.0, "tvd_reach", SHARE
            ),
            "tvd_mean": Metric(
                "mean change of the prediction over the shuffles", 0.0, "tvd_reach", SHARE
            ),
            "tvd_reach": Metric(
                "the largest change that any attention could cause (1 with more than two classes)",
                0.0,
                1.0,
            ),
            "flipped": Metric("share of shuffles that change the decision", 0.0, 1.0),
            "max_attention": Metric("the largest weight", 0.0, 1.0),
        },
        detects=("inert",),
        blind={
            "shifted": "attention does decide here; that it points at the wrong word changes nothing"
        },
    )
)
def permutation(
    model: AttentionModel,
    record: Record,
    scores: dict[str, Tensor],
    seed: int,
    *,
    shuffles: int = 100,
) -> Values:
    """Median and mean TVD over `shuffles` shuffles of alpha over the real items, all rows jointly; the share that flips the decision.

    `tvd_reach`, the ceiling: the largest change any attention could cause, known for two classes; 1 with more. NaN without a readout.
    """
    shuffled = permuted(record.alpha, record.mask, shuffles, seed)
    logits = logits_under(model, record, shuffled)
    moved = statistics.tvd(
        masking.probabilities(logits, record.batch.classes), record.probs[:, None]
    )
    values: Values = {
        ("", "tvd_median"): moved.quantile(
            0.5, dim=1
        ),  # not .median(), which takes the lower of the middle two
        ("", "tvd_mean"): moved.mean(1),
        ("", "flipped"): flipped(logits, record).double().mean(1),
        ("", "max_attention"): record.alpha.amax(-1),
        ("", "tvd_reach"): reach(record),
    }
    return values


def reach(record: Record) -> Tensor:
    """(B,) no attention moves the prediction further: with two classes, all weight on the best item; 1 with more; NaN without a readout."""
    if record.readout is None:
        return torch.full_like(record.logits[:, 0], torch.nan)
    if (
        record.logits.shape[1] > 2
    ):  # a mixture of items can then move it further than any one of them
        return torch.ones_like(record.logits[:, 0])
    alone = masking.probabilities(record.readout, record.batch.classes)
    moved = statistics.tvd(alone, record.probs[:, None])
    return masking.fill(moved, record.mask[:, 0], -1.0).amax(-1)
