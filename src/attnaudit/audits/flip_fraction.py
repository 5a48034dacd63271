"""What share of the items must be removed to flip the decision? (Serrano & Smith 2019)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit import exact
from attnaudit.audits.counterfactual import flipped, without_item
from attnaudit.audits.declaration import SHARE, Declaration, Metric, Values, declares
from attnaudit.audits.per_row import mean_score_over_rows
from attnaudit.core import masking, randomness
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.decoding import logits_under

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
    key = randomness.keys(seed, "flip_fraction", record.batch.example_id)
    tie_break = randomness.uniform(key, record.content.shape[1]).to(record.alpha.device)
    attended = record.mask.any(1)
    words = attended & record.content  # what does not count, such as [CLS], is never removed
    length = words.sum(-1).double()
    values: Values = {}
    for name, score in scores.items():
        ranking = mean_score_over_rows(score)
        ranked = (
            ranking.double().nan_to_num(nan=-torch.inf).masked_fill(~record.content, -torch.inf)
        )
        order = masking.descending(ranked, attended, tie_break)
        flips = _flips(model, record, order)
        flips &= torch.arange(flips.shape[1], device=flips.device) <= length[:, None]
        fraction = flips.to(torch.int8).argmax(-1).double() / length
        unknown = (ranking.isnan() & record.content).any(-1)  # no complete ranking
        of_ranking = _values(name, fraction, flips.any(-1))
        values |= {key: value.masked_fill(unknown, torch.nan) for key, value in of_ranking.items()}
    if record.readout is not None:
        best = exact.smallest_flip(
            record.alpha[:, 0].double(),
            record.readout.double(),
            attended,
            removable=words,
            classes=record.batch.classes,
        )
        values |= _values("smallest_set", best.size / length, best.possible)
    return values


def _values(name: str, fraction: Tensor, flipped: Tensor) -> Values:
    return {
        (name, "removed"): fraction.where(flipped, 1.0),
        (name, "fraction"): fraction.where(flipped, torch.nan),
        (name, "flipped"): flipped.double(),
    }


def _flips(model: AttentionModel, record: Record, order: Tensor) -> Tensor:
    """Whether the decision flips (B,N) after removing the first k items of order (B,N)."""
    if record.readout is not None:
        logits = exact.removal_curve(
            record.alpha[:, 0].double(), record.readout.double(), record.mask[:, 0], order
        )
    else:
        rank = order.argsort(-1)
        prefixes = torch.arange(order.shape[1], device=order.device)
        # A few prefixes at a time: all of them would be N·N weights per example.
        parts = [_without_first(model, record, rank, part) for part in prefixes.split(_PREFIXES)]
        logits = torch.cat(parts, 1)
    flips = flipped(logits, record)
    flips[:, 0] = False  # nothing is removed
    return flips


def _without_first(model: AttentionModel, record: Record, rank: Tensor, prefixes: Tensor) -> Tensor:
    """Logits (B,K,C) without the first k items of the ranking, for K prefix lengths k."""
    drop = rank[:, None] < prefixes[:, None]  # (B,K,N)
    alpha = without_item(record.alpha[:, None], record.mask[:, None], drop[:, :, None])
    # A row emptied before the others attends to nothing; with all rows emptied there is no output.
    emptied = alpha.isnan().all(-1).all(-1)
    logits = logits_under(model, record, alpha.nan_to_num(0.0))
    return logits.masked_fill(emptied[..., None], torch.nan)
