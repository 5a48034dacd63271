"""How much does each item bring into the sum, its weight and its size together? (after Kobayashi et al. 2020)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.measures.rounding import of_each_score, rounding_error


@rounding_error(of_each_score)
def attention_norm(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """alpha_i · ‖h_i‖₂ (B,R,N); in a transformer alpha_i · ‖v_i‖₂, with the head's own value vectors, through the model's
    `attended_norms`.

    High: a large share of the attended sum. A large weight on a short vector brings little.
    """
    own = getattr(model, "attended_norms", None)
    if own is not None:
        return own(record)
    if record.hidden is None:
        raise NotApplicable("the model records no hidden states")
    length = torch.linalg.vector_norm(record.hidden.detach(), dim=-1)
    return record.alpha.detach() * length[:, None]
