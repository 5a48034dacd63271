"""Which words would a linear model of the neighbourhood name? (Ribeiro et al. 2016; by Captum)"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record
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
    """|coefficient| of each item in a linear model of p on which items are there (B,N); signed=true keeps the sign.

    Ridge regression (`penalty`) on n_samples texts, each item removed with probability ½, weighted by exp(-d²/2w²), d the cosine
    distance between the items there and all of them. The kernel is the authors' for text; they draw how many words go first, here each
    goes by a coin. NaN for items that do not
    count. The draws hang on (seed, example) only, so texts are taken one by one, the samples of each together.
    """
    from captum._utils.models.linear_model import SkLearnRidge
    from captum.attr import Lime

    def nearness(original: Tensor, changed: Tensor, there: Tensor, **_: Any) -> Tensor:
        distance = 1 - math.sqrt(
            float(there.float().mean())
        )  # of 0-1 vectors, the cosine with all ones
        return torch.tensor([math.exp(-(distance**2) / (2 * kernel_width**2))])

    scores = torch.zeros_like(record.content, dtype=record.embeddings.dtype)
    for at, single in attribution.singles(record):
        words = single.record.embeddings.detach()
        with attribution.drawing(seed, "lime", record.batch.example_id[at]), attribution.quietly():
            surrogate = SkLearnRidge(alpha=penalty)
            found = Lime(
                attribution.probability(model, single.record),
                interpretable_model=surrogate,
                similarity_func=nearness,
            ).attribute(
                words,
                baselines=attribution.baseline(single.record),
                additional_forward_args=(single.example,),
                feature_mask=single.feature,
                n_samples=n_samples,
                perturbations_per_eval=max(1, attribution.TOKENS_AT_ONCE // words.shape[1]),
                return_input_shape=False,
            )
        scores[at, single.item] = found.flatten().to(scores)
    scores = scores.masked_fill(~record.content, torch.nan)
    return scores if signed else scores.abs()
