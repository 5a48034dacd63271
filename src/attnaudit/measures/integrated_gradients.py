"""How much does each word contribute, from empty to full text? (Sundararajan et al. 2017)

Computed by Captum.
"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.autograd import differentiating
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.memory_budget import texts_at_once
from attnaudit.core.option_limits import COUNT, Number, limits
from attnaudit.measures import attribution

_DOUBLINGS = 4


@limits(n_steps=COUNT, tolerance=Number(above=0))
def integrated_gradients(
    model: AttentionModel,
    record: Record,
    seed: int,
    *,
    n_steps: int = 50,
    tolerance: float = 0.01,
    signed: bool = False,
) -> Tensor:
    """Gradients integrated along the line from the baseline x̄ to the text x.

    Parameters
    ----------
    n_steps : int, default 50
        Doubled up to four times for texts whose scores do not add up.
    tolerance : float, default 0.01
        Signed scores must add up to p(x) - p(x̄) within tolerance · Σ|scores|.
    signed : bool, default False
        Keep the sign.

    Returns
    -------
    Tensor (B,N)
        |Σ_e (x_e - x̄_e) ∫ ∂p/∂x_e dt|. NaN for items that do not count, and for all items of a text
        whose scores still do not add up.
    """
    from captum.attr import IntegratedGradients

    explained = attribution.probability(model, record)
    words, empty = record.embeddings.detach(), attribution.baseline(record)
    scores = torch.zeros_like(record.content, dtype=words.dtype)
    open_texts = torch.arange(len(words), device=words.device)
    with torch.no_grad():
        change = explained(words, open_texts) - explained(empty, open_texts)
    rounding = 16 * torch.finfo(words.dtype).eps
    for doubling in range(_DOUBLINGS + 1):
        with differentiating(), attribution.quietly():
            attributions = IntegratedGradients(explained).attribute(
                words[open_texts].requires_grad_(),
                baselines=empty[open_texts],
                additional_forward_args=(open_texts,),
                n_steps=n_steps * 2**doubling,
                internal_batch_size=max(len(open_texts), texts_at_once(words.shape[1])),
            )
        per_token = torch.zeros_like(words[..., 0]).index_copy(
            0, open_texts, attributions.detach().sum(-1)
        )
        scores[open_texts] = attribution.to_scores(per_token, record, signed=True)[open_texts]
        gap = (masking.total(scores, record.content) - change).abs()
        bound = tolerance * masking.total(scores.abs(), record.content) + rounding
        open_texts = open_texts[(gap > bound)[open_texts]]
        if not len(open_texts):
            break
    scores[open_texts] = torch.nan
    return scores if signed else scores.abs()
