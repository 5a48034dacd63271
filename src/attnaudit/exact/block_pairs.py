"""The furthest mixture of two items on a bound, in a text so long that not all pairs are tried.

Items of one side of the bound that are alike, in their distance from it and in their attention, are
put into blocks. For two blocks there is an upper bound of the JSD of all pairs between them: it is
convex in the mixing weight, so largest at the ends of its range, and decreasing in the attention of
either item. Only pairs of blocks that could hold a further mixture are tried (branch and bound).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from attnaudit.core.memory_budget import rows_at_once
from attnaudit.exact.jsd import mixture_jsd

_ITEMS = 32  # of a block
_AT_ONCE = 2**19 // _ITEMS**2  # pairs of blocks whose items are mixed in one step
_ROUNDING = 1e-12  # the JSD of a pair may be this far above the bound of its blocks


class Mixture(NamedTuple):
    """`weight` on item `first`, the rest on item `second`; `jsd` is the distance from alpha."""

    jsd: Tensor  # all ()
    first: Tensor
    second: Tensor
    weight: Tensor


class _Blocks(NamedTuple):
    """The items of one side of the bound, K blocks of them."""

    items: Tensor  # (K,32); the last item is repeated where there are fewer
    nearest: Tensor  # (K,) their least distance from the bound
    furthest: Tensor  # (K,) their largest distance
    attention: Tensor  # (K,) their least attention


def furthest_pair(
    alpha: Tensor, distance: Tensor, below: Tensor, above: Tensor, jsd: float, enough: float
) -> Mixture | None:
    """The furthest mixture of an item below and one above the bound; None if it is within `jsd`.

    Parameters
    ----------
    alpha, distance : Tensor, (N,)
        The attention, and how far each item lies above the bound.
    below, above : Tensor, (N,) bool
        The two sides, neither empty.
    jsd : float
        A mixture must be further than this.
    enough : float
        Once one is further than this, any such mixture will do.
    """
    under, over = (_blocks(alpha, distance, side) for side in (below, above))
    best = None
    for rows in torch.arange(len(under.items), device=alpha.device).split(
        rows_at_once(4 * len(over.items))
    ):
        limit, pair = (
            _limits(_Blocks(*(part[rows] for part in under)), over).flatten().sort(descending=True)
        )
        for start in range(0, len(pair), _AT_ONCE):
            if limit[start] + _ROUNDING <= jsd or jsd > enough:
                break
            tried = pair[start : start + _AT_ONCE]
            row = rows[tried // len(over.items)]
            found = _furthest(
                alpha, distance, under.items[row], over.items[tried % len(over.items)]
            )
            if found.jsd > jsd:
                best, jsd = found, float(found.jsd)
    return best


def _blocks(alpha: Tensor, distance: Tensor, side: Tensor) -> _Blocks:
    """Blocks of equal size, as wide in the order of distances as in that of attention."""
    items = side.nonzero()[:, 0]
    items = items[distance[items].abs().argsort()]
    strip = _ITEMS * math.ceil(math.sqrt(len(items) / _ITEMS))  # of similar distance
    items = torch.cat([part[alpha[part].argsort()] for part in items.split(strip)])
    short = -len(items) % _ITEMS
    items = torch.cat([items, items[-1:].expand(short)]).view(-1, _ITEMS)
    away = distance[items].abs()
    return _Blocks(items, away.amin(1), away.amax(1), alpha[items].amin(1))


def _limits(under: _Blocks, over: _Blocks) -> Tensor:
    """No mixture of an item of one block and one of the other is further than this: (K,L)."""
    least, most = (
        across / (across + mine[:, None])
        for across, mine in ((over.nearest, under.furthest), (over.furthest, under.nearest))
    )
    attention = under.attention[:, None], over.attention
    return torch.maximum(mixture_jsd(least, *attention), mixture_jsd(most, *attention))


def _furthest(alpha: Tensor, distance: Tensor, under: Tensor, over: Tensor) -> Mixture:
    """The furthest mixture of items of blocks under (P,32) and over (P,32), block by block."""
    mine, across = distance[under][:, :, None], distance[over][:, None]
    weight = across / (across - mine)  # weight·mine + (1 - weight)·across = 0
    jsd = mixture_jsd(weight, alpha[under][:, :, None], alpha[over][:, None]).flatten()
    place = jsd.argmax()
    block, item = place // _ITEMS**2, place % _ITEMS**2
    return Mixture(
        jsd[place],
        under[block, item // _ITEMS],
        over[block, item % _ITEMS],
        weight.flatten()[place],
    )
