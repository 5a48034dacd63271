"""How much of the prediction goes through each word, the attention moving too? (Shrikumar et al. 2016)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.autograd import differentiating
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.measures.log_odds import slope_of_probability


def input_times_gradient(
    model: AttentionModel, record: Record, seed: int, *, signed: bool = False
) -> Tensor:
    """|Σ_e x_e ∂p(predicted class)/∂x_e| (B,N), attention left on the graph: `gradient` without the cut. NaN for items that do not count."""
    with differentiating():
        embeddings = record.embeddings.detach().requires_grad_()
        slope = slope_of_probability(
            model.read(record.batch, embeddings).logits, record, embeddings
        )
    per_token = (slope * embeddings).sum(-1).detach()
    per_item = masking.to_items(per_token, record.item_of_token, record.content.shape[1])
    return masking.fill(per_item if signed else per_item.abs(), record.content, torch.nan)
