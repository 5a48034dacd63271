"""The Jensen–Shannon divergence of sparse attention from alpha, item by item and in closed form.

`statistics.jsd` is the general, differentiable one; these are for search, where only a few items
carry weight and each term is needed by itself. The three forms of the term are equal but round
differently. Which of several equally far attentions is found depends on the rounding, so each
caller keeps its form; the tests compare them.
"""

from __future__ import annotations

import math

from torch import Tensor, ones_like, zeros_like
from torch.special import xlogy


def jsd_term(p: Tensor, a: Tensor) -> Tensor:
    """What an item adds to JSD(p, alpha): ½ [p ln(2p/(p+a)) + a ln(2a/(p+a))], 0 at p = a = 0."""
    return 0.5 * (xlogy(p, 2 * p) + xlogy(a, 2 * a) - xlogy(p + a, p + a))


def expanded_jsd_term(p: Tensor, a: Tensor) -> Tensor:
    """`jsd_term` with ln 2 outside of the logarithms."""
    return 0.5 * (xlogy(p, p) + xlogy(a, a) - xlogy(p + a, p + a) + math.log(2) * (p + a))


def jsd_gain(p: Tensor, a: Tensor) -> Tensor:
    """2 [jsd_term(p, a) - jsd_term(0, a)]: what weight on an item adds, up to the factor 2."""
    return xlogy(p, 2 * p) + xlogy(a, a) - xlogy(p + a, p + a)


def mixture_jsd(weight: Tensor, alpha_first: Tensor, alpha_second: Tensor) -> Tensor:
    """JSD(weight·e_i + (1 - weight)·e_j, alpha); items outside {i, j} each add ½ alpha ln 2."""
    rest = 0.5 * math.log(2) * (1 - alpha_first - alpha_second)
    jsd = rest + jsd_term(weight, alpha_first) + jsd_term(1 - weight, alpha_second)
    return jsd.clamp(0.0, math.log(2))


def one_hot_jsd(alpha: Tensor) -> Tensor:
    """JSD of alpha from all weight on item n, for every n: (B,N), decreasing in alpha_n."""
    return mixture_jsd(ones_like(alpha), alpha, zeros_like(alpha))
