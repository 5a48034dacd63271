"""How much of the prediction does each word account for, from no words to all? (Sundararajan et al. 2017; by Captum)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.autograd import differentiating
from attnaudit.core.contract import AttentionModel, Record
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
    """|Σ_e (x_e - x̄_e) ∫ ∂p/∂x_e dt| along the line from the baseline x̄ to x (B,N); signed=true keeps the sign.

    The signed scores add up to p(x) - p(x̄). Where they miss it by more than tolerance · Σ|scores|, the steps are doubled, up to four
    times; a text that still misses it is NaN. NaN for items that do not count.
    """
    from captum.attr import IntegratedGradients

    explained = attribution.probability(model, record)
    words, empty = record.embeddings.detach(), attribution.baseline(record)
    scores = torch.zeros_like(record.content, dtype=words.dtype)
    left = torch.arange(len(words), device=words.device)
    with torch.no_grad():
        change = explained(words, left) - explained(empty, left)
    rounding = 16 * torch.finfo(words.dtype).eps
    for doubling in range(_DOUBLINGS + 1):
        with differentiating(), attribution.quietly():
            found = IntegratedGradients(explained).attribute(
                words[left].requires_grad_(),
                baselines=empty[left],
                additional_forward_args=(left,),
                n_steps=n_steps * 2**doubling,
                internal_batch_size=max(len(left), attribution.TOKENS_AT_ONCE // words.shape[1]),
            )
        per_token = torch.zeros_like(words[..., 0]).index_copy(0, left, found.detach().sum(-1))
        scores[left] = attribution.to_scores(per_token, record, signed=True)[left]
        gap = (masking.total(scores, record.content) - change).abs()
        bound = tolerance * masking.total(scores.abs(), record.content) + rounding
        left = left[(gap > bound)[left]]
        if not len(left):
            break
    scores[left] = torch.nan
    return scores if signed else scores.abs()
