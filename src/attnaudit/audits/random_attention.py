"""Does the prediction change under attention drawn at random? (the control of Wiegreffe & Pinter 2019, without retraining)"""

from __future__ import annotations

from torch import Tensor

from attnaudit import statistics
from attnaudit.audits.counterfactual import flipped
from attnaudit.audits.declaration import SHARE, Declaration, Metric, Values, declares
from attnaudit.audits.permutation import reach
from attnaudit.core import masking
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.decoding import logits_under
from attnaudit.core.option_limits import COUNT, limits
from attnaudit.core.simplex import random_alpha_by_length


@limits(draws=COUNT)
@declares(
    Declaration(
        question="Does the prediction change under attention drawn at random?",
        metrics={
            "tvd_median": Metric(
                "median change of the prediction over the draws", 0.0, "tvd_reach", SHARE
            ),
            "tvd_mean": Metric(
                "mean change of the prediction over the draws", 0.0, "tvd_reach", SHARE
            ),
            "tvd_reach": Metric(
                "the largest change that any attention could cause (1 with more than two classes)",
                0.0,
                1.0,
            ),
            "flipped": Metric("share of draws that change the decision", 0.0, 1.0),
        },
        detects=("inert",),
        blind={
            "shifted": "attention does decide here; that it points at the wrong word changes nothing"
        },
    )
)
def random_attention(
    model: AttentionModel, record: Record, scores: dict[str, Tensor], seed: int, *, draws: int = 100
) -> Values:
    """Median and mean TVD over `draws` attentions, every row even on its simplex (Dirichlet 1); the share that flips the decision.

    Permutation keeps the weights and moves them; here they are others too. Long texts make such draws nearly uniform.
    """
    alternatives = random_alpha_by_length(record.mask, draws, seed).to(record.alpha.dtype)
    logits = logits_under(model, record, alternatives)
    moved = statistics.tvd(
        masking.probabilities(logits, record.batch.classes), record.probs[:, None]
    )
    return {
        ("", "tvd_median"): moved.quantile(0.5, dim=1),
        ("", "tvd_mean"): moved.mean(1),
        ("", "flipped"): flipped(logits, record).double().mean(1),
        ("", "tvd_reach"): reach(record),
    }
