"""Which words is each hidden state made of? (Meister et al. 2021, eq. 5)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.autograd import differentiating
from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.core.option_limits import limits
from attnaudit.measures.gradient_norm import NORM, norm_of_items, shares
from attnaudit.measures.hidden_gradient import differentiable_hidden
from attnaudit.measures.shared_pass import differentiable_pass, passes_shared


@limits(norm=NORM)
def influence(
    model: AttentionModel, record: Record, seed: int, *, norm: int = 2, per_facet: bool = False
) -> Tensor:
    """Attention traced from the hidden states it weighs to the words that shape them.

    Parameters
    ----------
    norm, per_facet
        As for `influence_matrix`.

    Returns
    -------
    Tensor (B,R,N)
        Σ_p alpha_p · influence_p(i): each row sums to 1. NaN for items that do not count, and in a
        row that weighs a state which no word influences.
    """
    matrix = influence_matrix(model, record, norm=norm, per_facet=per_facet)
    traced = record.alpha @ matrix.nan_to_num(0.0)
    # States that no word influences.
    unknown = (matrix.isnan() | ~record.content[:, None]).all(-1).to(traced.dtype)
    known = record.content[:, None] & ((record.alpha @ unknown[..., None]) == 0)
    return masking.fill(traced, known, torch.nan)


@limits(norm=NORM)
def influence_matrix(
    model: AttentionModel, record: Record, *, norm: int = 2, per_facet: bool = False
) -> Tensor:
    """The share of each word in each hidden state.

    Parameters
    ----------
    model : AttentionModel
    record : Record
    norm : {2, 1}
        L2, or L1 over the components of the word (footnote 4 of the paper).
    per_facet : bool, default False
        The square root of Σ_m ‖∂h_pm/∂X_i‖², for the state itself rather than its norm (appendix A,
        "nearly identical"): as many gradients as the state has components.

    Returns
    -------
    Tensor (B,N,N)
        ‖∂‖h_p‖₂/∂X_i‖ / Σ_k ‖∂‖h_p‖₂/∂X_k‖ as [p, i]: each row sums to 1 over the items that count.
        Row p is NaN if h_p belongs to no item, or depends on no word.

    Examples
    --------
    >>> from attnaudit.models.glass import Glass, glass_batch
    >>> model = Glass("shifted")  # each hidden state is the word before
    >>> matrix = influence_matrix(model, model.read(glass_batch(1)))
    >>> matrix.shape
    torch.Size([1, 14, 14])
    """
    own = getattr(model, "state_influence", None)
    matrix = None if own is None else own(record, norm=norm, per_facet=per_facet)
    if matrix is None:
        matrix = influence_by_gradients(model, record, norm, per_facet)
    attended = record.content | record.mask.any(1)
    known = attended[:, :, None] & record.content[:, None]
    return shares(masking.fill(matrix, known, torch.nan), known)


def influence_by_gradients(
    model: AttentionModel, record: Record, norm: int, per_facet: bool
) -> Tensor:
    """Influence (B,N,N) before scaling to shares, by a backward pass per state or component.

    A batch that is mostly padding is differentiated in parts of similar length.
    """
    parts = _of_similar_length(record.batch, record.embeddings)
    if len(parts) == 1:
        return _by_state(model, record, norm, per_facet)
    count = record.content.shape[1]
    influences = record.embeddings.new_zeros(len(record.batch), count, count)
    for texts in parts:
        batch = record.batch.rows(texts)
        batch = batch.without(~batch.mask)  # padding on the right is cut off, nothing is moved
        embeddings = record.embeddings[texts, : batch.tokens.shape[1]]
        with torch.no_grad():
            part = model.read(batch, embeddings)
        with passes_shared():  # whose graph ends here
            found = _by_state(model, part, norm, per_facet)
        influences[texts, : found.shape[1], : found.shape[2]] = found
    return influences


def _of_similar_length(batch: Batch, embeddings: Tensor) -> list[Tensor]:
    """The texts of a batch (n,) in groups in which the longest is at most twice the shortest.

    All together if at least half of the batch is real, or its padding is not on the right.
    """
    mask = batch.mask
    lengths = mask.sum(-1)
    right = mask == (torch.arange(mask.shape[1], device=mask.device) < lengths[:, None])
    few = 2 * int(lengths.sum()) >= mask.numel()
    if few or embeddings.shape[:2] != mask.shape or not bool(right.all()):
        return [torch.arange(len(mask), device=mask.device)]
    doublings = torch.frexp(lengths.double()).exponent
    return [(doublings == each).nonzero()[:, 0] for each in doublings.unique()]


def _by_state(model: AttentionModel, record: Record, norm: int, per_facet: bool) -> Tensor:
    """Influence (B,N,N) of the texts of a record, all at once."""
    with differentiating():
        made = differentiable_pass(model, record)
        hidden = differentiable_hidden(made.record)
        rows = [
            _influence_on(hidden[:, place], made.embeddings, record, norm, per_facet)
            for place in range(hidden.shape[1])
        ]
    return torch.stack(rows, 1)


def _influence_on(
    state: Tensor, embeddings: Tensor, record: Record, norm: int, per_facet: bool
) -> Tensor:
    """Influence (B,N) of each item on the state (B,H), before scaling to shares."""

    def gradient_norms(value: Tensor) -> Tensor:
        slope = torch.autograd.grad(value.sum(), embeddings, retain_graph=True)[0]
        return norm_of_items(slope, record, norm)

    if not per_facet:
        return gradient_norms(torch.linalg.vector_norm(state, dim=-1))
    total = torch.zeros_like(record.content, dtype=state.dtype)
    for facet in range(state.shape[1]):
        total += gradient_norms(state[:, facet]).square()
    return total.sqrt()
