"""How fast does the prediction change with each hidden state? (Meister et al. 2021, table 6)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core.autograd import differentiating
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.core.option_limits import limits
from attnaudit.measures.gradient_norm import NORM, shares
from attnaudit.measures.shared_pass import differentiable_pass


@limits(norm=NORM)
def hidden_gradient(model: AttentionModel, record: Record, seed: int, *, norm: int = 2) -> Tensor:
    """Norm of the gradient of the prediction in each hidden state, g_ŷ(I) in the paper.

    Attention stays on the graph. If it were cut off, the gradient of a linear output would be
    alpha_i θ, and agreement with attention perfect by construction.

    Parameters
    ----------
    norm : {2, 1}
        L2, or L1 (footnote 4 of the paper).

    Returns
    -------
    Tensor (B,N)
        ‖∂p(predicted class)/∂h_i‖ / Σ_k ‖∂p/∂h_k‖: sums to 1 over the items that count. NaN for
        the others, and for all items of a text in which no state changes the prediction.
    """
    with differentiating():
        made = differentiable_pass(model, record)
        hidden = differentiable_hidden(made.record)
        _check_attention_from_hidden(made.record, hidden)
        slope = made.slope_in_hidden()
    if slope is None:
        raise NotApplicable(
            "the prediction is not computed from the hidden states that the model records"
        )
    return shares(torch.linalg.vector_norm(slope, norm, dim=-1), record.content)


def differentiable_hidden(fresh: Record) -> Tensor:
    """The hidden states (B,N,H) of a record read with gradients enabled."""
    if fresh.hidden is None:
        raise NotApplicable("the model records no hidden states")
    if not fresh.hidden.requires_grad:
        raise NotApplicable(
            "the hidden states that the model records do not depend on the embeddings"
        )
    return fresh.hidden


def _check_attention_from_hidden(fresh: Record, hidden: Tensor) -> None:
    """Attention computed from the words, but not from these states, would look like fixed."""
    if not fresh.alpha.requires_grad:
        return
    slope = torch.autograd.grad(fresh.alpha.sum(), hidden, retain_graph=True, allow_unused=True)[0]
    if slope is None:
        raise NotApplicable(
            "the attention is not computed from the hidden states that the model records"
        )
