"""The attention furthest from alpha (in JSD) whose weighted sum of s lies between two bounds.

JSD(·, alpha) is convex, so its maximum over a polytope is at a vertex. The vertices of the simplex
cut by one slab low <= Σ a_n s_n <= high are the one-hot vectors inside the slab and, for each
bound, the mixtures of one item below it and one above it that lie on the bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.exact.block_pairs import furthest_pair
from attnaudit.exact.inputs import chunks
from attnaudit.exact.jsd import mixture_jsd, one_hot_jsd

_ALL_PAIRS = 48  # items up to which trying all pairs at once is faster than leaving some out
_ROUND = 8  # items per side that are paired with everything across the bound in one round
_LONG = 1024  # items from which on pairs are tried in blocks, one text after the other


@dataclass
class Vertex:
    """`weight` on item `first`, the rest on item `second`; `jsd` is the distance from alpha."""

    jsd: Tensor  # (B,)
    first: Tensor  # (B,)
    second: Tensor  # (B,)
    weight: Tensor  # (B,)

    def dense(self, items: int) -> Tensor:
        """The vertex as attention (B,N)."""
        vector = self.weight.new_zeros(len(self.weight), items)
        vector.scatter_add_(1, self.first[:, None], self.weight[:, None])
        return vector.scatter_add_(1, self.second[:, None], 1 - self.weight[:, None])

    def improve(
        self, index: Tensor, jsd: Tensor, first: Tensor, second: Tensor, weight: Tensor
    ) -> None:
        """Take the candidates (b,) for the examples at index (b,) that are further."""
        better = jsd > self.jsd[index]
        index = index[better]
        self.jsd[index], self.first[index] = jsd[better], first[better]
        self.second[index], self.weight[index] = second[better], weight[better]


def furthest_in_slab(
    alpha: Tensor,
    s: Tensor,
    mask: Tensor,
    low: Tensor,
    high: Tensor,
    inside: Tensor,
    enough: Tensor | None = None,
) -> Vertex:
    """The furthest vertex of the simplex cut by low <= Σ a_n s_n <= high.

    alpha, s, mask (B,N); low, high (B,) may be infinite; inside (B,N): the feasible one-hots. Of an
    example whose vertex is further than `enough` (B,), any such vertex will do.
    """
    alone = masking.fill(one_hot_jsd(alpha), mask, -1.0)
    jsd, item = masking.fill(alone, inside & mask, -1.0).max(-1)
    best = Vertex(jsd, item, item.clone(), torch.ones_like(jsd))
    for bound in (low, high):
        distance = s - bound[:, None]
        below, above = mask & (distance < 0), mask & (distance > 0)
        finite = torch.isfinite(bound)[:, None]
        if enough is not None:
            finite = finite & (best.jsd <= enough)[:, None]
        below, above = below & finite, above & finite
        if alpha.shape[1] <= _ALL_PAIRS:
            _try_all_pairs(best, alpha, distance, below, above)
        elif alpha.shape[1] >= _LONG:
            _pair_in_blocks(best, alpha, distance, below, above, enough)
        else:
            _pair_across(best, alpha, alone, distance, below, above, enough)
    return best


def _try_all_pairs(
    best: Vertex, alpha: Tensor, distance: Tensor, below: Tensor, above: Tensor
) -> None:
    """Mix every item below a bound with every item above it, so that the bound is met."""
    count = alpha.shape[1]
    both_sides = (below.any(-1) & above.any(-1)).nonzero()[:, 0]
    for part in chunks(len(both_sides), count * count):
        index = both_sides[part]
        pairs = below[index, :, None] & above[index, None]  # (b,N,N)
        example, first, second = pairs.nonzero().unbind(1)
        example = index[example]
        weight = _weight(distance[example, first], distance[example, second])
        jsd = mixture_jsd(weight, alpha[example, first], alpha[example, second])
        table = torch.full_like(pairs, -1.0, dtype=jsd.dtype).masked_scatter_(pairs, jsd)
        furthest, pair = table.flatten(1).max(-1)
        first, second = pair // count, pair % count
        best.improve(
            index, furthest, first, second, _weight(distance[index, first], distance[index, second])
        )


def _weight(first: Tensor, second: Tensor) -> Tensor:
    """The weight with which weight·first + (1 - weight)·second = 0; the signs differ."""
    return second / (second - first)


def _pair_across(
    best: Vertex,
    alpha: Tensor,
    alone: Tensor,
    distance: Tensor,
    below: Tensor,
    above: Tensor,
    enough: Tensor | None,
) -> None:
    """Try the mixtures of one item per side that lie on a bound, except those that cannot win.

    JSD is convex in the mixing weight, so a mixture is at most as far as the further of its items
    alone. Items are taken by decreasing distance alone and paired with everything on the other
    side, until no remaining item alone is further than the best.
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
            index = unfinished[part]
            for side, other, _, order in sides:
                items = order[index, start:stop]
                real = side[index].gather(1, items)
                _try_items(best, index, alpha[index], distance[index], items, real, other[index])
        start = stop
        if start < count:
            alone_next = [ranked[unfinished, start] for _, _, ranked, _ in sides]
            remaining = torch.stack(alone_next).amax(0)
            wanted = remaining > best.jsd[unfinished]
            if enough is not None:
                wanted &= best.jsd[unfinished] <= enough[unfinished]
            unfinished = unfinished[wanted]


def _pair_in_blocks(
    best: Vertex,
    alpha: Tensor,
    distance: Tensor,
    below: Tensor,
    above: Tensor,
    enough: Tensor | None,
) -> None:
    """The same for long texts, where items are too many to be paired with everything."""
    for index in (below.any(-1) & above.any(-1)).nonzero()[:, 0]:
        found = furthest_pair(
            alpha[index],
            distance[index],
            below[index],
            above[index],
            float(best.jsd[index]),
            torch.inf if enough is None else float(enough[index]),
        )
        if found is not None:
            best.improve(index[None], *(part[None] for part in found))


def _try_items(
    best: Vertex,
    index: Tensor,
    alpha: Tensor,
    distance: Tensor,
    items: Tensor,
    real: Tensor,
    other: Tensor,
) -> None:
    """Mix items (b,m) with every item of the other side (b,N) so that the bound is met."""
    mine = distance.gather(1, items)[:, :, None]  # (b,m,1)
    across = distance[:, None]  # (b,1,N)
    allowed = real[:, :, None] & other[:, None]
    # weight·mine + (1 - weight)·across = 0; where allowed, the signs differ: no division by 0.
    weight = torch.where(
        allowed, across / (across - mine).where(allowed, torch.ones_like(mine)), 0.5
    )
    jsd = mixture_jsd(weight, alpha.gather(1, items)[:, :, None], alpha[:, None])
    furthest, pair = masking.fill(jsd, allowed, -1.0).flatten(1).max(-1)
    width = alpha.shape[1]
    best.improve(
        index,
        furthest,
        items.gather(1, pair[:, None] // width)[:, 0],
        pair % width,
        weight.flatten(1).gather(1, pair[:, None])[:, 0],
    )
