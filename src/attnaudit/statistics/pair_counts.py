"""Counts of concordant, discordant and tied pairs of items, by sorting; for Kendall's tau.

As `pairs.pairs_of` with the weight 1 for every real item; in NumPy, see `inversions`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from attnaudit.statistics.inversions import inversions, reversed_in_table


class Ties(NamedTuple):
    """The groups of equal scores in a batch."""

    size: np.ndarray  # (G,) items of a group, at least 2
    example: np.ndarray  # (G,) the text it belongs to
    examples: int

    def total(self, factor: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Σ t (t - 1) factor(t) over the groups of t items of each example: (B,)."""
        if not len(self.size):
            return np.zeros(self.examples)
        t = self.size.astype(np.float64)
        return np.bincount(self.example, t * (t - 1) * factor(t), minlength=self.examples)


class PairCounts(NamedTuple):
    """How many pairs there are of each kind, each (B,) float64, and the ties."""

    every: np.ndarray
    untied_x: np.ndarray
    untied_y: np.ndarray
    untied: np.ndarray  # in x or in y
    discordant: np.ndarray
    x_ties: Ties
    y_ties: Ties

    @property
    def difference(self) -> np.ndarray:
        """Concordant - discordant (B,)."""
        return self.untied_x + self.untied_y - self.untied - 2 * self.discordant


def counted_pairs(x: np.ndarray, y: np.ndarray, real: np.ndarray) -> PairCounts:
    """Compare the scores x, y (B,N) float64 of the real items (B,N) bool."""
    n = real.sum(-1)
    masked = np.arange(real.shape[1]) >= n[:, None]  # where they are when sorted
    (x_ranks, x_ties), (y_ranks, y_ties) = (_ranked(score, real, masked) for score in (x, y))
    # By x, and equal x by y, so that a pair is reversed only if both disagree.
    by_x, y_by_x = _sorted_pairs(x_ranks, y_ranks)
    joint = _ties(_starts(by_x, masked))
    every = n * (n - 1) / 2
    untied_x, untied_y, untied = (
        every - ties.total(np.ones_like) / 2 for ties in (x_ties, y_ties, joint)
    )
    distinct = int(x_ranks.max(initial=0)) + 1, int(y_ranks.max(initial=0)) + 1
    if distinct[0] * distinct[1] <= 4 * real.shape[1]:
        discordant = reversed_in_table(x_ranks, y_ranks, distinct)
    else:
        discordant = inversions(y_by_x)
    discordant = discordant.astype(np.float64)
    return PairCounts(every, untied_x, untied_y, untied, discordant, x_ties, y_ties)


def _ranked(scores: np.ndarray, real: np.ndarray, masked: np.ndarray) -> tuple[np.ndarray, Ties]:
    """Dense ranks (B,N) int32, the highest for masked items, and the ties of the real ones."""
    keys = np.where(real, _ordered_bits(scores), np.iinfo(np.int64).max)
    rows, items = keys.shape
    order = keys.argsort(-1)
    order += np.arange(rows)[:, None] * items  # in the flattened batch
    starts = _starts(keys.ravel().take(order), masked)
    ranks = np.empty((rows, items), np.int32)
    ranks.ravel()[order] = starts.cumsum(-1, dtype=np.int32)
    ranks *= real
    ranks += ~real * (ranks.max(initial=0) + np.int32(1))
    return ranks, _ties(starts)


def _ordered_bits(scores: np.ndarray) -> np.ndarray:
    """int64 in the order of float64 scores, NaN last: NumPy sorts NaN several times as slowly."""
    bits = (scores + 0.0).view(np.int64)  # + 0: of -0, that of 0
    return bits ^ ((bits >> 63) & np.iinfo(np.int64).max)


def _sorted_pairs(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of ranks, sorted (B,N) in one integer each; and their second ranks."""
    bits = int(max(first.max(initial=0), second.max(initial=0))).bit_length()
    packed = first.astype(np.dtype(np.int32 if 2 * bits < 32 else np.int64))
    packed <<= bits
    packed |= second
    packed.sort(-1)
    return packed, (packed & ((1 << bits) - 1)).astype(np.int16 if bits < 16 else np.int32)


def _starts(ascending: np.ndarray, masked: np.ndarray) -> np.ndarray:
    """Where a number of a sorted list (B,N) is not that before; masked numbers equal none."""
    starts = masked.copy()
    starts[:, :1] = True
    starts[:, 1:] |= ascending[:, 1:] != ascending[:, :-1]
    return starts


def _ties(starts: np.ndarray) -> Ties:
    """The groups of more than one item, from where the groups start (B,N)."""
    rows, items = starts.shape
    first = np.flatnonzero(starts)
    if len(first) == starts.size:
        return Ties(first[:0], first[:0], rows)
    size = np.diff(first, append=starts.size)
    tied = size > 1
    return Ties(size[tied], first[tied] // items, rows)
