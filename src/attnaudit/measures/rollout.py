"""Which words does attention reach, traced down through the layers? (Abnar & Zuidema 2020)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.measures.rounding import of_each_score, rounding_error


@rounding_error(of_each_score)
def rollout(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """Attention multiplied through the layers of self-attention, residual connections included.

    High: the state at the query position is made of this word, if attention were all that mixes
    states. Each layer is the mean over its heads.

    Returns
    -------
    Tensor
        For a model with `attention_rollout`, such as a Hugging Face model: Â_L ⋯ Â_1 at the query
        position with Â = ½(A + I) and L the site's own layer, traced between tokens and then summed
        over the tokens of each word; (B,N), or (B,R,N) if the site has several layers. For a model
        with `self_attention`, whose site has no residual connection: alpha · Â_L ⋯ Â_1 (B,R,N).
    """
    attention_rollout = getattr(model, "attention_rollout", None)
    if attention_rollout is not None:
        return attention_rollout(record)
    self_attention = getattr(model, "self_attention", None)
    if self_attention is None:
        raise NotApplicable("the model has no layers of self-attention below the site to follow")
    with torch.no_grad():
        traced = record.alpha
        for layer in self_attention(record).unbind(1)[::-1]:  # from the site down
            traced = (traced @ layer + traced) / 2
        return traced
