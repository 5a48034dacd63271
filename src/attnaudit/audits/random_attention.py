"""Does the prediction change under random attention? (after Wiegreffe & Pinter 2019)"""

from __future__ import annotations

from torch import Tensor

from attnaudit.audits.counterfactual import logits_of_draws, words_of
from attnaudit.audits.declaration import Declaration, Values, declares
from attnaudit.audits.prediction_changes import change_metrics, changes, reach
from attnaudit.core import masking
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.option_limits import COUNT, limits
from attnaudit.core.simplex import random_alphas_by_example


@limits(draws=COUNT)
@declares(
    Declaration(
        question="Does the prediction change under random attention?",
        metrics=change_metrics("draws"),
        detects=("inert",),
        blind={
            "shifted": "attention does decide; that it points at the wrong word changes nothing"
        },
    )
)
def random_attention(
    model: AttentionModel, record: Record, scores: dict[str, Tensor], seed: int, *, draws: int = 100
) -> Values:
    """Decode attention to the words drawn uniformly from the simplex of each row (flat Dirichlet).

    Rows are drawn independently. Weights on marks, such as [CLS], stay: the words share what is
    left. No retraining, unlike the control in the paper. Permutation moves the model's weights;
    here the weights are others too. In long texts such draws are nearly uniform attention.

    Parameters
    ----------
    draws : int, default 100
        Monte-Carlo draws per example.

    Returns
    -------
    dict of Tensor (B,)
        As in permutation, without `max_attention`.
    """
    words = words_of(record)
    on_marks = masking.fill(record.alpha, record.mask & ~words)[:, None]
    of_words = 1 - on_marks.sum(-1, keepdim=True)  # 0 draws in a row without words

    def draw(first: int, number: int) -> Tensor:
        drawn = random_alphas_by_example(
            words, number, seed, "random attention", record.batch.example_id, first=first
        )
        return on_marks + of_words * drawn.to(record.alpha.dtype)

    logits = logits_of_draws(model, record, draws, draw)
    return {**changes(logits, record), ("", "tvd_reach"): reach(record)}
