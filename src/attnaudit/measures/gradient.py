"""How much does the prediction depend on each word, with the attention held? (Jain & Wallace 2019, algorithm 1)"""

from __future__ import annotations

from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.autograd import differentiating
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.measures.log_odds import slope_of_probability


def gradient(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """|Σ_e x_e ∂p(predicted class)/∂x_e| (B,N): the gradient of the one-hot word, attention cut off the graph.

    With the attention held, alpha_i is a factor of it in every encoder that does not mix items (mlp, average, none), and in part in the
    others: agreement with this measure comes easier than with leave_one_out.
    """
    with differentiating():
        embeddings = record.embeddings.detach().requires_grad_()
        fresh = model.read(record.batch, embeddings)
        slope = slope_of_probability(model.decode(fresh, fresh.alpha.detach()), record, embeddings)
    per_token = (slope * embeddings).sum(-1).detach()
    # Signed sum over the tokens of an item first, absolute value after: an item is one thing.
    return masking.to_items(per_token, record.item_of_token, record.content.shape[1]).abs()
