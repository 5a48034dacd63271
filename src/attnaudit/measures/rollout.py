"""Which words does attention reach, followed down through the layers? (Abnar & Zuidema 2020)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.measures.rounding import of_each_score, rounding_error


@rounding_error(of_each_score)
def rollout(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """alpha · Â_L ⋯ Â_1 with Â = ½(A + I) (B,R,N): the half that is I stands for what goes round each layer.

    High: the word is what the attended states are made of, were attention all that mixes. Through the model's `self_attention`, mean
    over heads.
    """
    layers = getattr(model, "self_attention", None)
    if layers is None:
        raise NotApplicable("the model has no layers of self-attention below the site to follow")
    with torch.no_grad():
        reached = record.alpha
        for layer in layers(record).unbind(1)[::-1]:  # from the site down
            reached = (reached @ layer + reached) / 2
        return reached
