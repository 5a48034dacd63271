"""Would uniform attention make the same decision, without retraining? (Vashishth et al. 2019)"""

from __future__ import annotations

from torch import Tensor

from attnaudit import statistics
from attnaudit.audits.counterfactual import flipped
from attnaudit.audits.declaration import DIFFERENCE, Declaration, Metric, Values, declares
from attnaudit.core import masking
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.decoding import logits_under


@declares(
    Declaration(
        question="Would uniform attention make the same decision, without retraining?",
        metrics={
            "tvd": Metric("change of the prediction under uniform attention", 0.0, 1.0),
            "flipped": Metric("uniform attention changes the decision", 0.0, 1.0),
            "correct": Metric("the model's own decision is correct", 0.0, 1.0),
            "accuracy_drop": Metric(
                "accuracy lost under uniform attention", 0.0, "correct", DIFFERENCE
            ),
        },
        detects=("inert",),
        blind={"shifted": "attention is needed, whatever word it points at"},
    )
)
def uniform_attention(
    model: AttentionModel, record: Record, scores: dict[str, Tensor], seed: int
) -> Values:
    """Decode uniform attention over the real items of every row.

    Returns
    -------
    dict of Tensor (B,)
        `tvd` of the prediction, `flipped` and, with labels, `correct` and `accuracy_drop`.
    """
    uniform = masking.uniform(record.mask, record.alpha.dtype)
    alternatives = logits_under(model, record, uniform[:, None])  # (B,1,C)
    logits, flips = alternatives[:, 0], flipped(alternatives, record)[:, 0]
    decision = record.predicted.where(~flips, masking.argmax(logits, record.batch.classes))
    values: Values = {
        ("", "tvd"): statistics.tvd(
            masking.probabilities(logits, record.batch.classes), record.probs
        ),
        ("", "flipped"): flips.double(),
    }
    if record.batch.labels is not None:
        own, other = (
            (choice == record.batch.labels).double() for choice in (record.predicted, decision)
        )
        values |= {("", "correct"): own, ("", "accuracy_drop"): own - other}
    return values
