"""Distances between distributions, and how spread out one is. Batched and masked; in float64, whatever float comes in."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from attnaudit.core import masking


def tvd(p: Tensor, q: Tensor) -> Tensor:
    """How far apart are two distributions (…,N)? (…), half the L1 distance: 0 the same, 1 disjoint."""
    return (p.double() - q.double()).abs().sum(-1) / 2


def jsd(p: Tensor, q: Tensor, mask: Tensor | None = None) -> Tensor:
    """How far apart are two distributions (…,N), in nats? (…), 0 the same, ln 2 disjoint; leading dims broadcast.

    JSD = H((p + q) / 2) - (H(p) + H(q)) / 2, with 0 log 0 = 0. Lin 1991.
    Where p = 0 < q the true slope in p is -inf; autograd gives a finite one of the same sign (about -354).
    """
    p, q = p.double(), q.double()
    if mask is not None:
        p, q = masking.fill(p, mask), masking.fill(q, mask)
    # Summed item by item: each term is >= 0 and nothing large cancels.
    terms = (_x_log_x(p) + _x_log_x(q)) / 2 - _x_log_x((p + q) / 2)
    return _within(terms.sum(-1), math.log(2))


def entropy(p: Tensor, mask: Tensor, normalised: bool = True) -> Tensor:
    """How spread out is p (…,N) over the real items? (…), -sum p log p in nats, divided by log N if normalised.

    0 all on one item, 1 (log N) uniform, N the real items. p is scaled to sum to 1 first, as scipy.stats.entropy
    does; NaN if it sums to 0. Normalised, NaN with fewer than two items: one has no dispersion to speak of.
    """
    p = masking.renormalise(p.double(), mask)
    count = mask.sum(-1)
    value = _within(-_x_log_x(p).sum(-1), count.double().log())
    return (
        torch.where(count > 1, value / count.clamp_min(2).double().log(), torch.nan)
        if normalised
        else value
    )


def _x_log_x(x: Tensor) -> Tensor:
    """x log x, 0 at 0; the floor inside the logarithm leaves the value exact and keeps the gradient finite there."""
    return torch.special.xlogy(x, x.clamp_min(torch.finfo(x.dtype).tiny))


def _within(value: Tensor, most: Tensor | float) -> Tensor:
    """value in [0, most] with rounding cut off; the gradient goes through, where clamp alone would make it 0."""
    limit = torch.as_tensor(most, dtype=value.dtype, device=value.device)
    return value + (value.clamp(torch.zeros_like(limit), limit) - value).detach()
