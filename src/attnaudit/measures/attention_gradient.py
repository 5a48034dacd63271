"""How would the prediction change with slightly more weight on an item? (Serrano & Smith 2019)"""

from __future__ import annotations

from torch import Tensor

from attnaudit.core.autograd import differentiating
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.measures.log_odds import slope_of_probability


def attention_gradient(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """How would the prediction change with slightly more weight on an item? (Serrano & Smith 2019)

    Returns
    -------
    Tensor (B,R,N)
        Signed ∂p(predicted class)/∂alpha.
    """
    with differentiating():
        alpha = record.alpha.detach().requires_grad_()
        return slope_of_probability(model.decode(record, alpha), record, alpha)


def attention_times_gradient(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """How much of the prediction goes through each weight? (Serrano & Smith 2019)

    Returns
    -------
    Tensor (B,R,N)
        Signed alpha · ∂p(predicted class)/∂alpha.
    """
    return record.alpha.detach() * attention_gradient(model, record, seed)
