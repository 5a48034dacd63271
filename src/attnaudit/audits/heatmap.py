"""What people are shown: one weight per word, of attention the mean over rows."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from attnaudit.audits.per_row import mean_score_over_rows
from attnaudit.core import masking
from attnaudit.core.contract import Record
from attnaudit.statistics.ties import tie_rounding


class Heatmap(NamedTuple):
    """What is shown of a record.

    Parameters
    ----------
    weights : Tensor, (B,N) float64
        Mean over the rows that attend to anything, scaled to sum to 1 over the words; 0 for other
        items, NaN for a text whose words have no weight.
    words : Tensor, (B,N) bool
        The items that count and that some row may attend to.
    """

    weights: Tensor
    words: Tensor

    @property
    def top(self) -> Tensor:
        """(B,N) float64, 1 for the top word; words tied for the top share it equally.

        NaN for a text without a top word: all its words have the same weight, or none has any.
        """
        highest = masking.fill(self.weights, self.words, -1.0).amax(-1, keepdim=True)
        lowest = masking.fill(self.weights, self.words, 2.0).amin(-1, keepdim=True)
        top = ((self.weights == highest) & self.words).double()
        return (top / top.sum(-1, keepdim=True)).where(highest > lowest, torch.nan)


def heatmap(record: Record) -> Heatmap:
    """The heatmap of each text; weights that differ by rounding alone are made equal.

    Examples
    --------
    >>> from attnaudit.models.glass import Glass, glass_batch
    >>> weights, words = heatmap(Glass("oracle").read(glass_batch(3)))
    >>> weights.shape, words.shape
    (torch.Size([3, 14]), torch.Size([3, 14]))
    """
    words = record.content & record.mask.any(1)
    total = masking.fill(record.alpha.detach().double(), record.mask).sum(1)
    weights = masking.renormalise(total, words)
    relative = 64 * torch.finfo(record.alpha.dtype).eps
    return Heatmap(tie_rounding(weights, words, 0.0, relative=relative), words)


def score_heatmap(scores: Tensor, record: Record) -> Heatmap:
    """The heatmap that any scores (B,N) or (B,R,N) give: their positive part, mean over rows.

    NaN for a text of which some word has no score, or none has a positive one.

    Examples
    --------
    >>> from attnaudit.models.glass import Glass, glass_batch
    >>> record = Glass("oracle").read(glass_batch(3))
    >>> torch.allclose(score_heatmap(record.alpha, record).weights, heatmap(record).weights)
    True
    """
    words = record.content & record.mask.any(1)
    score = mean_score_over_rows(scores.detach()).double()
    return Heatmap(masking.renormalise(score.clamp_min(0), words), words)


def weight_on_marks(record: Record) -> Tensor:
    """The weight of each row on items that do not count, such as [CLS] and [SEP]: (B,R) float64.

    Examples
    --------
    >>> from attnaudit.models.glass import Glass, glass_batch
    >>> weight_on_marks(Glass("oracle").read(glass_batch(2)))
    tensor([[0.],
            [0.]], dtype=torch.float64)
    """
    return masking.total(record.alpha.detach().double(), ~record.content[:, None] & record.mask)
