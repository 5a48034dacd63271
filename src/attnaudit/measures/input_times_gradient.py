"""How much does each word contribute to the prediction, to first order? (Shrikumar et al. 2016)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.measures.log_odds import slope_of_odds_to_probability
from attnaudit.measures.shared_pass import differentiable_pass


def input_times_gradient(
    model: AttentionModel, record: Record, seed: int, *, signed: bool = False
) -> Tensor:
    """Input times gradient, attention left on the graph: `gradient` without the cut.

    Parameters
    ----------
    signed : bool, default False
        Keep the sign.

    Returns
    -------
    Tensor (B,N)
        |Σ_e x_e ∂p(predicted class)/∂x_e|; NaN for items that do not count.
    """
    made = differentiable_pass(model, record)
    slope = slope_of_odds_to_probability(made.slope_in_embeddings(), made.odds)
    per_token = (slope * made.embeddings.detach()).sum(-1)
    per_item = masking.to_items(per_token, record.item_of_token, record.content.shape[1])
    return masking.fill(per_item if signed else per_item.abs(), record.content, torch.nan)
