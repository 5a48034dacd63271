"""What does each word add to the prediction, averaged over the company it may be in? (Lundberg & Lee 2017; by Captum)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core.autograd import differentiating
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import InputError
from attnaudit.core.option_limits import COUNT, Number, ParsedBy, limits
from attnaudit.measures import attribution

KINDS = ("kernel", "gradient")


def _kind(kind: str) -> None:
    if kind not in KINDS:
        raise InputError(f"There is no kind of shap {kind!r}. Choose from: {', '.join(KINDS)}.")


@limits(kind=ParsedBy(_kind), n_samples=COUNT, stdevs=Number(least=0))
def shap(
    model: AttentionModel,
    record: Record,
    seed: int,
    *,
    kind: str = "kernel",
    n_samples: int | None = None,
    stdevs: float = 0.0,
    signed: bool = False,
) -> Tensor:
    """|Shapley value| of each item in p (B,N), estimated; signed=true keeps the sign. NaN for items that do not count.

    kernel: a weighted linear regression on n_samples texts with items removed (2N + 512 unless told).
    gradient: the mean over n_samples (50) random points between baseline and text of (x - x̄) ∂p/∂x, noise of stdevs added: with the
    one baseline that removing items means, integrated gradients with random steps. The draws hang on (seed, example) only, so texts
    are taken one by one, the samples of each together.
    """
    scores = torch.zeros_like(record.content, dtype=record.embeddings.dtype)
    for at, single in attribution.singles(record):
        with (
            attribution.drawing(seed, f"shap {kind}", record.batch.example_id[at]),
            attribution.quietly(),
        ):
            if kind == "kernel":
                found = _kernel(model, single, n_samples)
            else:
                found = _gradient(model, single, n_samples or 50, float(stdevs))
        scores[at, single.item] = found.to(scores)
    scores = scores.masked_fill(~record.content, torch.nan)
    return scores if signed else scores.abs()


def _kernel(model: AttentionModel, single: attribution.Single, n_samples: int | None) -> Tensor:
    """(features,)"""
    from captum.attr import KernelShap

    explained = attribution.probability(model, single.record)
    words, empty = single.record.embeddings.detach(), attribution.baseline(single.record)
    features = len(single.item)
    if features == 1:  # nothing to average over, and Captum has no distribution to draw from
        with torch.no_grad():
            return explained(words, single.example) - explained(empty, single.example)
    return (
        KernelShap(explained)
        .attribute(
            words,
            baselines=empty,
            additional_forward_args=(single.example,),
            feature_mask=single.feature,
            n_samples=n_samples or 2 * features + 512,
            perturbations_per_eval=max(1, attribution.TOKENS_AT_ONCE // words.shape[1]),
            return_input_shape=False,
        )
        .flatten()
    )


def _gradient(
    model: AttentionModel, single: attribution.Single, n_samples: int, stdevs: float
) -> Tensor:
    """(features,)"""
    from captum.attr import GradientShap

    with differentiating():
        found = GradientShap(attribution.probability(model, single.record)).attribute(
            single.record.embeddings.detach().requires_grad_(),
            baselines=attribution.baseline(single.record),
            additional_forward_args=(single.example,),
            n_samples=n_samples,
            stdevs=stdevs,
        )
    return attribution.to_scores(found.sum(-1), single.record, signed=True)[0, single.item]
