"""Checks and preparation shared by the exact functions.

Finite numbers of matching shapes, in float64, 0 outside the mask.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.errors import InputError

# A feasible attention may lie on the bound itself; this much TVD is allowed for rounding.
ROUNDING = 1e-10


@dataclass(frozen=True)
class Prepared:
    """Checked inputs; alpha is renormalised, since float32 rounding may take it off the simplex."""

    alpha: Tensor  # (B,N)
    readout: Tensor  # (B,N,C)
    mask: Tensor  # (B,N)
    classes: Tensor | None  # (B,C)
    probs: Tensor  # (B,C)
    predicted: Tensor  # (B,)
    empty: Tensor  # (B,) bool: nothing to attend to, hence no answer

    def rows(self, index: Tensor | slice) -> Prepared:
        """The examples at index."""
        if isinstance(index, slice) and index.indices(len(self.alpha)) == (0, len(self.alpha), 1):
            return self
        return Prepared(
            self.alpha[index],
            self.readout[index],
            self.mask[index],
            None if self.classes is None else self.classes[index],
            self.probs[index],
            self.predicted[index],
            self.empty[index],
        )

    def logits_of(self, alpha: Tensor) -> Tensor:
        """Logits under another attention: (B,N) -> (B,C)."""
        return (alpha[:, None] @ self.readout)[:, 0]

    def change(self, probs: Tensor) -> Tensor:
        """TVD of class probabilities from the original ones: (B,C) -> (B,), (B,K,C) -> (B,K).

        The change of the predicted class is computed as minus that of the others: where its
        probability is almost 1, the difference of two such numbers would lose the small ones.
        """
        shape = (len(probs),) + (1,) * (probs.dim() - 2) + (probs.shape[-1],)
        rival = torch.arange(probs.shape[-1], device=probs.device) != self.predicted[:, None]
        others = torch.where(rival.view(shape), probs - self.probs.view(shape), 0.0)
        return 0.5 * (others.abs().sum(-1) + others.sum(-1).abs())

    def moved(self, alpha: Tensor) -> Tensor:
        """TVD of the prediction under other attentions: (B,N) -> (B,), (B,K,N) -> (B,K)."""
        return self.change(self.probs_of(alpha))

    def within(self, alpha: Tensor, epsilon: Tensor) -> Tensor:
        """Whether other attentions (B,N) or (B,K,N) change the prediction by at most epsilon (B,).

        Up to rounding.
        """
        most = epsilon + self.rounding()
        if alpha.dim() == 2:
            return self.moved(alpha) <= most
        if self.classes is None:  # the faster of two ways
            return self.change(class_softmax(alpha @ self.readout)) <= most[:, None]
        return self.moved(alpha) <= most[:, None]

    def rounding(self) -> Tensor:
        """By how much (B,) the TVD of a feasible attention may exceed epsilon.

        With more than two classes, in proportion to the probability of the other classes: a
        prediction that is almost certain changes little whatever the rounding of its logits.
        """
        if self.probs.shape[1] == 2:
            return torch.full_like(self.probs[:, 0], ROUNDING)
        others = self.probs.scatter(1, self.predicted[:, None], 0.0)
        return ROUNDING * others.sum(-1)

    def probs_of(self, alpha: Tensor) -> Tensor:
        """Class probabilities under other attentions: (B,N) -> (B,C), (B,K,N) -> (B,K,C)."""
        if alpha.dim() == 2:
            return self.probs_of(alpha[:, None])[:, 0]
        return masking.probabilities(alpha @ self.readout, self.classes)


def class_softmax(logits: Tensor) -> Tensor:
    """Softmax over the last dimension; over a few classes some four times as fast as torch's."""
    powers = (logits - logits.amax(-1, keepdim=True)).exp_()
    return powers.div_(powers.sum(-1, keepdim=True))


def prepare(
    alpha: Tensor, readout: Tensor, mask: Tensor, classes: Tensor | None = None
) -> Prepared:
    """Check alpha (B,N), readout (B,N,C), mask (B,N), classes (B,C); compute the prediction."""
    if (
        alpha.dim() != 2
        or mask.shape != alpha.shape
        or readout.shape[:2] != alpha.shape
        or readout.dim() != 3
    ):
        raise InputError(
            "Expected alpha (B,N), readout (B,N,C) and mask (B,N), "
            f"got {tuple(alpha.shape)}, {tuple(readout.shape)} and {tuple(mask.shape)}."
        )
    if classes is not None and classes.shape != (alpha.shape[0], readout.shape[2]):
        raise InputError(
            f"Expected classes (B,C) = {(alpha.shape[0], readout.shape[2])}, "
            f"got {tuple(classes.shape)}."
        )
    if classes is not None and not classes.any(-1).all():
        raise InputError(
            "Every example needs at least one candidate class; classes is empty for some."
        )
    mask = mask.bool()
    outside = ~mask
    alpha = alpha.detach().double().masked_fill(outside, 0.0)
    readout = readout.detach().double().masked_fill(outside[..., None], 0.0)
    for name, values in (("alpha", alpha), ("readout", readout)):
        # A sum is faster than a check of each value; it may overflow though all are finite.
        if not math.isfinite(float(values.sum())) and not torch.isfinite(values).all():
            raise InputError(
                f"{name} has NaN or infinite values inside the mask. "
                "Find out which examples the model fails on before auditing it."
            )
    empty = ~mask.any(-1)
    weight = alpha.sum(-1).masked_fill_(empty, 1.0)
    # Half precision is allowed for; anything further off is a mistake, not a distribution.
    wrong = ((weight - 1).abs() > 1e-2) | (alpha < 0).any(-1)
    if wrong.any():
        row = int(wrong.nonzero()[0])
        raise InputError(
            "alpha must be non-negative and sum to 1 within the mask, "
            f"but row {row} sums to {float(weight[row]):.4g}."
        )
    alpha = alpha / weight[:, None]
    logits = (alpha[:, None] @ readout)[:, 0]
    probs, predicted = masking.probabilities(logits, classes), masking.argmax(logits, classes)
    return Prepared(alpha, readout, mask, classes, probs, predicted, empty)


def chunks(examples: int, entries_each: int, limit: int = 2**21) -> list[slice]:
    """Slices of the batch with at most `limit` tensor entries (16 MB in float64) each."""
    size = max(1, limit // max(entries_each, 1))
    return [slice(start, start + size) for start in range(0, examples, size)]
