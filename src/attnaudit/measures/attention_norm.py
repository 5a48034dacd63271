"""How large is each item's share of the attended sum? (after Kobayashi et al. 2020)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.measures.rounding import of_each_score, rounding_error


@rounding_error(of_each_score)
def attention_norm(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """Weight times vector norm: a large weight on a short vector contributes little.

    Returns
    -------
    Tensor (B,R,N)
        alpha_i · ‖h_i‖₂; for a model with `attended_norms`, such as a transformer, alpha_i · ‖v_i‖₂
        with the value vectors of each head.
    """
    attended_norms = getattr(model, "attended_norms", None)
    if attended_norms is not None:
        return attended_norms(record)
    if record.hidden is None:
        raise NotApplicable("the model records no hidden states")
    norm = torch.linalg.vector_norm(record.hidden.detach(), dim=-1)
    return record.alpha.detach() * norm[:, None]
