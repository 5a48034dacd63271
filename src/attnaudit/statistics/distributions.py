"""Distances between distributions, and entropy. Batched and masked, in float64."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from attnaudit.core import masking


def tvd(p: Tensor, q: Tensor) -> Tensor:
    """Total variation distance: half the L1 distance. 0 equal, 1 disjoint.

    Parameters
    ----------
    p, q : Tensor, (…,N)
        Distributions; leading dimensions broadcast.

    Returns
    -------
    Tensor, (…)

    Examples
    --------
    >>> tvd(torch.tensor([0.5, 0.5]), torch.tensor([0.25, 0.75]))
    tensor(0.2500, dtype=torch.float64)
    """
    return (p.double() - q.double()).abs().sum(-1) / 2


def jsd(p: Tensor, q: Tensor, mask: Tensor | None = None) -> Tensor:
    """Jensen–Shannon divergence in nats (Lin 1991). 0 equal, ln 2 disjoint.

    JSD = H((p + q) / 2) - (H(p) + H(q)) / 2, with 0 log 0 = 0. Differentiable: where p = 0 < q the
    true slope in p is -inf, and autograd gives a finite one of the same sign (about -354).

    Parameters
    ----------
    p, q : Tensor, (…,N)
        Distributions; leading dimensions broadcast.
    mask : Tensor, (…,N) bool, optional
        True where an item is real.

    Returns
    -------
    Tensor, (…)

    Examples
    --------
    >>> jsd(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0]))
    tensor(0.6931, dtype=torch.float64)
    """
    p, q = p.double(), q.double()
    if mask is not None:
        p, q = masking.fill(p, mask), masking.fill(q, mask)
    # Summed item by item: each term is >= 0, so nothing large cancels.
    terms = (_x_log_x(p) + _x_log_x(q)) / 2 - _x_log_x((p + q) / 2)
    return _within(terms.sum(-1), math.log(2))


def entropy(p: Tensor, mask: Tensor, normalised: bool = True) -> Tensor:
    """Entropy over the real items. 0 all on one item, 1 (or log N) uniform.

    Parameters
    ----------
    p : Tensor, (…,N)
        Scaled to sum to 1 first, as in `scipy.stats.entropy`.
    mask : Tensor, (…,N) bool
        True where an item is real.
    normalised : bool
        Divide by the log of the number of real items; otherwise the entropy is in nats.

    Returns
    -------
    Tensor, (…)
        NaN if p sums to 0; normalised, also with fewer than two items.

    Examples
    --------
    >>> entropy(torch.tensor([0.5, 0.5, 0.0]), torch.tensor([True, True, False]))
    tensor(1., dtype=torch.float64)
    """
    p = masking.renormalise(p.double(), mask)
    count = mask.sum(-1)
    value = _within(-_x_log_x(p).sum(-1), count.double().log())
    if not normalised:
        return value
    return torch.where(count > 1, value / count.clamp_min(2).double().log(), torch.nan)


def _x_log_x(x: Tensor) -> Tensor:
    """x log x, 0 at 0; the floor in the logarithm keeps the gradient finite and the value exact."""
    if x.requires_grad and torch.is_grad_enabled():
        return _XLogX.apply(x)[0]
    return torch.special.xlogy(x, _floored(x))


def _floored(x: Tensor) -> Tensor:
    return x.clamp_min(torch.finfo(x.dtype).tiny)


class _XLogX(torch.autograd.Function):
    """x log x whose logarithm is kept: that of torch takes it again, and divides, for the slope."""

    generate_vmap_rule = True  # with `setup_context`, what torch.func needs

    @staticmethod
    def forward(x: Tensor) -> tuple[Tensor, Tensor]:
        log = _floored(x).log()
        return x * log, log

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: tuple[Tensor, Tensor]) -> None:
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(*inputs, output[1])

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> Tensor:
        x, log = ctx.saved_tensors
        if torch.is_grad_enabled():  # for second derivatives
            log = _floored(x).log()
        return slopes[0] * (log + (x >= torch.finfo(x.dtype).tiny))


def _within(value: Tensor, most: Tensor | float) -> Tensor:
    """Clamp rounding to [0, most], but keep the gradient, which clamp alone would make 0."""
    limit = torch.as_tensor(most, dtype=value.dtype, device=value.device)
    return value + (value.clamp(torch.zeros_like(limit), limit) - value).detach()
