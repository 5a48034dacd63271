"""What does each word add, averaged over sets of other words? (Lundberg & Lee 2017; by Captum)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core.autograd import differentiating
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import InputError
from attnaudit.core.memory_budget import texts_at_once
from attnaudit.core.option_limits import COUNT, Number, ParsedBy, limits
from attnaudit.measures import attribution

KINDS = ("kernel", "gradient")


def _check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise InputError(f"There is no kind of shap {kind!r}. Choose from: {', '.join(KINDS)}.")


@limits(kind=ParsedBy(_check_kind), n_samples=COUNT, stdevs=Number(least=0))
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
    """Shapley values of the items, estimated.

    Random draws depend on (seed, example id) only, so texts are explained one by one.

    Parameters
    ----------
    kind : {"kernel", "gradient"}
        kernel: a weighted linear regression on texts with items removed. gradient: the mean of
        (x - x̄) ∂p/∂x over random points between baseline and text; with the single baseline that
        removing items implies, this is integrated gradients with random steps.
    n_samples : int, optional
        Texts or points per example; by default 2N + 512 for kernel and 50 for gradient.
    stdevs : float, default 0
        Standard deviation of the noise added to the points of gradient.
    signed : bool, default False
        Keep the sign.

    Returns
    -------
    Tensor (B,N)
        |Shapley value| in p; NaN for items that do not count.
    """
    scores = torch.zeros_like(record.content, dtype=record.embeddings.dtype)
    for index, single in attribution.singles(record):
        example_id = record.batch.example_id[index]
        with attribution.drawing(seed, f"shap {kind}", example_id), attribution.quietly():
            if kind == "kernel":
                values = _kernel(model, single, n_samples)
            else:
                values = _gradient(model, single, n_samples or 50, float(stdevs))
        scores[index, single.item] = values.to(scores)
    scores = scores.masked_fill(~record.content, torch.nan)
    return scores if signed else scores.abs()


def _kernel(model: AttentionModel, single: attribution.Single, n_samples: int | None) -> Tensor:
    """Shapley values (features,) by Kernel SHAP."""
    from captum.attr import KernelShap

    explained = attribution.probability(model, single.record)
    words, empty = single.record.embeddings.detach(), attribution.baseline(single.record)
    features = len(single.item)
    if features == 1:  # nothing to average over, which Captum cannot handle
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
            perturbations_per_eval=texts_at_once(words.shape[1]),
            return_input_shape=False,
        )
        .flatten()
    )


def _gradient(
    model: AttentionModel, single: attribution.Single, n_samples: int, stdevs: float
) -> Tensor:
    """Shapley values (features,) by Gradient SHAP."""
    from captum.attr import GradientShap

    with differentiating():
        attributions = GradientShap(attribution.probability(model, single.record)).attribute(
            single.record.embeddings.detach().requires_grad_(),
            baselines=attribution.baseline(single.record),
            additional_forward_args=(single.example,),
            n_samples=n_samples,
            stdevs=stdevs,
        )
    return attribution.to_scores(attributions.sum(-1), single.record, signed=True)[0, single.item]
