"""The attention furthest from alpha (in JSD) whose weighted sum of s stays between two bounds: an exact maximum.

JSD(·, alpha) is convex, so its maximum over a polytope is at a vertex. The simplex cut by one slab low <= Σ a_n s_n <= high has for
vertices the one-hot vectors inside the slab and, for each bound, the mixtures of one item below it and one above that meet it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.special import xlogy

from attnaudit.core import masking
from attnaudit.exact.inputs import chunks

_ROUND = 8  # items a side that are paired with everything across the bound in one round


@dataclass
class Vertex:
    """weight on item `first`, the rest on item `second`; `jsd` is its distance from alpha."""

    jsd: Tensor  # (B,)
    first: Tensor  # (B,)
    second: Tensor  # (B,)
    weight: Tensor  # (B,)

    def dense(self, items: int) -> Tensor:
        """(B,N)"""
        vector = self.weight.new_zeros(len(self.weight), items)
        vector.scatter_add_(1, self.first[:, None], self.weight[:, None])
        return vector.scatter_add_(1, self.second[:, None], 1 - self.weight[:, None])

    def improve(
        self, at: Tensor, jsd: Tensor, first: Tensor, second: Tensor, weight: Tensor
    ) -> None:
        """Take over the candidates (for the examples `at`) that are further away."""
        better = jsd > self.jsd[at]
        at = at[better]
        self.jsd[at], self.first[at], self.second[at], self.weight[at] = (
            jsd[better],
            first[better],
            second[better],
            weight[better],
        )


def one_hot_jsd(alpha: Tensor) -> Tensor:
    """JSD between alpha and the attention that puts all weight on item n, for every n: (B,N), decreasing in alpha_n."""
    return _mixture_jsd(torch.ones_like(alpha), alpha, torch.zeros_like(alpha))


def furthest_in_slab(
    alpha: Tensor, s: Tensor, mask: Tensor, low: Tensor, high: Tensor, inside: Tensor
) -> Vertex:
    """alpha, s, mask (B,N); low, high (B,) may be infinite; inside (B,N): the one-hot vectors that are feasible."""
    alone = masking.fill(one_hot_jsd(alpha), mask, -1.0)
    jsd, item = masking.fill(alone, inside & mask, -1.0).max(-1)
    best = Vertex(jsd, item, item.clone(), torch.ones_like(jsd))
    for bound in (low, high):
        distance = s - bound[:, None]
        below, above = mask & (distance < 0), mask & (distance > 0)
        finite = torch.isfinite(bound)[:, None]
        _pair_across(best, alpha, alone, distance, below & finite, above & finite)
    return best


def _pair_across(
    best: Vertex, alpha: Tensor, alone: Tensor, distance: Tensor, below: Tensor, above: Tensor
) -> None:
    """Try the mixtures of one item on each side of a bound that meet it, leaving out only those that cannot win.

    JSD is convex in the mixing weight, so a mixture is at most as far as the further of its two items alone: items are taken by
    decreasing distance alone, paired with everything on the other side, until no item left over is further than the best.
    """
    sides = [
        (side, other, *masking.fill(alone, side, -1.0).sort(-1, descending=True))
        for side, other in ((below, above), (above, below))
    ]
    count = alpha.shape[1]
    unfinished = (below.any(-1) & above.any(-1)).nonzero()[:, 0]
    start = 0
    while len(unfinished) and start < count:
        stop = min(start + _ROUND, count)
        for part in chunks(len(unfinished), _ROUND * count):
            at = unfinished[part]
            for side, other, _, order in sides:
                items = order[at, start:stop]
                _try_items(
                    best, at, alpha[at], distance[at], items, side[at].gather(1, items), other[at]
                )
        start = stop
        if start < count:
            remaining = torch.stack([ranked[unfinished, start] for _, _, ranked, _ in sides]).amax(
                0
            )
            unfinished = unfinished[remaining > best.jsd[unfinished]]


def _try_items(
    best: Vertex,
    at: Tensor,
    alpha: Tensor,
    distance: Tensor,
    items: Tensor,
    real: Tensor,
    other: Tensor,
) -> None:
    """Pair items (b,m) with every item of the other side (b,N) at the weight that meets the bound."""
    mine = distance.gather(1, items)[:, :, None]  # (b,m,1)
    across = distance[:, None]  # (b,1,N)
    allowed = real[:, :, None] & other[:, None]
    # weight·mine + (1 - weight)·across = 0; the two have opposite signs where allowed, so nothing is divided by 0.
    weight = torch.where(
        allowed, across / (across - mine).where(allowed, torch.ones_like(mine)), 0.5
    )
    jsd = _mixture_jsd(weight, alpha.gather(1, items)[:, :, None], alpha[:, None])
    furthest, index = masking.fill(jsd, allowed, -1.0).flatten(1).max(-1)
    width = alpha.shape[1]
    best.improve(
        at,
        furthest,
        items.gather(1, index[:, None] // width)[:, 0],
        index % width,
        weight.flatten(1).gather(1, index[:, None])[:, 0],
    )


def _mixture_jsd(weight: Tensor, alpha_first: Tensor, alpha_second: Tensor) -> Tensor:
    """JSD(weight·e_i + (1 - weight)·e_j, alpha) in closed form: items outside {i, j} each give ½ alpha ln 2."""
    rest = 0.5 * math.log(2) * (1 - alpha_first - alpha_second)
    return (rest + _term(weight, alpha_first) + _term(1 - weight, alpha_second)).clamp(
        0.0, math.log(2)
    )


def _term(p: Tensor, a: Tensor) -> Tensor:
    """½ [p ln(2p/(p+a)) + a ln(2a/(p+a))], 0 at p = a = 0."""
    return 0.5 * (xlogy(p, 2 * p) + xlogy(a, 2 * a) - xlogy(p + a, p + a))
