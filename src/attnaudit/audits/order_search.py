"""The best and the worst order in which the words of a text could be deleted one by one.

The value of an order is the sum, over all steps but the last, of the drop of p(ŷ). Orders are
searched as in `set_search`: by generators that yield the sets of words to delete.
"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.audits.set_search import Search


def all_deletions(words: int) -> Tensor:
    """Every set of 0 to W words: (2^W,W) bool; the bits of its number are its words.

    Examples
    --------
    >>> all_deletions(2).int().tolist()
    [[0, 0], [1, 0], [0, 1], [1, 1]]
    """
    return (torch.arange(2**words)[:, None] >> torch.arange(words)) % 2 == 1


def extreme_orders(drops: Tensor, words: int) -> tuple[float, float]:
    """The largest and the smallest value of any order, by dynamic programming over all sets.

    Parameters
    ----------
    drops : Tensor, (2^W,)
        Without each set of `all_deletions`; those of no and of all words do not count.
    words : int
        At least two.
    """
    members = all_deletions(words)
    size = members.sum(-1)
    bits = 2 ** torch.arange(words)
    best, worst = torch.zeros_like(drops), torch.zeros_like(drops)
    for level in range(1, words):
        sets = (size == level).nonzero()[:, 0]
        before = sets[:, None] ^ bits  # without one of its words
        inside = members[sets]
        best[sets] = drops[sets] + best[before].masked_fill(~inside, -torch.inf).amax(-1)
        worst[sets] = drops[sets] + worst[before].masked_fill(~inside, torch.inf).amin(-1)
    last = size == words - 1
    return float(best[last].max()), float(worst[last].min())


def beam_of_orders(
    whole: float, words: int, *, width: int, highest: bool, rounding: float, singles: Tensor
) -> Search[float]:
    """The largest (or smallest) value of an order that a beam search finds.

    Parameters
    ----------
    whole : float
        p(ŷ) of the whole text.
    words, width : int
        Number of words in the text; orders kept at every step, of those that delete the same set
        only the better one.
    highest : bool
    rounding : float
        Values closer than this are equal, so that batches do not decide.
    singles : Tensor, (W,)
        The log-odds without each word.
    """
    sets, sums = torch.zeros(1, words, dtype=torch.bool), torch.zeros(1, dtype=torch.float64)
    for level in range(1, words):
        owner, word = (~sets).nonzero(as_tuple=True)
        grown = sets[owner].scatter(1, word[:, None], True)
        odds = singles if level == 1 else (yield grown)
        values = sums[owner] + whole - odds.sigmoid()
        steps = (values / rounding).round()
        order = (-steps if highest else steps).argsort(stable=True)
        kept: dict[tuple[bool, ...], int] = {}
        for index in order.tolist():
            kept.setdefault(tuple(grown[index].tolist()), index)
            if len(kept) == width:
                break
        chosen = list(kept.values())
        sets, sums = grown[chosen], values[chosen]
    return float(sums.max() if highest else sums.min())
