"""Which words does attention reach, traced down through the layers? (Abnar & Zuidema 2020)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.measures.rounding import of_each_score, rounding_error


@rounding_error(of_each_score)
def rollout(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """Attention multiplied through the self-attention layers below the site.

    High: the attended states are made of this word, if attention were all that mixes them. The
    layers come from the model's `self_attention`, averaged over heads.

    Returns
    -------
    Tensor (B,R,N)
        alpha · Â_L ⋯ Â_1 with Â = ½(A + I), where I stands for the residual connection.
    """
    self_attention = getattr(model, "self_attention", None)
    if self_attention is None:
        raise NotApplicable("the model has no layers of self-attention below the site to follow")
    with torch.no_grad():
        traced = record.alpha
        for layer in self_attention(record).unbind(1)[::-1]:  # from the site down
            traced = (traced @ layer + traced) / 2
        return traced
