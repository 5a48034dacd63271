"""How fast does the prediction move with each hidden state, the attention moving too? (Meister et al. 2021, table 6)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core.autograd import differentiating
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.core.option_limits import limits
from attnaudit.measures.gradient_norm import NORM, shares
from attnaudit.measures.log_odds import log_odds


@limits(norm=NORM)
def hidden_gradient(model: AttentionModel, record: Record, seed: int, *, norm: int = 2) -> Tensor:
    """‖∂p(predicted class)/∂h_i‖ / Σ_k ‖∂p/∂h_k‖ (B,N), g_ŷ(I); norm=1 for L1 (footnote 4).

    The attention stays on the graph: cut off, the slope of a linear output is alpha_i θ, and agreement with attention is perfect by
    construction. Sums to 1; NaN for items that do not count, and for all of a text in which no state moves anything.
    """
    with differentiating():
        embeddings = record.embeddings.detach().requires_grad_()
        fresh = model.read(record.batch, embeddings)
        hidden = differentiable_hidden(fresh)
        _refuse_attention_from_elsewhere(fresh, hidden)
        slope = torch.autograd.grad(
            log_odds(fresh.logits, record).sum(), hidden, allow_unused=True
        )[0]
    if slope is None:
        raise NotApplicable(
            "the prediction is not computed from the hidden states that the model records"
        )
    return shares(torch.linalg.vector_norm(slope, norm, dim=-1), record.content)


def differentiable_hidden(fresh: Record) -> Tensor:
    """The hidden states (B,N,H) of a record read with gradients on."""
    if fresh.hidden is None:
        raise NotApplicable("the model records no hidden states")
    if not fresh.hidden.requires_grad:
        raise NotApplicable(
            "the hidden states that the model records do not hang on the embeddings"
        )
    return fresh.hidden


def _refuse_attention_from_elsewhere(fresh: Record, hidden: Tensor) -> None:
    """Attention that moves with the words, but not through these states, would look as if it were cut off."""
    if not fresh.alpha.requires_grad:
        return
    slope = torch.autograd.grad(fresh.alpha.sum(), hidden, retain_graph=True, allow_unused=True)[0]
    if slope is None:
        raise NotApplicable(
            "the attention is not computed from the hidden states that the model records"
        )
