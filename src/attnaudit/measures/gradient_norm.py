"""How fast does the prediction change with each word? (Meister et al. 2021, eq. 4)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.option_limits import OneOf, limits
from attnaudit.measures.shared_pass import differentiable_pass

NORM = OneOf((1, 2))


@limits(norm=NORM)
def gradient_norm(model: AttentionModel, record: Record, seed: int, *, norm: int = 2) -> Tensor:
    """Norm of the gradient of the prediction in each word, attention left on the graph.

    Parameters
    ----------
    norm : {2, 1}
        L2, or L1 (footnote 4 of the paper).

    Returns
    -------
    Tensor (B,N)
        ‖∂p(predicted class)/∂X_i‖ / Σ_k ‖∂p/∂X_k‖: sums to 1 over the items that count. NaN for
        the others, and for all items of a text in which no word changes the prediction.
    """
    slope = differentiable_pass(model, record).slope_in_embeddings()
    return shares(norm_of_items(slope, record, norm), record.content)


def norm_of_items(slope: Tensor, record: Record, norm: int) -> Tensor:
    """slope (B,T,E) -> (B,N): the norm over all components of all tokens of an item."""
    powers = slope.abs().pow(norm).sum(-1)
    return masking.to_items(powers, record.item_of_token, record.content.shape[1]).pow(1 / norm)


def shares(values: Tensor, content: Tensor) -> Tensor:
    """values (…,N) ≥ 0 as shares of their sum over content; NaN elsewhere and if the sum is 0."""
    known = content & ~values.isnan()
    total = masking.total(values, known).unsqueeze(-1)
    return masking.fill(values / total, known & (total > 0), torch.nan)
