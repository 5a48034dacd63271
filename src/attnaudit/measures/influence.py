"""Which words are behind each hidden state? (Meister et al. 2021, eq. 5)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.autograd import differentiating
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.option_limits import limits
from attnaudit.measures.gradient_norm import NORM, norm_of_items, shares
from attnaudit.measures.hidden_gradient import differentiable_hidden


@limits(norm=NORM)
def influence(
    model: AttentionModel, record: Record, seed: int, *, norm: int = 2, per_facet: bool = False
) -> Tensor:
    """Σ_p alpha_p · influence_p(i) (B,R,N): attention traced from the states it weighs to the words behind them.

    High: the word shapes the states that are attended to. Sums to 1 in each row. NaN for items that do not count, and in a row that
    weighs a state which no word moves.
    """
    behind = influence_matrix(model, record, norm=norm, per_facet=per_facet)
    traced = record.alpha @ behind.nan_to_num(0.0)
    unknown = (
        (behind.isnan() | ~record.content[:, None]).all(-1).to(traced.dtype)
    )  # states that no word moves
    known = record.content[:, None] & ((record.alpha @ unknown[..., None]) == 0)
    return masking.fill(traced, known, torch.nan)


@limits(norm=NORM)
def influence_matrix(
    model: AttentionModel, record: Record, *, norm: int = 2, per_facet: bool = False
) -> Tensor:
    """‖∂‖h_p‖₂/∂X_i‖ / Σ_k ‖∂‖h_p‖₂/∂X_k‖ (B,N,N) as [p, i]: each row sums to 1 over the items that count.

    per_facet: the square root of Σ_m ‖∂h_pm/∂X_i‖², on the state itself and not on its length (appendix A, "nearly identical"); as
    many backward passes as the state has numbers. norm=1: L1 over the word's numbers (footnote 4). Row p is NaN where h_p is of no
    item, or moves with no word.
    """
    attended = record.content | record.mask.any(1)
    with differentiating():
        embeddings = record.embeddings.detach().requires_grad_()
        hidden = differentiable_hidden(model.read(record.batch, embeddings))
        rows = [
            _behind(hidden[:, place], embeddings, record, norm, per_facet)
            for place in range(hidden.shape[1])
        ]
    known = attended[:, :, None] & record.content[:, None]
    return shares(masking.fill(torch.stack(rows, 1), known, torch.nan), known)


def _behind(
    state: Tensor, embeddings: Tensor, record: Record, norm: int, per_facet: bool
) -> Tensor:
    """How much each item moves state (B,H), before normalising: (B,N). One backward pass for the whole batch."""

    def moved(value: Tensor) -> Tensor:
        slope = torch.autograd.grad(value.sum(), embeddings, retain_graph=True)[0]
        return norm_of_items(slope, record, norm)

    if not per_facet:
        return moved(torch.linalg.vector_norm(state, dim=-1))
    total = torch.zeros_like(record.content, dtype=state.dtype)
    for facet in range(state.shape[1]):
        total += moved(state[:, facet]).square()
    return total.sqrt()
