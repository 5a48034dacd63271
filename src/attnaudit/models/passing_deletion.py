"""The logits without each item, scored while the deletions pass through the text.

For an encoder that reports one half of the states at a time, see
`attnaudit.models.encoders.deletion_protocol`. Each new half is multiplied once, for its score and
its readout together, and then forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attnaudit.models.encoders.deletion_protocol import PassedStates
from attnaudit.models.encoders.row_product import row_product
from attnaudit.models.terms import ScoreTerms, describes_forward


@dataclass(frozen=True)
class HalfTerms:
    """Scores and readouts of the whole text, as sums of what each half of a state contributes.

    Parameters
    ----------
    scoring : ScoreTerms
        Of the scorer, with X terms.
    weights : list of two Tensors, (X + C,H/2)
        For scores and readouts, by half.
    others : list of two Tensors, (N,B,X + C)
        What does not change with a half: that of the other half, and the bias.
    """

    scoring: ScoreTerms
    weights: list[Tensor]
    others: list[Tensor]


def half_terms(scorer: Any, output: Any, hidden: Tensor, query: Tensor | None) -> HalfTerms | None:
    """Split scores and readouts of hidden (B,N,H); None if they are no sums over halves."""
    if not (describes_forward(scorer, "terms") and describes_forward(output, "terms")):
        return None
    scoring, reading = scorer.terms(query), output.terms(query)
    if scoring is None:
        return None
    bias = torch.cat([part.bias.expand(len(hidden), -1) for part in (scoring, reading)], -1)
    weights = [
        half.contiguous() for half in torch.cat([scoring.weight, reading.weight]).chunk(2, -1)
    ]
    rows = [half.transpose(0, 1).flatten(0, 1) for half in hidden.chunk(2, -1)]
    right, left = (
        row_product(half, slice(0, len(half)), weight).view(*hidden.shape[1::-1], -1).add_(bias)
        for half, weight in zip(rows, weights, strict=True)
    )
    return HalfTerms(scoring, weights, [left, right])


def logits_while_passing(
    terms: HalfTerms,
    passing: Iterator[PassedStates],
    projection: Any,
    kept: Tensor,
) -> Tensor:
    """Return the logits (B,K,C) of K deletions.

    Parameters
    ----------
    terms : HalfTerms
        Of the whole texts.
    passing : iterator of PassedStates
        Of the deletions; all items but the deleted one are passed once.
    projection : callable
        From scores to attention.
    kept : Tensor, (K,B,N) bool
        The items to attend to under each deletion.
    """
    count, batch, items = kept.shape
    inner = len(terms.scoring.weight)
    classes = len(terms.weights[0]) - inner
    scores = terms.others[0].new_zeros(items, count, batch)
    readouts = scores.new_zeros(classes, items, count, batch)
    for new in passing:
        values = row_product(new.states, new.rows, terms.weights[new.half])
        by_text = values.view(-1, batch, inner + classes).add_(terms.others[new.half][new.item])
        readouts[:, new.item, new.deletions] = by_text[..., inner:].movedim(-1, 0)
        scores[new.item, new.deletions] = terms.scoring.score(values[:, :inner]).view(-1, batch)
    by_deletion = scores.permute(1, 2, 0).flatten(0, 1)
    alpha = projection(by_deletion, kept.flatten(0, 1)).t().reshape(items, count, batch)
    return (alpha * readouts).sum(1).permute(2, 1, 0)
