"""The logits without each item, scored while the deletions pass through the texts.

For an encoder that reports one half of the states at a time, see
`attnaudit.models.encoders.deletion_protocol`. Each new half is multiplied once, for its score and
its readout together, and then forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnaudit.core.memory_budget import rows_at_once
from attnaudit.models.encoders.mirrored import take_items
from attnaudit.models.encoders.row_product import row_product
from attnaudit.models.site_parts import SiteParts
from attnaudit.models.terms import ScoreTerms, describes_forward

_TOKENS = 2**13  # whose input terms are held at once
PASSING_RATIO = 2.0  # of the longest to the shortest text in a group: padding takes memory only


@dataclass(frozen=True)
class HalfTerms:
    """Scores and readouts as sums of what each half of a state contributes.

    Parameters
    ----------
    scoring : ScoreTerms
        Of the scorer, with X terms.
    weights : list of two Tensors, (X + C,H/2)
        For scores and readouts, by half.
    bias : Tensor, (B,X + C)
    """

    scoring: ScoreTerms
    weights: list[Tensor]
    bias: Tensor

    def unchanged(self, hidden: Tensor) -> list[Tensor]:
        """What stays when each half of hidden (B,N,H) changes: (B,N,X + C) twice."""
        first, second = (
            row_product(half.flatten(0, 1), slice(0, hidden[..., 0].numel()), weight)
            .view(*hidden.shape[:2], -1)
            .add_(self.bias[:, None])
            for half, weight in zip(hidden.chunk(2, -1), self.weights, strict=True)
        )
        return [second, first]


def works_by_halves(site: SiteParts) -> bool:
    """Return whether encoder, scorer and output have what `logits_on_their_way` needs."""
    parts = (site.scorer, site.output)
    return (
        hasattr(site.encoder, "ways")
        and all(describes_forward(part, "terms") for part in parts)
        and site.scorer.terms(site.query) is not None
    )


def half_terms(site: SiteParts) -> HalfTerms:
    """Split scores and readouts of texts that work by halves."""
    scoring, reading = site.scorer.terms(site.query), site.output.terms(site.query)
    batch = len(site.hidden)
    return HalfTerms(
        scoring,
        [half.contiguous() for half in torch.cat([scoring.weight, reading.weight]).chunk(2, -1)],
        torch.cat([part.bias.expand(batch, -1) for part in (scoring, reading)], -1),
    )


def most_at_once(width: int, classes: int) -> int:
    """Return how many texts of this width can be passed at once."""
    return max(1, min(_TOKENS // width, rows_at_once(width * width * (1 + classes))))


def logits_on_their_way(site: SiteParts, texts: Tensor, items: Tensor) -> Tensor:
    """Return the logits (R,C) of R deletions.

    Parameters
    ----------
    site : SiteParts
        Of texts that work by halves.
    texts, items : Tensor, (R,) int64
        Each deletion: the text, and the deleted item.
    """
    count, width = len(texts), site.content.shape[1]
    terms = half_terms(site)
    inner = len(terms.scoring.weight)
    classes = len(terms.weights[0]) - inner
    # A score and a readout of every half, place and row.
    stored = site.hidden.new_zeros(1 + classes, 2, width, count)
    found_at = []
    ways = site.encoder.ways(site.vectors, site.mask, site.hidden, texts, items)
    for half, (way, unchanged) in enumerate(zip(ways, terms.unchanged(site.hidden), strict=True)):
        others = take_items(unchanged, way.place).transpose(0, 1).contiguous()
        of_text = texts[way.order]
        for place, rows, states in way.steps:
            values = row_product(states, rows, terms.weights[half])
            values += others[place].index_select(0, of_text[rows])
            stored[1:, half, place, rows] = values[:, inner:].t()
            stored[0, half, place, rows] = terms.scoring.score(values[:, :inner])
        row = torch.empty_like(way.order)
        row[way.order] = torch.arange(count, device=row.device)
        found_at.append((half * width + way.place[texts]) * count + row[:, None])
    item = torch.arange(width, device=items.device)
    deleted = items[:, None]
    # The first half is new after the deleted item, the second before it.
    index = torch.where(item > deleted, found_at[0], found_at[1]).flatten()
    found = stored.flatten(1).index_select(1, index).view(1 + classes, count, width)
    alpha = site.projection(found[0], site.content[texts] & (item != deleted))
    return (alpha * found[1:]).sum(-1).t()
