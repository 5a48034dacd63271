"""Do two score vectors name the same most important items? Batched and masked; import these from attnaudit.statistics."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.errors import InputError
from attnaudit.statistics.pairs import (
    check_choice,
    check_scores,
    dense_ranks,
    has_nan,
    in_chunks,
    ordered,
    pairs_of,
    tau_of,
    unless,
)


def top_k_kendall(
    x: Tensor,
    y: Tensor,
    k: int | Tensor,
    mask: Tensor,
    *,
    penalty: float = 0.5,
    fidelity: str = "corrected",
) -> Tensor:
    """Do the k highest of x and of y agree, in members and order? (B,), 1 same list, -1 disjoint; k an int or (B,).

    "corrected": list A = items scoring at least the k-th largest x, except those sharing the lowest x (ties at
    the cut are all in, the zeros of a sparse attention never). Items not in A share one bottom bucket; equal
    scores in A are tied. B likewise from y. Over the pairs of A u B,
    K = sum of 1 if strictly ordered in both and oppositely, `penalty` if tied in exactly one, else 0;
    value = 1 - 2K / (|A||B| + penalty * (ordered pairs inside A + inside B)), the divisor being K if disjoint.
    Where k >= the number of items nothing is cut off, and lists of everything cannot be disjoint: plain tau-b.
    Fagin, Kumar & Sivakumar 2003, K^(p); bucket orders: Fagin et al. 2004.

    "code": what Neely & Schouten 2020 released, with its faults: exactly k items a list, pairs of one item only
    in A and one only in B left out, m common items counted as m^2 pairs, all divided by |A u B|^2. Disjoint lists
    score 0.75 to 1, not -1; constant vectors have a value, as there.
    """
    check_scores(x, y, mask)
    check_choice("fidelity", fidelity, ("corrected", "code"))
    if not 0 <= penalty <= 1:
        raise InputError(
            f"penalty must lie between 0 and 1; got {penalty}. The neutral choice is 0.5."
        )
    compare = _top_k_corrected if fidelity == "corrected" else _top_k_released

    def value(x: Tensor, y: Tensor, k: Tensor, mask: Tensor) -> Tensor:
        ranks = dense_ranks(x, mask), dense_ranks(y, mask)
        return unless(has_nan(mask, x, y), compare(*ranks, k, mask, penalty))

    return in_chunks(value, x, y, _each_k(k, x), mask)


def overlap_at_k(x: Tensor, y: Tensor, k: int | Tensor, mask: Tensor) -> Tensor:
    """What share of the k highest do x and y have in common? (B,), |A n B| / max(|A|, |B|): 0 none, 1 all.

    The lists are those of top_k_kendall: ties at the cut are in, the lowest score never. 1 where k >= the items.
    """
    check_scores(x, y, mask)

    def share(x: Tensor, y: Tensor, k: Tensor, mask: Tensor) -> Tensor:
        a = _top_list(dense_ranks(x, mask), k, mask)
        b = _top_list(dense_ranks(y, mask), k, mask)
        common = (a & b).sum(-1) / torch.maximum(a.sum(-1), b.sum(-1)).double()
        value = torch.where(k >= mask.sum(-1), 1.0, common)
        return unless(has_nan(mask, x, y) | ~a.any(-1) | ~b.any(-1), value)

    return in_chunks(share, x, y, _each_k(k, x), mask)


def _each_k(k: int | Tensor, x: Tensor) -> Tensor:
    """(B,) int64."""
    each = torch.as_tensor(k, device=x.device)
    if each.is_floating_point() or each.dtype == torch.bool or each.shape not in ((), x.shape[:1]):
        expected = f"k must be an int or an integer tensor ({len(x)},), one an example"
        raise InputError(
            f"{expected}; got {each.dtype} {tuple(each.shape)}. Round it, or pass one number."
        )
    if (each < 1).any():
        raise InputError(
            f"k must be at least 1; got {int(each.min())}. Leave out examples without a list."
        )
    return each.long().expand(len(x))


def _top_list(ranks: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    """(B,N) bool: ranked at least as high as the k-th highest, and above the lowest."""
    real = masking.fill(ranks, mask, -1)
    place = k[:, None].clamp(max=ranks.shape[1]) - 1
    cut = real.sort(-1, descending=True).values.gather(-1, place) if ranks.shape[1] else real
    return (real >= cut) & (real > 0)


def _last_k(ranks: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    """(B,N) bool: exactly k items, the last of an ascending stable sort. (Released: ties as NumPy's partition left them.)"""
    order = masking.fill(ranks, mask, -1).argsort(dim=-1, stable=True)
    return order.argsort(-1) >= ranks.shape[1] - k[:, None]


def _top_k_corrected(
    x_ranks: Tensor, y_ranks: Tensor, k: Tensor, mask: Tensor, penalty: float
) -> Tensor:
    a, b = _top_list(x_ranks, k, mask), _top_list(y_ranks, k, mask)
    union, in_a, in_b = (a | b).double(), a.double(), b.double()
    pairs = pairs_of(masking.fill(x_ranks, a), masking.fill(y_ranks, b), union, union)
    tied_in_one = 2 * pairs.untied - pairs.untied_x - pairs.untied_y
    distance = pairs.discordant + penalty * tied_in_one
    inside = ordered(x_ranks, in_a, in_a) + ordered(y_ranks, in_b, in_b)
    value = 1 - 2 * distance / (in_a.sum(-1) * in_b.sum(-1) + penalty * inside)

    real = mask.double()
    value = torch.where(k >= real.sum(-1), tau_of(pairs_of(x_ranks, y_ranks, real, real)), value)
    return unless(~a.any(-1) | ~b.any(-1), value)


def _top_k_released(
    x_ranks: Tensor, y_ranks: Tensor, k: Tensor, mask: Tensor, penalty: float
) -> Tensor:
    k = torch.minimum(k, mask.sum(-1))
    a, b = _last_k(x_ranks, k, mask), _last_k(y_ranks, k, mask)
    common, only_a, only_b = (a & b).double(), (a & ~b).double(), (b & ~a).double()
    m = common.sum(-1)
    tau = tau_of(pairs_of(x_ranks, y_ranks, common, common))
    # No tau of one item, nor of equal scores: 0, as released.
    distance = (m.square() * (1 - tau) / 2).nan_to_num(0.0)
    distance = distance + ordered(x_ranks, common, only_a) + ordered(y_ranks, common, only_b)
    distance = distance + penalty * (k - m) * (k - m - 1)
    return 1 - 2 * distance / (a | b).sum(-1).double().square()
