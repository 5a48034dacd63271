"""How far does the attended sum, or its layer, turn without an item? (Mohebbi et al. 2023)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.measures.rounding import rounding_error
from attnaudit.statistics.cosine import cosine_distance
from attnaudit.statistics.ties import tie_rounding

NUMBERS_AT_ONCE = 2**24


def of_angles(scores: Tensor, mask: Tensor, record: Record) -> Tensor:
    """Tie distances whose angles are closer than the rounding error of a direction.

    A distance is half the square of the angle, so its own rounding error shrinks with it.
    """
    angle = (2 * scores).sqrt()
    tied = tie_rounding(angle, mask, 32 * torch.finfo(record.logits.dtype).eps)
    return torch.where(tied == angle, scores, tied.square() / 2)


@rounding_error(of_angles)
@torch.no_grad()
def value_zeroing(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """Cosine distance between what the attention leads to with and without an item's values.

    The attention weights stay as they are, and are not scaled up. In a Hugging Face model the
    values of a word are set to 0 in all heads of the site's layer, and the layer's output is
    compared at the query position. Elsewhere the attended sum of each row, Σ alpha_j h_j, is
    compared, because nothing more is known of the layer.

    Returns
    -------
    Tensor
        1 − cos: (B,N) in a Hugging Face model, or (B,R,N) if the site has several layers; (B,R,N)
        elsewhere. NaN for items that do not count, and if nothing is left of the attended sum.

    Examples
    --------
    >>> from attnaudit.models.glass import Glass, glass_batch
    >>> model = Glass("inert")  # all states are equal: without one, the sum only gets shorter
    >>> record = model.read(glass_batch(2))
    >>> round(value_zeroing(model, record, 0)[0, 0, 0].item(), 6)
    0.0
    """
    of_model = getattr(model, "value_zeroing", None)
    if of_model is not None:
        return of_model(record)
    if record.hidden is None:
        raise NotApplicable(
            "the model gives neither its layers nor the hidden states it attends to"
        )
    alpha, hidden = record.alpha.detach(), record.hidden.detach()
    context = alpha @ hidden  # (B,R,H)
    items = torch.arange(alpha.shape[2], device=alpha.device)
    size = max(1, NUMBERS_AT_ONCE // max(1, context.numel(), alpha.numel()))
    parts = []
    for part in items.split(size):
        kept = alpha[:, None].expand(-1, len(part), -1, -1).clone()  # (B,K,R,N)
        kept[:, torch.arange(len(part), device=part.device), :, part] = 0.0
        parts.append(cosine_distance(context[:, None], kept @ hidden[:, None]))
    distances = torch.cat(parts, 1).transpose(1, 2)
    return distances.masked_fill(~record.content[:, None], torch.nan)
