"""The mean attention at each place of a text, over all texts: what position alone predicts.

Texts differ in length, so a weight is taken relative to uniform (weight times number of words), and
a place is counted from the nearer end of the text, or as a tenth of it in between. Logarithms are
not used: sparse attention has weights of exactly 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from attnaudit.audits.heatmap import Heatmap, heatmap
from attnaudit.core.contract import Record

AT_ENDS = 4  # words at each end of a text with a place of their own
_BINS = 10  # places of all words in between
PLACES = 2 * AT_ENDS + _BINS


@dataclass(frozen=True, eq=False)
class PositionProfile:
    """Relative weights summed by place over all texts, and how many words they are of.

    Parameters
    ----------
    total, count : Tensor, (PLACES,) float64
    """

    total: Tensor
    count: Tensor

    def as_dict(self) -> dict[str, list[float]]:
        """The same for JSON; `from_dict` reads it back."""
        return {"total": self.total.tolist(), "count": self.count.tolist()}

    @classmethod
    def from_dict(cls, content: dict[str, list[float]]) -> PositionProfile:
        """What `as_dict` returned."""
        total, count = (
            torch.tensor(content[name], dtype=torch.float64) for name in ("total", "count")
        )
        return cls(total, count)

    def without_each(self, shown: Heatmap) -> Tensor:
        """The weights (B,N) that the other texts predict for the words of each text.

        The mean of each place over all texts but this one, scaled to sum to 1 over the words; the
        weight of a place that no other text has is as under uniform attention. NaN if there is no
        other text.

        Parameters
        ----------
        shown : Heatmap
            Of texts that are among those of the profile.
        """
        own_total, own_count = sums_by_place(shown)
        device = shown.weights.device
        count = (self.count.to(device) - own_count).round()
        # Differences of sums: what is left of rounding errors must not become negative.
        total = (self.total.to(device) - own_total).clamp_min(0)
        mean = torch.where(count > 0, total / count.clamp_min(1), 1.0)
        predicted = mean.gather(1, places(shown.words)) * shown.words
        predicted = predicted / predicted.sum(-1, keepdim=True)
        return predicted.where(count.sum(-1, keepdim=True) > 0, torch.nan)


def places(words: Tensor) -> Tensor:
    """The place of each word (B,N) int64, from 0 to PLACES - 1; 0 for other items.

    Up to `AT_ENDS` words, at most half of the text, count from the start, as many from the end; the
    others are in tenths of the text.

    Examples
    --------
    >>> places(torch.ones(1, 10, dtype=torch.bool))
    tensor([[ 0,  1,  2,  3, 12, 13,  7,  6,  5,  4]])
    """
    length = words.sum(-1, keepdim=True)
    from_start = words.cumsum(-1) - 1
    from_end = length - 1 - from_start
    middle = 2 * AT_ENDS + _BINS * from_start // length.clamp_min(1)
    place = torch.where(from_end < AT_ENDS, AT_ENDS + from_end, middle)
    place = torch.where((from_start < AT_ENDS) & (from_start <= from_end), from_start, place)
    return place.where(words, 0)


def sums_by_place(shown: Heatmap) -> tuple[Tensor, Tensor]:
    """Sum of the relative weights of each text by place, and the number of words (B,PLACES).

    A text whose words have no weight counts nothing.
    """
    known = shown.words & ~shown.weights.isnan()
    relative = (shown.weights * shown.words.sum(-1, keepdim=True)).where(known, 0.0)
    place = places(shown.words)
    empty = relative.new_zeros(len(relative), PLACES)
    return empty.scatter_add(1, place, relative), empty.scatter_add(1, place, known.double())


def profile_of_record(record: Record) -> PositionProfile:
    """The profile of the texts of one record."""
    total, count = sums_by_place(heatmap(record))
    return PositionProfile(total.sum(0).cpu(), count.sum(0).cpu())


def combine_profiles(profiles: Iterable[PositionProfile]) -> PositionProfile:
    """The profile of all texts of these profiles."""
    listed = list(profiles)
    return PositionProfile(
        torch.stack([profile.total for profile in listed]).sum(0),
        torch.stack([profile.count for profile in listed]).sum(0),
    )
