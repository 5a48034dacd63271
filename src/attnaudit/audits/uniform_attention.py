"""Would uniform attention have decided the same, without retraining? (Vashishth et al. 2019; Wiegreffe & Pinter 2019 retrain)"""

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
        question="Would uniform attention have decided the same, without retraining?",
        metrics={
            "tvd": Metric("change of the prediction under uniform attention", 0.0, 1.0),
            "flipped": Metric("uniform attention changes the decision", 0.0, 1.0),
            "correct": Metric("the model's own decision is right", 0.0, 1.0),
            "accuracy_drop": Metric(
                "accuracy lost under uniform attention", 0.0, "correct", DIFFERENCE
            ),
        },
        detects=("inert",),
        blind={"shifted": "attention is needed, whatever word it stands on"},
    )
)
def uniform_attention(
    model: AttentionModel, record: Record, scores: dict[str, Tensor], seed: int
) -> Values:
    """Every row uniform over its real items: TVD, decision flips and, with labels, accuracy lost."""
    even = masking.uniform(record.mask, record.alpha.dtype)
    several = logits_under(model, record, even[:, None])
    logits, flips = several[:, 0], flipped(several, record)[:, 0]
    decided = record.predicted.where(~flips, masking.argmax(logits, record.batch.classes))
    values: Values = {
        ("", "tvd"): statistics.tvd(
            masking.probabilities(logits, record.batch.classes), record.probs
        ),
        ("", "flipped"): flips.double(),
    }
    if record.batch.labels is not None:
        right = [(choice == record.batch.labels).double() for choice in (record.predicted, decided)]
        values |= {
            ("", "correct"): right[0],
            ("", "accuracy_drop"): right[0] - right[1],
        }
    return values
