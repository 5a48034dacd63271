"""Agreement of top-k lists, batched and masked; import it from attnaudit.statistics."""

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
    nan_where,
    ordered,
    pairs_of,
    tau_of,
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
    """Kendall's tau of the k highest items of x and of y. 1 same list, -1 disjoint lists.

    "corrected" is K^(p) of Fagin, Kumar & Sivakumar 2003, with bucket orders as in Fagin et al.
    2004. List A has the items that score at least the k-th largest x, except those with the lowest
    x: ties at the cut are all in, the zeros of a sparse attention never. Items outside A share one
    bottom bucket; equal scores in A are tied. B likewise from y. Over the pairs of A u B, K adds 1
    if they are strictly ordered in both and oppositely, `penalty` if tied in exactly one, else 0:
    value = 1 - 2K / (|A||B| + penalty * (ordered pairs inside A + inside B)); for disjoint lists
    the divisor is K. If k is at least the number of items, nothing is cut off: plain tau-b.

    "code" is what Neely & Schouten 2020 released, with its faults: exactly k items per list, pairs
    of an item only in A and one only in B left out, m common items counted as m^2 pairs, all
    divided by |A u B|^2. Disjoint lists score 0.75 to 1, not -1, and constant vectors have a value.

    Parameters
    ----------
    x, y : Tensor, (B,N)
        Scores of the items.
    k : int or Tensor, (B,) int64
        The length of the lists.
    mask : Tensor, (B,N) bool
        True where an item is real.
    penalty : float
        For a pair that is tied in exactly one list; 0.5 is neutral.
    fidelity : {"corrected", "code"}

    Returns
    -------
    Tensor, (B,)
        NaN for a constant vector, fewer than two items or NaN scores.

    Examples
    --------
    >>> x, y = torch.tensor([[0.6, 0.3, 0.1, 0.0]]), torch.tensor([[0.0, 0.1, 0.3, 0.6]])
    >>> mask = torch.ones(1, 4, dtype=torch.bool)
    >>> top_k_kendall(x, x, 2, mask), top_k_kendall(x, y, 2, mask)
    (tensor([1.], dtype=torch.float64), tensor([-1.], dtype=torch.float64))
    """
    check_scores(x, y, mask)
    check_choice("fidelity", fidelity, ("corrected", "code"))
    if not 0 <= penalty <= 1:
        raise InputError(
            f"penalty must be between 0 and 1; got {penalty}. The neutral choice is 0.5."
        )
    compare = _top_k_corrected if fidelity == "corrected" else _top_k_released

    def value(x: Tensor, y: Tensor, k: Tensor, mask: Tensor) -> Tensor:
        ranks = dense_ranks(x, mask), dense_ranks(y, mask)
        return nan_where(has_nan(mask, x, y), compare(*ranks, k, mask, penalty))

    return in_chunks(value, x, y, _k_per_example(k, x), mask)


def overlap_at_k(x: Tensor, y: Tensor, k: int | Tensor, mask: Tensor) -> Tensor:
    """The share of the k highest items that x and y have in common: |A n B| / max(|A|, |B|).

    The lists are those of `top_k_kendall`: ties at the cut are in, the lowest score never.

    Parameters
    ----------
    x, y : Tensor, (B,N)
        Scores of the items.
    k : int or Tensor, (B,) int64
        The length of the lists.
    mask : Tensor, (B,N) bool
        True where an item is real.

    Returns
    -------
    Tensor, (B,)
        1 if k is at least the number of items; NaN as for `top_k_kendall`.

    Examples
    --------
    >>> x, y = torch.tensor([[0.6, 0.3, 0.1, 0.0]]), torch.tensor([[0.6, 0.1, 0.3, 0.0]])
    >>> overlap_at_k(x, y, 2, torch.ones(1, 4, dtype=torch.bool))
    tensor([0.5000], dtype=torch.float64)
    """
    check_scores(x, y, mask)

    def share(x: Tensor, y: Tensor, k: Tensor, mask: Tensor) -> Tensor:
        a = _top_list(dense_ranks(x, mask), k, mask)
        b = _top_list(dense_ranks(y, mask), k, mask)
        common = (a & b).sum(-1) / torch.maximum(a.sum(-1), b.sum(-1)).double()
        value = torch.where(k >= mask.sum(-1), 1.0, common)
        return nan_where(has_nan(mask, x, y) | ~a.any(-1) | ~b.any(-1), value)

    return in_chunks(share, x, y, _k_per_example(k, x), mask)


def top_list(scores: Tensor, k: int | Tensor, mask: Tensor) -> Tensor:
    """The k highest items, as in `top_k_kendall`: ties at the cut are in, the lowest score never.

    Parameters
    ----------
    scores : Tensor, (B,N)
    k : int or Tensor, (B,) int64
        The length of the lists.
    mask : Tensor, (B,N) bool
        True where an item is real.

    Returns
    -------
    Tensor, (B,N) bool
        Nothing for a constant vector or NaN scores.

    Examples
    --------
    >>> top_list(torch.tensor([[0.6, 0.0, 0.3, 0.1]]), 2, torch.ones(1, 4, dtype=torch.bool))
    tensor([[ True, False,  True, False]])
    """
    chosen = _top_list(dense_ranks(scores, mask), _k_per_example(k, scores), mask)
    return chosen & ~has_nan(mask, scores)[:, None]


def _k_per_example(k: int | Tensor, x: Tensor) -> Tensor:
    """k per example: (B,) int64."""
    length = torch.as_tensor(k, device=x.device)
    is_integer = not length.is_floating_point() and length.dtype != torch.bool
    if not is_integer or length.shape not in ((), x.shape[:1]):
        raise InputError(
            f"k must be an int or an integer tensor ({len(x)},), one per example; "
            f"got {length.dtype} {tuple(length.shape)}. Round it, or pass one number."
        )
    if (length < 1).any():
        raise InputError(
            f"k must be at least 1; got {int(length.min())}. Leave out examples without a list."
        )
    return length.long().expand(len(x))


def _top_list(ranks: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    """The items ranked at least as high as the k-th highest, and above the lowest: (B,N) bool."""
    real = masking.fill(ranks, mask, -1)
    place = k[:, None].clamp(max=ranks.shape[1]) - 1
    cut = real.sort(-1, descending=True).values.gather(-1, place) if ranks.shape[1] else real
    return (real >= cut) & (real > 0)


def _last_k(ranks: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    """Exactly k items, the last of an ascending stable sort: (B,N) bool.

    (In the released code ties are in the order that NumPy's partition left them in.)
    """
    order = masking.fill(ranks, mask, -1).argsort(dim=-1, stable=True)
    return order.argsort(-1) >= ranks.shape[1] - k[:, None]


def _top_k_corrected(
    x_ranks: Tensor, y_ranks: Tensor, k: Tensor, mask: Tensor, penalty: float
) -> Tensor:
    """K^(p) of Fagin et al., scaled to [-1, 1]."""
    a, b = _top_list(x_ranks, k, mask), _top_list(y_ranks, k, mask)
    union, in_a, in_b = (a | b).double(), a.double(), b.double()
    pairs = pairs_of(masking.fill(x_ranks, a), masking.fill(y_ranks, b), union, union)
    tied_in_one = 2 * pairs.untied - pairs.untied_x - pairs.untied_y
    distance = pairs.discordant + penalty * tied_in_one
    inside = ordered(x_ranks, in_a, in_a) + ordered(y_ranks, in_b, in_b)
    value = 1 - 2 * distance / (in_a.sum(-1) * in_b.sum(-1) + penalty * inside)

    real = mask.double()
    value = torch.where(k >= real.sum(-1), tau_of(pairs_of(x_ranks, y_ranks, real, real)), value)
    return nan_where(~a.any(-1) | ~b.any(-1), value)


def _top_k_released(
    x_ranks: Tensor, y_ranks: Tensor, k: Tensor, mask: Tensor, penalty: float
) -> Tensor:
    """The released code of Neely & Schouten."""
    k = torch.minimum(k, mask.sum(-1))
    a, b = _last_k(x_ranks, k, mask), _last_k(y_ranks, k, mask)
    common, only_a, only_b = (a & b).double(), (a & ~b).double(), (b & ~a).double()
    m = common.sum(-1)
    tau = tau_of(pairs_of(x_ranks, y_ranks, common, common))
    # One item, or equal scores, have no tau: 0, as released.
    distance = (m.square() * (1 - tau) / 2).nan_to_num(0.0)
    distance = distance + ordered(x_ranks, common, only_a) + ordered(y_ranks, common, only_b)
    distance = distance + penalty * (k - m) * (k - m - 1)
    return 1 - 2 * distance / (a | b).sum(-1).double().square()
