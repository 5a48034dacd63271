"""Does the prediction change when attention is shuffled? (Jain & Wallace 2019, algorithm 2)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.audits.counterfactual import (
    MOST_ORDERS,
    logits_of_draws,
    number_of_orders,
    permuted,
    words_of,
)
from attnaudit.audits.declaration import Declaration, Metric, Values, declares
from attnaudit.audits.prediction_changes import change_metrics, changes, reach
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.option_limits import COUNT, limits


@limits(shuffles=COUNT)
@declares(
    Declaration(
        question="Does the prediction change when the attention weights are shuffled?",
        metrics={
            **change_metrics("shuffles"),
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
    """Shuffle the weights of the words in every row, each row on its own, and decode.

    Weights on marks, such as [CLS], stay where they are. A text whose rows have at most 120 orders
    in all (five words in one row) is decoded in every order instead of `shuffles` random ones.

    Parameters
    ----------
    shuffles : int, default 100
        Monte-Carlo draws per example.

    Returns
    -------
    dict of Tensor (B,), `max_attention` (B,R)
        Over the shuffles, median and mean of the change of the prediction, as a TVD (`tvd_median`,
        `tvd_mean`) and in the log-odds of the predicted class (`log_odds_median`, `log_odds_mean`),
        and the share `flipped`; `tvd_mean_error`, the standard error of `tvd_mean`, 0 if every
        order was decoded; and the ceiling `tvd_reach`: the largest change any attention to the
        words could cause, known for two classes, 1 with more, NaN without a readout. NaN for a text
        without words; `max_attention` is over all items.
    """
    words, ids = words_of(record), record.batch.example_id
    orders = number_of_orders(words)
    complete = orders <= MOST_ORDERS
    count = orders.where(complete, shuffles).long()
    most = int(count.max()) if len(count) else 0

    def draw(first: int, number: int) -> Tensor:
        return permuted(record.alpha, words, number, seed, ids, first=first)

    logits = logits_of_draws(model, record, most, draw)
    decoded = torch.arange(most, device=logits.device) < count[:, None]
    return {
        **changes(logits, record, decoded, complete),
        ("", "max_attention"): record.alpha.amax(-1),
        ("", "tvd_reach"): reach(record),
    }
