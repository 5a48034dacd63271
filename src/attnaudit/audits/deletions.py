"""What the audits that delete words share: which words, reading texts without them, and how many.

Log-odds are those of the class predicted for the whole text, ŷ: its logit minus the log-sum-exp of
the other candidate classes. p(ŷ) is their sigmoid, so what is best in the one is best in the other.
"""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from attnaudit.audits.counterfactual import decision_flipped, rounding_margin
from attnaudit.audits.known_readings import known_readings
from attnaudit.audits.per_row import mean_score_over_rows
from attnaudit.core import masking, memory_budget, randomness
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.item_deletion import known_leave_out, leave_out
from attnaudit.core.memory_budget import rows_at_once
from attnaudit.core.onednn import faster_products
from attnaudit.core.passes_by_length import passes_by_length
from attnaudit.core.prediction import logits_of
from attnaudit.core.tolerance import relative_tolerance
from attnaudit.measures.log_odds import log_odds_of


class Reading(NamedTuple):
    """What a model makes of M texts without some of their items."""

    log_odds: Tensor  # (M,) float64, of the class predicted for the whole text; NaN if nothing left
    flipped: Tensor  # (M,) bool, another class is predicted


def words_of(record: Record) -> Tensor:
    """The items that are ranked and deleted (B,N): content that some row may attend to."""
    return record.content & record.mask.any(1)


def whole_log_odds(record: Record) -> Tensor:
    """The log-odds of the predicted class, of the whole texts: (B,) float64."""
    return log_odds_of(record.logits.double(), record.predicted, record.batch.classes)


def rounding_of(record: Record) -> Tensor:
    """How far log-odds of the same text may differ by rounding: (B,)."""
    return relative_tolerance(record.logits.dtype) * whole_log_odds(record).abs().clamp_min(1.0)


def ranks(record: Record, score: Tensor, seed: int) -> tuple[Tensor, Tensor]:
    """The place of each item by decreasing score, and whether the ranking is unknown.

    Parameters
    ----------
    record : Record
    score : Tensor, (B,N) or (B,R,N)
        Of several rows the mean counts, as it would be shown.
    seed : int
        Of the order of tied items, which is the same in all audits that use this function.

    Returns
    -------
    rank : Tensor, (B,N)
        From 0 for the top item; items that are not `words_of` come last.
    unknown : Tensor, (B,) bool
        Some item has no score.
    """
    score, words = mean_score_over_rows(score), words_of(record)
    keys = randomness.keys(seed, "deletion ties", record.batch.example_id)
    tie_break = randomness.uniform(keys, score.shape[1]).to(score.device)
    order = masking.descending(score.nan_to_num(-torch.inf), words, tie_break)
    return order.argsort(-1), (score.isnan() & words).any(-1)


def random_ranks(record: Record, seed: int, name: str, draws: int) -> Tensor:
    """Random places of the words (draws,B,N), drawn per example id; other items come last."""
    words, ids = words_of(record), record.batch.example_id
    drawn = [
        randomness.uniform(randomness.keys(seed, f"{name}/{draw}", ids), words.shape[1])
        for draw in range(draws)
    ]
    numbers = torch.stack(drawn).to(words.device).masked_fill(~words, torch.inf)
    return numbers.argsort(-1).argsort(-1)


def share_of(share: str | float | Decimal, count: Tensor) -> Tensor:
    """⌈share per cent of count⌉, exactly: in floating point 7 % of 100 is more than 7.

    Examples
    --------
    >>> share_of(7, torch.tensor([100, 101]))
    tensor([7, 8])
    """
    numerator, denominator = (Decimal(str(share)) / 100).as_integer_ratio()
    counts = [-(-numerator * number // denominator) for number in count.tolist()]
    return torch.tensor(counts, dtype=torch.int64, device=count.device)


def chosen_texts(record: Record, seed: int, texts: int, text_count: int | None) -> Tensor:
    """Which texts an expensive audit reads (B,): about `texts` of `text_count`, all if fewer.

    Drawn per example id, so that an audit of fewer texts reads some of those of another.
    """
    keys = randomness.keys(seed, "texts of deletion", record.batch.example_id)
    share = 1.0 if text_count is None else texts / max(text_count, 1)
    return (randomness.uniform(keys, 1)[:, 0] < share).to(record.content.device)


def log_odds_without_each(model: AttentionModel, record: Record) -> Tensor:
    """Log-odds (B,N) without each item, from the logits that all such audits share; else NaN."""
    logits = leave_out(model, record).double()
    odds = log_odds_of(logits, record.predicted, record.batch.classes)
    return odds.masked_fill(logits.isnan().any(-1), torch.nan)


def log_odds_without(model: AttentionModel, record: Record, drop: Tensor) -> Tensor:
    """Log-odds (B,K) of the predicted class without the items in each of K sets drop (B,K,N) bool.

    NaN where nothing would be left of the text.

    Examples
    --------
    >>> from attnaudit.models.glass import Glass, glass_batch
    >>> model = Glass("oracle")
    >>> record = model.read(glass_batch(2))
    >>> log_odds_without(model, record, record.batch.evidence[:, None]).shape
    torch.Size([2, 1])
    """
    rows = torch.arange(len(drop), device=drop.device).repeat_interleave(drop.shape[1])
    return read_without(model, record, rows, drop.flatten(0, 1)).log_odds.view(drop.shape[:2])


@torch.no_grad()
def read_without(
    model: AttentionModel,
    record: Record,
    rows: Tensor,
    drop: Tensor,
    *,
    token: int | None = None,
) -> Reading:
    """Read examples rows (M,) of the record, each without the items drop (M,N) bool.

    Equal deletions are read once, texts of similar length together, in bounded parts. With `token`
    nothing is deleted: it is put in place of every token of these items.
    """
    odds = torch.full((len(rows),), torch.nan, dtype=torch.float64, device=drop.device)
    flips = torch.zeros_like(odds, dtype=torch.bool)
    drop = drop & record.content[rows]
    left = (record.content[rows] & ~drop).any(-1) | (token is not None)
    if not left.any():
        return Reading(odds, flips)
    rows, drop = rows[left], drop[left]
    first, which = _distinct(rows, drop)
    read = _read_new(model, record, rows[first], drop[first], token)
    odds[left], flips[left] = read.log_odds[which], read.flipped[which]
    return Reading(odds, flips)


def _read_new(
    model: AttentionModel, record: Record, rows: Tensor, drop: Tensor, token: int | None
) -> Reading:
    """Read what neither leave-one-out nor another audit has read of this record."""
    if token is not None:
        return _read_in_parts(model, record, rows, drop, token)
    odds = torch.empty(len(rows), dtype=torch.float64, device=rows.device)
    flips = torch.empty_like(odds, dtype=torch.bool)
    new = torch.ones_like(flips)
    singles = known_leave_out(model, record)
    if singles is not None:
        logits = singles[rows, drop.int().argmax(-1)]
        single = (drop.sum(-1) == 1) & ~logits.isnan().any(-1)
        odds[single], flips[single] = _reading_of(record, rows[single], logits[single])
        new = ~single
    readings = known_readings(model, record)
    known, values = readings.find(rows, drop)
    if values is not None:
        odds[known], flips[known] = values[:, 0], values[:, 1] > 0
        new &= ~known
    if new.any():
        read = _read_in_parts(model, record, rows[new], drop[new], None)
        odds[new], flips[new] = read
        readings.add(rows[new], drop[new], torch.stack([read.log_odds, read.flipped.double()], 1))
    return Reading(odds, flips)


def _reading_of(record: Record, rows: Tensor, logits: Tensor) -> Reading:
    """The reading of examples rows (M,) from logits (M,C) without some of their items."""
    classes = record.batch.classes
    candidates, predicted = None if classes is None else classes[rows], record.predicted[rows]
    flipped = decision_flipped(
        logits[:, None], predicted, candidates, margin=rounding_margin(record.logits.dtype)
    )
    return Reading(log_odds_of(logits.double(), predicted, candidates), flipped[:, 0])


def _distinct(rows: Tensor, drop: Tensor) -> tuple[Tensor, Tensor]:
    """The first of each kind of (rows (M,), drop (M,N)), sorted, and the kind of each (M,)."""
    bits = np.packbits(drop.cpu().numpy(), axis=1)  # M·N numbers would not fit for long texts
    bits = np.ascontiguousarray(np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8))))
    keys = [rows.cpu().numpy(), *bits.view(">u8").T]  # the first decides
    order = np.lexsort(keys[::-1])
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    for key in keys:
        new[1:] |= key[order[1:]] != key[order[:-1]]
    kind = np.empty_like(order)
    kind[order] = new.cumsum() - 1
    first = torch.from_numpy(order[new])  # lexsort is stable
    return first.to(rows.device), torch.from_numpy(kind).to(rows.device)


def _read_in_parts(
    model: AttentionModel, record: Record, rows: Tensor, drop: Tensor, token: int | None
) -> Reading:
    tokens = record.batch.tokens.shape[1]
    length = torch.empty_like(rows)
    for part in torch.arange(len(rows), device=rows.device).split(rows_at_once(tokens)):
        left = record.batch.mask[rows[part]]
        if token is None:
            left = left & ~dropped_tokens(record, rows[part], drop[part])
        length[part] = left.sum(-1)
    odds = torch.empty(len(rows), dtype=torch.float64, device=rows.device)
    flips = torch.empty_like(odds, dtype=torch.bool)
    # Few tokens may be left of long texts, which are whole before they are deleted from.
    for part, _ in passes_by_length(
        length, memory_budget.TOKENS_AT_ONCE, texts=rows_at_once(tokens)
    ):
        dropped = dropped_tokens(record, rows[part], drop[part])
        whole = record.batch.rows(rows[part])
        erased = whole.without(dropped) if token is None else whole.replaced(dropped, token)
        with faster_products():
            logits = logits_of(model, erased)
        odds[part], flips[part] = _reading_of(record, rows[part], logits)
    return Reading(odds, flips)


def dropped_tokens(record: Record, rows: Tensor, drop: Tensor) -> Tensor:
    """The tokens (M,T) of the items drop (M,N) of examples rows (M,)."""
    item = record.item_of_token[rows]
    return drop.gather(1, item.clamp_min(0)) & (item >= 0)
