"""How would the prediction change with a little more weight on an item? (Serrano & Smith 2019)"""

from __future__ import annotations

from torch import Tensor

from attnaudit.core.autograd import differentiating
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.measures.log_odds import slope_of_probability


def attention_gradient(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """Signed ∂p(predicted class)/∂alpha (B,R,N)."""
    with differentiating():
        alpha = record.alpha.detach().requires_grad_()
        return slope_of_probability(model.decode(record, alpha), record, alpha)


def attention_times_gradient(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """alpha · ∂p/∂alpha (B,R,N)."""
    return record.alpha.detach() * attention_gradient(model, record, seed)
