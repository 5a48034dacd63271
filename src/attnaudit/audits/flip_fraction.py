"""What share of the items must be removed to flip the decision? (Serrano & Smith 2019)"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from attnaudit.audits.counterfactual import flipped, rounding_margin, without_item
from attnaudit.audits.declaration import SHARE, Declaration, Metric, Values, declares
from attnaudit.audits.per_row import mean_score_over_rows
from attnaudit.core import ranking
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.decoding import logits_under
from attnaudit.exact.inputs import Prepared, prepare
from attnaudit.exact.removal import fewest_to_flip, first_flip

_PREFIXES = 32


@declares(
    Declaration(
        question="What share of the items must be removed before the decision flips?",
        metrics={
            "removed": Metric(
                "share of items removed until the decision flips, 1 if it never does; "
                "small = a good ranking",
                "removed@random",
                "removed@smallest_set",
                SHARE,
            ),
            "fraction": Metric(
                "the same where it flips only: rankings flip on different examples, so compare "
                "`removed`",
                0.0,
                1.0,
            ),
            "flipped": Metric("the decision flips at all", 0.0, "flipped@smallest_set", SHARE),
        },
        detects=("inert",),
        blind={
            "shifted": "items are removed from the attention and do decide; "
            "the words are never looked at"
        },
    )
)
def flip_fraction(
    model: AttentionModel, record: Record, scores: dict[str, Tensor], seed: int
) -> Values:
    """Remove items from all rows by decreasing score, renormalising the rest, until a flip.

    Ties are broken at random, never by position. `smallest_set` is the exact optimum, which no
    ranking can beat (with a readout).

    Returns
    -------
    dict of Tensor (B,)
        `fraction`, the share of items removed at the first flip, or NaN; `flipped`; and `removed`,
        which is `fraction`, or 1 without a flip. Leaving those examples out, as the released code
        does, compares rankings on different examples.
    """
    words = record.mask.any(1) & record.content  # [CLS] and the like are never removed
    length = words.sum(-1)
    names, sizes = list(scores), []
    given = _prepared(record)
    if scores:
        rankings = torch.stack([mean_score_over_rows(each).double() for each in scores.values()], 1)
        order = _order(record, rankings, seed)
        if given is None:
            size = _first_flip(model, record, order, length)
        else:
            margin = rounding_margin(record.logits.dtype)
            size = first_flip(given, order, record.predicted, length, margin)
        unknown = (rankings.isnan() & record.content[:, None]).any(-1)  # no complete ranking
        sizes.append(size.masked_fill(unknown, torch.nan))
    if given is not None:
        names.append("smallest_set")
        sizes.append(fewest_to_flip(given, words)[:, None])
    return _values(names, torch.cat(sizes, 1), length[:, None]) if names else {}


def _values(names: Sequence[str], size: Tensor, length: Tensor) -> Values:
    """The metrics of each ranking, from the items removed at the first flip (B,K).

    Infinite if it never flips, NaN if the ranking is not known. length (B,1).
    """
    never, fraction = size.isinf(), size / length
    metrics = {
        "removed": fraction.masked_fill(never, 1.0),
        "fraction": fraction.masked_fill(never, torch.nan),
        "flipped": (~never).double().masked_fill(size.isnan(), torch.nan),
    }
    return {
        (name, metric): values[:, column]
        for column, name in enumerate(names)
        for metric, values in metrics.items()
    }


def _prepared(record: Record) -> Prepared | None:
    """The inputs of the exact functions; None without a readout."""
    if record.readout is None:
        return None
    return prepare(record.alpha[:, 0], record.readout, record.mask[:, 0], record.batch.classes)


def _order(record: Record, rankings: Tensor, seed: int) -> Tensor:
    """The items by decreasing score (B,K,N): words, then other items, then masked ones."""
    ranked = rankings.nan_to_num(nan=-torch.inf).masked_fill(~record.content[:, None], -torch.inf)
    return ranking.descending(
        ranked, record.mask.any(1), seed, "flip_fraction", record.batch.example_id
    )


def _first_flip(model: AttentionModel, record: Record, order: Tensor, most: Tensor) -> Tensor:
    """`exact.removal.first_flip` by decoding, for a model without a readout."""
    removed = torch.arange(order.shape[2], device=order.device)
    sizes = []
    for rank in order.argsort(-1).unbind(1):
        # A few prefixes at a time: all of them would be N·N weights per example.
        parts = [_without_first(model, record, rank, part) for part in removed.split(_PREFIXES)]
        flips = flipped(torch.cat(parts, 1), record)
        flips &= (removed > 0) & (removed <= most[:, None])
        sizes.append(flips.to(torch.int8).argmax(-1).double().where(flips.any(-1), torch.inf))
    return torch.stack(sizes, 1)


def _without_first(model: AttentionModel, record: Record, rank: Tensor, prefixes: Tensor) -> Tensor:
    """Logits (B,K,C) without the first k items of the ranking, for K prefix lengths k."""
    drop = rank[:, None] < prefixes[:, None]  # (B,K,N)
    alpha = without_item(record.alpha[:, None], record.mask[:, None], drop[:, :, None])
    # A row emptied before the others attends to nothing; with all rows emptied there is no output.
    emptied = alpha.isnan().all(-1).all(-1)
    logits = logits_under(model, record, alpha.nan_to_num(0.0))
    return logits.masked_fill(emptied[..., None], torch.nan)
