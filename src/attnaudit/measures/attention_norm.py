"""How large is each item's part of the attended sum? (Kobayashi et al. 2020)"""

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
        For a model with `attended_norms`, such as a Hugging Face model: ‖Σ alpha_t v_t W_O‖₂ over
        the tokens t of a word, with the value vectors and the output projection of each head. For
        other models alpha_i · ‖h_i‖₂: they attend to the states themselves.
    """
    attended_norms = getattr(model, "attended_norms", None)
    if attended_norms is not None:
        return attended_norms(record)
    if record.hidden is None:
        raise NotApplicable("the model records no hidden states")
    norm = torch.linalg.vector_norm(record.hidden.detach(), dim=-1)
    return record.alpha.detach() * norm[:, None]
