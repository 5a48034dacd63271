"""Do two score vectors rank the items alike? Batched and masked; import these from attnaudit.statistics.

Everywhere: x, y (B,N) float, mask (B,N) bool with True = real; what lies outside the mask cannot matter.
Computed in float64. NaN where there is no answer: a constant vector, fewer than two items, NaN among the scores.

All rests on sums over pairs of items, which need no (N,N) table: pairs untied in a vector come from running
sums over its ranks, discordant pairs from a merge sort (Knight 1966), done for all examples at once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from attnaudit import masking
from attnaudit.errors import InputError

_CHUNK = 2**19  # entries of a (B,N) tensor worked on at once: some 4 MB a temporary, whatever B
_EXACT = 33  # SciPy's largest n with an exact p-value for every tau


def kendall(x: Tensor, y: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Do x and y order the items alike? Kendall's tau-b and its two-sided p-value, each (B,).

    tau = (concordant - discordant) / sqrt(pairs untied in x * pairs untied in y); 1 same order, -1 reversed.
    p as scipy.stats.kendalltau: exact without ties if n <= 33 or at most one pair is out of place, else normal.
    Kendall 1970.
    """
    _check(x, y, mask)
    tau, p = _in_chunks(_kendall, x, y, mask).unbind(-1)
    return tau, p


def weighted_kendall(
    x: Tensor, y: Tensor, weights: Tensor, mask: Tensor, *, combine: str = "additive"
) -> Tensor:
    """Do x and y order the items that carry weight alike? (B,), 1 same order, -1 reversed.

    tau-b with each pair counted w_i + w_j ("additive") or w_i * w_j ("multiplicative") times; weights (B,N) >= 0.
    NaN also where the untied pairs of x or of y have no weight (to 1e-12 of all). Shieh 1998; as scipy.stats.weightedtau with given weights.
    """
    _check(x, y, mask, weights=weights)
    _choose("combine", combine, ("additive", "multiplicative"))
    if (masking.fill(weights, mask) < 0).any():
        raise InputError("weights must not be negative within the mask. Pass, say, the mean attention.")

    def tau(x: Tensor, y: Tensor, weights: Tensor, mask: Tensor) -> Tensor:
        weight = masking.fill(weights.double(), mask)
        other = mask.double() if combine == "additive" else weight
        value = _tau(_pairs(_dense_ranks(x, mask), _dense_ranks(y, mask), weight, other))
        return _unless(_has_nan(mask, x, y, weights), value)

    return _in_chunks(tau, x, y, weights, mask)


def top_k_kendall(
    x: Tensor, y: Tensor, k: int | Tensor, mask: Tensor, *, penalty: float = 0.5, fidelity: str = "corrected"
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
    _check(x, y, mask)
    _choose("fidelity", fidelity, ("corrected", "code"))
    if not 0 <= penalty <= 1:
        raise InputError(f"penalty must lie between 0 and 1; got {penalty}. The neutral choice is 0.5.")
    compare = _top_k_corrected if fidelity == "corrected" else _top_k_released

    def value(x: Tensor, y: Tensor, k: Tensor, mask: Tensor) -> Tensor:
        ranks = _dense_ranks(x, mask), _dense_ranks(y, mask)
        return _unless(_has_nan(mask, x, y), compare(*ranks, k, mask, penalty))

    return _in_chunks(value, x, y, _each_k(k, x), mask)


def overlap_at_k(x: Tensor, y: Tensor, k: int | Tensor, mask: Tensor) -> Tensor:
    """What share of the k highest do x and y have in common? (B,), |A n B| / max(|A|, |B|): 0 none, 1 all.

    The lists are those of top_k_kendall: ties at the cut are in, the lowest score never. 1 where k >= the items.
    """
    _check(x, y, mask)

    def share(x: Tensor, y: Tensor, k: Tensor, mask: Tensor) -> Tensor:
        a = _top_list(_dense_ranks(x, mask), k, mask)
        b = _top_list(_dense_ranks(y, mask), k, mask)
        common = (a & b).sum(-1) / torch.maximum(a.sum(-1), b.sum(-1)).double()
        value = torch.where(k >= mask.sum(-1), 1.0, common)
        return _unless(_has_nan(mask, x, y) | ~a.any(-1) | ~b.any(-1), value)

    return _in_chunks(share, x, y, _each_k(k, x), mask)


def spearman(x: Tensor, y: Tensor, mask: Tensor) -> Tensor:
    """Do x and y rank the items alike? (B,), correlation of average ranks: 1 same order, -1 reversed. Spearman 1904."""
    _check(x, y, mask)

    def rho(x: Tensor, y: Tensor, mask: Tensor) -> Tensor:
        a, b = _average_ranks(x, mask), _average_ranks(y, mask)
        a = masking.fill(a - masking.mean(a, mask)[:, None], mask)
        b = masking.fill(b - masking.mean(b, mask)[:, None], mask)
        value = (a * b).sum(-1) / (a.square().sum(-1).sqrt() * b.square().sum(-1).sqrt())
        return _unless(_has_nan(mask, x, y), value.clamp(-1, 1))

    return _in_chunks(rho, x, y, mask)


def average_ranks(x: Tensor, mask: Tensor) -> Tensor:
    """Which place has each item, 1 for the lowest score? (B,N); equal scores share their mean place; 0 if masked."""
    _check(x, x, mask)

    def ranks(x: Tensor, mask: Tensor) -> Tensor:
        return _unless(_has_nan(mask, x)[:, None] & mask, _average_ranks(x, mask))

    return _in_chunks(ranks, x, mask)


def _dense_ranks(x: Tensor, mask: Tensor) -> Tensor:
    """(B,N) int64: 0 for the lowest real score, equal if equal, no gaps. Masked items get some rank: weigh them 0."""
    values, order = masking.fill(x.double(), mask, torch.inf).sort(-1)
    return torch.empty_like(order).scatter_(-1, order, _steps(values))


def _steps(ascending: Tensor) -> Tensor:
    """Dense ranks of values that are sorted already."""
    first = torch.zeros_like(ascending[:, :1], dtype=torch.bool)
    return torch.cat([first, ascending[:, 1:] != ascending[:, :-1]], -1).cumsum(-1)


def _per_rank(ranks: Tensor, weight: Tensor) -> Tensor:
    """(B,N): the weight of all items of rank 0, 1, …"""
    return torch.zeros_like(weight).scatter_add_(-1, ranks, weight)


def _lower(per_rank: Tensor) -> Tensor:
    """Sums over all lower ranks. Shifted, not cumsum minus self: small weights must survive beside large ones."""
    return torch.cat([torch.zeros_like(per_rank[:, :1]), per_rank.cumsum(-1)[:, :-1]], -1)


def _average_ranks(x: Tensor, mask: Tensor) -> Tensor:
    ranks = _dense_ranks(x, mask)
    count = _per_rank(ranks, mask.double())
    return masking.fill((_lower(count) + (count + 1) / 2).gather(-1, ranks), mask)


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


class _Pairs(NamedTuple):
    """Summed pair weights, each (B,)."""

    untied_x: Tensor
    untied_y: Tensor
    untied: Tensor  # in x or in y
    discordant: Tensor

    @property
    def difference(self) -> Tensor:
        """Concordant - discordant."""
        return self.untied_x + self.untied_y - self.untied - 2 * self.discordant


def _pairs(x_ranks: Tensor, y_ranks: Tensor, left: Tensor, right: Tensor) -> _Pairs:
    """A pair counts left_i right_j + left_j right_i times, or left_i left_j times when right is left."""

    def summed(kernel: Callable[..., Tensor], order: Tensor, left: Tensor, right: Tensor) -> Tensor:
        one_way = kernel(order, left, right)
        return one_way if same else one_way + kernel(order, right, left)

    same = left is right
    # Positions by x, equal x by y; listed by y, equal y by position: only strict disagreements are reversed.
    joint, by_x = (x_ranks * x_ranks.shape[1] + y_ranks).sort(-1)
    by_y = y_ranks.gather(-1, by_x).argsort(dim=-1, stable=True)
    placed = left.gather(-1, by_x), right.gather(-1, by_x)
    return _Pairs(
        untied_x=summed(_ordered, x_ranks, left, right),
        untied_y=summed(_ordered, y_ranks, left, right),
        untied=summed(_ordered, _steps(joint), *placed),
        discordant=summed(_reversed, by_y, *placed),
    )


def _ordered(ranks: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """(B,): sum of left_i right_j over i ranked strictly below j."""
    return (_lower(_per_rank(ranks, left)) * _per_rank(ranks, right)).sum(-1)


def _reversed(listed: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """(B,): sum of left_i right_j over positions i < j of which j is listed first. listed (B,N): a permutation.

    A merge sort run backwards: halve the positions, count those of the later half listed before each of the
    earlier, divide the list in the two halves keeping its order, go on within each. O(N log N).
    """
    rows, items = listed.shape
    size = 1 << max(items - 1, 0).bit_length()
    extra = torch.arange(items, size, device=listed.device).expand(rows, -1)
    listed = torch.cat([listed, extra], -1)
    left = torch.cat([left, left.new_zeros(extra.shape)], -1)
    right = torch.cat([right, right.new_zeros(extra.shape)], -1)
    total = left.new_zeros(rows)
    half = size // 2
    while half:
        late, blocks = (listed & half) != 0, size // (2 * half)
        passed = (right.gather(-1, listed) * late).cumsum(-1).view(rows, blocks, 2 * half)
        before = torch.cat([passed.new_zeros(rows, 1), passed[:, :-1, -1]], -1)[..., None]
        early = (left.gather(-1, listed) * ~late).view_as(passed)
        total += (early * (passed - before)).sum((-2, -1))
        # Every block holds `half` of each kind, so selecting them keeps both block and order.
        halves = listed[~late].view(rows, blocks, half), listed[late].view(rows, blocks, half)
        listed = torch.stack(halves, 2).view(rows, size)
        half //= 2
    return total


def _tau(pairs: _Pairs) -> Tensor:
    tau = (pairs.difference / pairs.untied_x.sqrt() / pairs.untied_y.sqrt()).clamp(-1, 1)
    # With less untied weight than this the difference is rounding, and tau would be noise; counts never come near.
    fewest = torch.minimum(pairs.untied_x, pairs.untied_y)
    return _unless(fewest <= 1e-12 * pairs.untied, tau)


def _kendall(x: Tensor, y: Tensor, mask: Tensor) -> Tensor:
    """(B,2): tau and p."""
    real = mask.double()
    x_ranks, y_ranks = _dense_ranks(x, mask), _dense_ranks(y, mask)
    pairs = _pairs(x_ranks, y_ranks, real, real)
    tau = _tau(pairs)
    p = _p_value(pairs, real.sum(-1), _per_rank(x_ranks, real), _per_rank(y_ranks, real))
    undefined = _has_nan(mask, x, y) | tau.isnan()
    return _unless(undefined[:, None], torch.stack([tau, p], -1))


def _p_value(pairs: _Pairs, n: Tensor, x_count: Tensor, y_count: Tensor) -> Tensor:
    total = n * (n - 1) / 2
    free = (pairs.untied_x == total) & (pairs.untied_y == total)
    least = torch.minimum(pairs.discordant, total - pairs.discordant)

    table = _exact_table().to(n.device)
    exact = table[n.clamp(max=_EXACT).long(), least.clamp(0, table.shape[1] - 1).long()]
    # Beyond the table only none or one pair out of place: 1 + (n-1) of the n! orders have at most one.
    exact = torch.where(n <= _EXACT, exact, torch.exp(np.log(2) - torch.lgamma(n + 1 - least)))

    def ties(count: Tensor, factor: Tensor) -> Tensor:
        return (count * (count - 1) * factor).sum(-1)

    # Variance of concordant - discordant under ties: Kendall 1970, chapter 4.
    m = n * (n - 1)
    variance = (m * (2 * n + 5) - ties(x_count, 2 * x_count + 5) - ties(y_count, 2 * y_count + 5)) / 18
    variance += 2 * (total - pairs.untied_x) * (total - pairs.untied_y) / m
    variance += ties(x_count, x_count - 2) * ties(y_count, y_count - 2) / (9 * m * (n - 2))
    normal = torch.erfc(pairs.difference.abs() / (2 * variance).sqrt())
    return torch.where(free & ((n <= _EXACT) | (least <= 1)), exact, normal)


@cache
def _exact_table() -> Tensor:
    """(34, 265): two-sided p of at most c discordant pairs among n items in random order, for 4c <= n(n-1)."""
    width = _EXACT * (_EXACT - 1) // 4 + 1
    chance, rows = np.eye(1, width)[0], [np.ones(width)]
    for n in range(1, _EXACT + 1):
        # Item n stands before 0, 1, … n-1 of the others, each as likely.
        chance = np.convolve(chance, np.full(n, 1 / n))[:width]
        rows.append(np.minimum(1, 2 * chance.cumsum()))
    return torch.from_numpy(np.stack(rows))


def _top_k_corrected(x_ranks: Tensor, y_ranks: Tensor, k: Tensor, mask: Tensor, penalty: float) -> Tensor:
    a, b = _top_list(x_ranks, k, mask), _top_list(y_ranks, k, mask)
    union, in_a, in_b = (a | b).double(), a.double(), b.double()
    pairs = _pairs(masking.fill(x_ranks, a), masking.fill(y_ranks, b), union, union)
    tied_in_one = 2 * pairs.untied - pairs.untied_x - pairs.untied_y
    distance = pairs.discordant + penalty * tied_in_one
    inside = _ordered(x_ranks, in_a, in_a) + _ordered(y_ranks, in_b, in_b)
    value = 1 - 2 * distance / (in_a.sum(-1) * in_b.sum(-1) + penalty * inside)

    real = mask.double()
    value = torch.where(k >= real.sum(-1), _tau(_pairs(x_ranks, y_ranks, real, real)), value)
    return _unless(~a.any(-1) | ~b.any(-1), value)


def _top_k_released(x_ranks: Tensor, y_ranks: Tensor, k: Tensor, mask: Tensor, penalty: float) -> Tensor:
    k = torch.minimum(k, mask.sum(-1))
    a, b = _last_k(x_ranks, k, mask), _last_k(y_ranks, k, mask)
    common, only_a, only_b = (a & b).double(), (a & ~b).double(), (b & ~a).double()
    m = common.sum(-1)
    tau = _tau(_pairs(x_ranks, y_ranks, common, common))
    # No tau of one item, nor of equal scores: 0, as released.
    distance = (m.square() * (1 - tau) / 2).nan_to_num(0.0)
    distance = distance + _ordered(x_ranks, common, only_a) + _ordered(y_ranks, common, only_b)
    distance = distance + penalty * (k - m) * (k - m - 1)
    return 1 - 2 * distance / (a | b).sum(-1).double().square()


def _in_chunks(function: Callable[..., Tensor], *tensors: Tensor) -> Tensor:
    """function over slices of the batch, so that memory stays bounded."""
    rows = max(1, _CHUNK // max(1, tensors[0].shape[1]))
    return torch.cat([function(*part) for part in zip(*(each.split(rows) for each in tensors), strict=True)])


def _has_nan(mask: Tensor, *scores: Tensor) -> Tensor:
    return torch.stack([(each.isnan() & mask).any(-1) for each in scores]).any(0)


def _unless(undefined: Tensor, values: Tensor) -> Tensor:
    return torch.where(undefined, torch.nan, values)


def _check(x: Tensor, y: Tensor, mask: Tensor, **more: Tensor) -> None:
    given = {"x": x, "y": y, "mask": mask, **more}
    if x.dim() != 2 or any(each.shape != x.shape for each in given.values()):
        got = ", ".join(f"{name} {tuple(each.shape)}" for name, each in given.items())
        raise InputError(f"All of these must have one shape (B,N): got {got}. Pad to one length and mask.")
    if mask.dtype != torch.bool:
        raise InputError(f"mask must be a bool tensor, True = real; got {mask.dtype}. Pass mask.bool().")


def _choose(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InputError(f"There is no {name} {value!r}. Choose from: {', '.join(choices)}.")


def _each_k(k: int | Tensor, x: Tensor) -> Tensor:
    """(B,) int64."""
    each = torch.as_tensor(k, device=x.device)
    if each.is_floating_point() or each.dtype == torch.bool or each.shape not in ((), x.shape[:1]):
        expected = f"k must be an int or an integer tensor ({len(x)},), one an example"
        raise InputError(f"{expected}; got {each.dtype} {tuple(each.shape)}. Round it, or pass one number.")
    if (each < 1).any():
        raise InputError(f"k must be at least 1; got {int(each.min())}. Leave out examples without a list.")
    return each.long().expand(len(x))
