"""How much does the prediction depend on each word, with attention fixed? (Jain & Wallace 2019)"""

from __future__ import annotations

from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.autograd import differentiating
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.measures.log_odds import slope_of_probability
from attnaudit.measures.shared_pass import differentiable_pass


def gradient(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """Gradient of the one-hot word with attention cut off the graph (Jain & Wallace, algorithm 1).

    With attention fixed, alpha_i is a factor of the gradient for every encoder that does not mix
    items (mlp, average, none), and in part for the others: agreement with this measure is easier to
    reach than with leave_one_out.

    Returns
    -------
    Tensor (B,N)
        |Σ_e x_e ∂p(predicted class)/∂x_e|, summed over the tokens of an item with their signs.
    """
    with differentiating():
        made = differentiable_pass(model, record)
        logits = model.decode(made.record, made.record.alpha.detach())
        slope = slope_of_probability(logits, record, made.embeddings)
    per_token = (slope * made.embeddings.detach()).sum(-1)
    return masking.to_items(per_token, record.item_of_token, record.content.shape[1]).abs()
