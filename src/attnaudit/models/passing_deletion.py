"""The logits without each item, scored while the deletions pass through the texts.

For an encoder that reports one half of the states at a time, see
`attnaudit.models.encoders.deletion_protocol`. Each new half is multiplied once, for its score and
its readout together, and then forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from attnaudit.core.memory_budget import rows_at_once
from attnaudit.models.encoders.deletion_protocol import Way
from attnaudit.models.encoders.mirrored import take_items
from attnaudit.models.encoders.row_product import row_product
from attnaudit.models.site_parts import SiteParts
from attnaudit.models.terms import ScoreTerms, describes_forward

_ROUNDING = 200  # machine epsilons of the largest score or readout
# Classes, as a share of the numbers of a state, up to which a readout of every new state is faster
# than the readout of the contexts (measured with 300 items); a few are always.
_MOST_CLASSES = 0.25
_FEW_CLASSES = 16
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
        0 for the readouts.
    of_logits : Tensor, (B,C)
        Added to the logits, once.
    """

    scoring: ScoreTerms
    weights: list[Tensor]
    bias: Tensor
    of_logits: Tensor

    def of_halves(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """What each half of hidden (B,N,H) contributes, without the bias: (B,N,X + C) twice."""
        first, second = (
            row_product(half.flatten(0, 1), slice(0, hidden[..., 0].numel()), weight).view(
                *hidden.shape[:2], -1
            )
            for half, weight in zip(hidden.chunk(2, -1), self.weights, strict=True)
        )
        return first, second


def half_terms(site: SiteParts) -> HalfTerms | None:
    """Split scores and readouts; None if the parts do not work by halves, or it does not pay."""
    if (
        site.readout is None  # the output is not linear
        or not hasattr(site.encoder, "ways")
        or not all(describes_forward(part, "terms") for part in (site.scorer, site.output))
    ):
        return None
    scoring, reading = site.scorer.terms(site.query), site.output.terms(site.query)
    batch, _, size = site.hidden.shape
    if scoring is None or reading is None:
        return None
    if len(reading.weight) > max(_FEW_CLASSES, _MOST_CLASSES * size):
        return None
    weight = torch.cat([scoring.weight, reading.weight])
    bias = pad(scoring.bias.expand(batch, -1), (0, len(reading.weight)))
    return HalfTerms(
        scoring,
        [half.contiguous() for half in weight.chunk(2, -1)],
        bias,
        reading.bias.expand(batch, -1),
    )


def most_at_once(width: int, classes: int) -> int:
    """Return of how many texts of this width all scores and readouts are held at once."""
    return rows_at_once(width * width * (1 + classes))


def logits_on_their_way(site: SiteParts, texts: Tensor, items: Tensor) -> Tensor | None:
    """Return the logits (R,C) of R deletions; None if the parts do not work by halves.

    Parameters
    ----------
    site : SiteParts
        Of B texts.
    texts, items : Tensor, (R,) int64
        Each deletion: the text, and the deleted item.
    """
    terms = half_terms(site)
    if terms is None:
        return None
    first, second = terms.of_halves(site.hidden)
    if not _agree(site, terms, first + second):
        return None
    unchanged = [half.add_(terms.bias[:, None]) for half in (second, first)]
    ways = site.encoder.ways(site.vectors, site.mask, site.hidden)
    rows = rows_at_once(site.content.shape[1] * (1 + terms.of_logits.shape[1]))
    return torch.cat(
        [
            _passed(site, terms, unchanged, ways(of_texts, of_items), of_texts, of_items)
            for of_texts, of_items in zip(texts.split(rows), items.split(rows), strict=True)
        ]
    )


def _agree(site: SiteParts, terms: HalfTerms, values: Tensor) -> bool:
    """Return whether terms (B,N,X + C) without bias give the scores and readouts of the model.

    They do not if someone hooked or replaced a layer: then the model's own methods are right.
    """
    assert site.readout is not None  # see `half_terms`
    inner = len(terms.scoring.weight)
    scored = (values + terms.bias[:, None])[site.mask]
    pairs = (
        (terms.scoring.score(scored[:, :inner].contiguous()), site.scores[site.mask]),
        ((values[..., inner:] + terms.of_logits[:, None])[site.mask], site.readout[site.mask]),
    )
    rounding = _ROUNDING * torch.finfo(values.dtype).eps
    return all(
        bool(((found - own).abs() <= rounding * (1 + own.abs().amax())).all())
        for found, own in pairs
        if own.numel()
    )


def _passed(
    site: SiteParts,
    terms: HalfTerms,
    unchanged: list[Tensor],
    ways: list[Way],
    texts: Tensor,
    items: Tensor,
) -> Tensor:
    """Return the logits (R,C); unchanged (B,N,X + C) is what stays when a half changes."""
    count, width = len(texts), site.content.shape[1]
    inner, classes = len(terms.scoring.weight), terms.of_logits.shape[1]
    # A score and a readout of every half, place and row.
    stored = site.hidden.new_zeros(1 + classes, 2, width, count)
    found_at = []
    for half, (way, stays) in enumerate(zip(ways, unchanged, strict=True)):
        others = take_items(stays, way.place).transpose(0, 1).contiguous()
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
    return (alpha * found[1:]).sum(-1).t() + terms.of_logits[texts]
