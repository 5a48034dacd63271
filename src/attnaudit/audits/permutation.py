"""Does the prediction change when attention is shuffled? (Jain & Wallace 2019, algorithm 2)"""

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
                "the largest change any attention could cause (1 with more than two classes)",
                0.0,
                1.0,
            ),
            "flipped": Metric("share of shuffles that change the decision", 0.0, 1.0),
            "max_attention": Metric("the largest weight", 0.0, 1.0),
        },
        detects=("inert",),
        blind={
            "shifted": "attention does decide; that it points at the wrong word changes nothing"
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
    """Shuffle alpha over the real items, all rows together, and decode.

    Parameters
    ----------
    shuffles : int, default 100
        Monte-Carlo draws per example.

    Returns
    -------
    dict of Tensor (B,), `max_attention` (B,R)
        `tvd_median` and `tvd_mean` of the prediction over the shuffles, the share `flipped`, and
        the ceiling `tvd_reach`: the largest change any attention could cause, known for two
        classes, 1 with more, NaN without a readout.
    """
    shuffled = permuted(record.alpha, record.mask, shuffles, seed)
    logits = logits_under(model, record, shuffled)
    return {
        **changes(logits, record),
        ("", "max_attention"): record.alpha.amax(-1),
        ("", "tvd_reach"): reach(record),
    }


def changes(logits: Tensor, record: Record) -> Values:
    """Median and mean TVD and the share of flips (B,) over K alternatives, from logits (B,K,C)."""
    probs = masking.probabilities(logits, record.batch.classes)
    change = statistics.tvd(probs, record.probs[:, None])
    return {
        # Not .median(), which takes the lower of the two middle values.
        ("", "tvd_median"): change.quantile(0.5, dim=1),
        ("", "tvd_mean"): change.mean(1),
        ("", "flipped"): flipped(logits, record).double().mean(1),
    }


def reach(record: Record) -> Tensor:
    """The largest TVD any attention could cause (B,); NaN without a readout.

    With two classes, that of all weight on one item. With more, a mixture of items can cause more
    than any one of them: 1.
    """
    if record.readout is None:
        return torch.full_like(record.logits[:, 0], torch.nan)
    if record.logits.shape[1] > 2:
        return torch.ones_like(record.logits[:, 0])
    of_items = masking.probabilities(record.readout, record.batch.classes)
    change = statistics.tvd(of_items, record.probs[:, None])
    return masking.fill(change, record.mask[:, 0], -1.0).amax(-1)
