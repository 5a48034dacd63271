"""Does the top word speak for the decision, or against it? (Liu et al. 2022)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.audits.declaration import SHARE, Declaration, Metric, Values, declares
from attnaudit.audits.deletions import (
    log_odds_without_each,
    ranks,
    rounding_of,
    whole_log_odds,
    words_of,
)
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import NotApplicable

RANKINGS = "attention+gradient+random"
MARGIN = 0.05  # of the log-odds: a smaller rise without the top word is no violation


@declares(
    Declaration(
        question="Does the top word speak for the decision, or against it?",
        metrics={
            "violation": Metric(
                "without the top word the predicted class becomes clearly more likely; lower is "
                "better",
                "violation@random",
                0.0,
                SHARE,
            ),
            "supports": Metric(
                "without the top word the predicted class becomes clearly less likely",
                "supports@random",
                1.0,
                SHARE,
            ),
            "support": Metric(
                "drop of the log-odds of the predicted class without the top word",
                "support@random",
                "support_best",
            ),
            "support_best": Metric(
                "the largest drop of the log-odds without any one word",
                "support@random",
                "support_best",
            ),
        },
        detects=("shifted",),
        blind={
            "inert": "the word is the right one, although attention cannot change the prediction"
        },
    )
)
def polarity(
    model: AttentionModel,
    record: Record,
    scores: dict[str, Tensor],
    seed: int,
    *,
    rankings: str = RANKINGS,
) -> Values:
    """Leave out the top word of each ranking and look at the sign of the change.

    It needs no pass of its own: the texts without each word are those of `leave_one_out`.

    Parameters
    ----------
    rankings : str
        Measures whose top word is tested, joined by +; those not computed are skipped. Ties are
        broken at random.

    Returns
    -------
    dict of Tensor (B,)
        `support`, the log-odds of ŷ minus those without the top word; `violation`, 1 if support is
        negative by more than 5 % of the log-odds: with one word less, attention to the others
        grows, so that leaving out any filler raises the log-odds a little. `supports`, 1 if it is
        positive by more than that. `support_best`, the
        largest support of any word. NaN where nothing would be left of the text, or a score is
        unknown.
    """
    names = [name for name in str(rankings).split("+") if name in scores]
    if not names:
        raise NotApplicable(f"none of the rankings {rankings} was computed")
    words = words_of(record)
    least = torch.maximum(rounding_of(record), MARGIN * whole_log_odds(record).abs())
    support = whole_log_odds(record)[:, None] - log_odds_without_each(model, record)
    nothing = ~words.any(-1)
    values: Values = {}
    for name in names:
        rank, unknown = ranks(record, scores[name], seed)
        top = rank.argmin(-1, keepdim=True)
        value = support.gather(1, top)[:, 0].masked_fill(unknown | nothing, torch.nan)
        values[name, "support"] = value
        for metric, is_true in (("violation", value < -least), ("supports", value > least)):
            values[name, metric] = is_true.double().masked_fill(value.isnan(), torch.nan)
    best = support.masked_fill(~words | support.isnan(), -torch.inf).amax(-1)
    values["", "support_best"] = best.masked_fill(best.isinf(), torch.nan)
    return values
