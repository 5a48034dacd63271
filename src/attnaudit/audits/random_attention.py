"""Does the prediction change under random attention? (after Wiegreffe & Pinter 2019)"""

from __future__ import annotations

from torch import Tensor

from attnaudit.audits.declaration import SHARE, Declaration, Metric, Values, declares
from attnaudit.audits.permutation import changes, reach
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.decoding import logits_under
from attnaudit.core.option_limits import COUNT, limits
from attnaudit.core.simplex import random_alpha_by_length


@limits(draws=COUNT)
@declares(
    Declaration(
        question="Does the prediction change under random attention?",
        metrics={
            "tvd_median": Metric(
                "median change of the prediction over the draws", 0.0, "tvd_reach", SHARE
            ),
            "tvd_mean": Metric(
                "mean change of the prediction over the draws", 0.0, "tvd_reach", SHARE
            ),
            "tvd_reach": Metric(
                "the largest change any attention could cause (1 with more than two classes)",
                0.0,
                1.0,
            ),
            "flipped": Metric("share of draws that change the decision", 0.0, 1.0),
        },
        detects=("inert",),
        blind={
            "shifted": "attention does decide; that it points at the wrong word changes nothing"
        },
    )
)
def random_attention(
    model: AttentionModel, record: Record, scores: dict[str, Tensor], seed: int, *, draws: int = 100
) -> Values:
    """Decode attention drawn uniformly from the simplex of each row (flat Dirichlet).

    No retraining, unlike the control in the paper. Permutation moves the model's weights; here the
    weights are others too. In long texts such draws are nearly uniform attention.

    Parameters
    ----------
    draws : int, default 100
        Monte-Carlo draws per example.

    Returns
    -------
    dict of Tensor (B,)
        `tvd_median`, `tvd_mean`, `flipped` and `tvd_reach`, as in permutation.
    """
    alternatives = random_alpha_by_length(record.mask, draws, seed).to(record.alpha.dtype)
    logits = logits_under(model, record, alternatives)
    return {**changes(logits, record), ("", "tvd_reach"): reach(record)}
