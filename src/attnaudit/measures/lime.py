"""Which words would a linear model around this text pick? (Ribeiro et al. 2016; by Captum)"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.memory_budget import texts_at_once
from attnaudit.core.option_limits import COUNT, Number, limits
from attnaudit.measures import attribution


@limits(n_samples=COUNT, kernel_width=Number(above=0), penalty=Number(least=0))
def lime(
    model: AttentionModel,
    record: Record,
    seed: int,
    *,
    n_samples: int = 1000,
    kernel_width: float = 0.25,
    penalty: float = 1.0,
    signed: bool = False,
) -> Tensor:
    """Coefficients of a linear model that predicts p from which items are present.

    Random draws depend on (seed, example id) only, so texts are explained one by one. The kernel is
    the authors' for text; they draw the number of removed words first, here each is removed with
    probability ½.

    Parameters
    ----------
    n_samples : int, default 1000
        Texts with items removed that the model is fitted to, per example.
    kernel_width : float, default 0.25
        w in the weight exp(-d²/2w²) of a sample, d its cosine distance to the full text.
    penalty : float, default 1.0
        Of ridge regression.
    signed : bool, default False
        Keep the sign.

    Returns
    -------
    Tensor (B,N)
        |coefficient|; NaN for items that do not count.
    """
    from captum._utils.models.linear_model import SkLearnRidge
    from captum.attr import Lime

    def similarity(original: Tensor, changed: Tensor, present: Tensor, **_: Any) -> Tensor:
        # The cosine of a 0-1 vector with the vector of ones.
        distance = 1 - math.sqrt(float(present.float().mean()))
        return torch.tensor([math.exp(-(distance**2) / (2 * kernel_width**2))])

    scores = torch.zeros_like(record.content, dtype=record.embeddings.dtype)
    for index, single in attribution.singles(record):
        words = single.record.embeddings.detach()
        example_id = record.batch.example_id[index]
        with attribution.drawing(seed, "lime", example_id), attribution.quietly():
            coefficients = Lime(
                attribution.probability(model, single.record),
                interpretable_model=SkLearnRidge(alpha=penalty),
                similarity_func=similarity,
            ).attribute(
                words,
                baselines=attribution.baseline(single.record),
                additional_forward_args=(single.example,),
                feature_mask=single.feature,
                n_samples=n_samples,
                perturbations_per_eval=texts_at_once(words.shape[1]),
                return_input_shape=False,
            )
        scores[index, single.item] = coefficients.flatten().to(scores)
    scores = scores.masked_fill(~record.content, torch.nan)
    return scores if signed else scores.abs()
