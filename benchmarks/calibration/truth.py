"""The exact truth about a model's attention, from every deletion of every text.

Stated once, and independent of the numbers of the card:

- A text is a game whose players are its words. The worth of a set of words is the log-odds of the
  class that the whole text is given, when only these words are read (the others deleted, gaps
  closed); `shapley.shapley_values` gives each word its exact share. Only texts of more than 12
  words, of which the zoo has a few models, are estimated from drawn orders.
- **points**: the heatmap is the attention averaged over rows; it shows k = ⌈N / 5⌉ words. `capture`
  is the sum of the positive Shapley values of these words, divided by that of the best k words;
  `chance` is its expectation for random words. `skill` = (capture − chance) / (1 − chance), of the
  means over texts: 0 for random words, 1 for the best.
- **matters**: the weight of the most attended word is swapped with that of each other word, in all
  rows. `effect` is the mean over swaps of |change of the log-odds| / |log-odds|, each at most 1;
  `flips` says whether some swap changes the decision.

Each is also computed for every predicted class with enough texts, and the lowest kept: attention
that fails for a whole class may not be shown as an explanation, whatever its mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from benchmarks.calibration.shapley import (
    best_sets,
    sampled_shapley_values,
    shapley_values,
    subsets,
)
from torch import Tensor

from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.core.randomness import derive

YES, NO, NOT_YES, OPEN = "yes", "no", "not yes", "open"
MAX_EXACT = 12  # words; of longer texts the Shapley values are estimated
ORDERS = 50  # drawn for that, each with its reverse
MIN_TEXTS = 10  # of a predicted class, to be judged on its own
SHOWN = 5  # one word in five is shown by the heatmap
# Between these two the truth is open: either answer is allowed.
SKILL_YES, SKILL_NO = 0.75, 0.3
CLASS_SKILL_YES, CLASS_SKILL_NO = 0.6, 0.15
EFFECT_YES, EFFECT_NO = 0.3, 0.08
CLASS_EFFECT_YES, CLASS_EFFECT_NO = 0.2, 0.04
FLIPS_NO = 0.1
MAX_CHANCE = 0.7  # above it there is nothing to point at


@dataclass(frozen=True)
class TextTruth:
    """The truth about one text: see the module's docstring.

    Attributes
    ----------
    removed, kept : where the shown words lie between all sets of k words (0) and the best (1), by
        the log-odds lost without them and by the log-odds with only them; NaN for texts of more
        than `MAX_EXACT` words.
    margin : the log-odds of the predicted class.
    """

    predicted: int
    capture: float
    chance: float
    effect: float
    flips: bool
    removed: float
    kept: float
    margin: float


def truth_of_texts(model: AttentionModel, batch: Batch) -> list[TextTruth]:
    """Return the truth about every text of a batch, reading all 2^N deletions of each.

    Examples
    --------
    >>> from benchmarks.calibration.corpus import Corpus
    >>> from benchmarks.calibration.design import Design
    >>> from benchmarks.calibration.handmade import Handmade
    >>> texts = truth_of_texts(Handmade(Design()), Corpus().texts(2))
    >>> [text.capture > 0.9 for text in texts]
    [True, True]
    """
    with torch.no_grad():
        return [
            _truth_of_text(model, batch.rows(torch.tensor([index]))) for index in range(len(batch))
        ]


def worth_of_sets(model: AttentionModel, record: Record, keep: np.ndarray) -> np.ndarray:
    """Return the log-odds (M,) of the predicted class of one text for sets of its words.

    Parameters
    ----------
    model : AttentionModel
    record : of a single text with N words.
    keep : (M,N) bool, the words that are kept. A model that cannot read an empty text is given the
        mean of its single words.
    """
    places = record.content[0].nonzero()[:, 0]
    label = int(record.predicted[0])
    drop = torch.zeros(len(keep), record.batch.tokens.shape[1], dtype=torch.bool)
    drop[:, places] = ~torch.from_numpy(keep)
    worth = np.full(len(keep), math.nan)
    filled = torch.from_numpy(np.flatnonzero(keep.any(-1)))
    for part in filled.split(4096):
        texts = record.batch.rows(torch.zeros(len(part), dtype=torch.int64))
        logits = model.read(texts.without(drop[part])).logits
        worth[part.numpy()] = log_odds(logits, label).numpy()
    if len(filled) < len(keep):
        worth[~keep.any(-1)] = _worth_of_nothing(model, record)
    return worth


def log_odds(logits: Tensor, label: int) -> Tensor:
    """Return the log-odds (…,) of a class from logits (…,C)."""
    others = [index for index in range(logits.shape[-1]) if index != label]
    return (logits[..., label] - logits[..., others].logsumexp(-1)).double()


def _worth_of_nothing(model: AttentionModel, record: Record) -> float:
    in_items = record.item_of_token >= 0
    try:
        logits = model.read(record.batch.without(in_items)).logits
    except (RuntimeError, ValueError, IndexError):
        logits = torch.tensor([math.nan])
    if not bool(logits.isfinite().all()):
        return float(worth_of_sets(model, record, np.eye(int(record.length[0])) > 0).mean())
    return float(log_odds(logits, int(record.predicted[0]))[0])


def _truth_of_text(model: AttentionModel, batch: Batch) -> TextTruth:
    record = model.read(batch)
    shown = record.alpha[0].double().mean(0)[record.content[0]].numpy()
    values, worth = game_of_text(model, record)
    removed = kept = math.nan
    if worth is not None:
        count = math.ceil(len(shown) / SHOWN)
        removed, kept = best_sets(worth, share_shown(shown, count), count)
    effect, flips = _swaps(model, record)
    capture, chance = capture_of(values, shown)
    return TextTruth(
        predicted=int(record.predicted[0]),
        capture=capture,
        chance=chance,
        effect=effect,
        flips=flips,
        removed=removed,
        kept=kept,
        margin=float(log_odds(record.logits, int(record.predicted[0]))[0]),
    )


def game_of_text(model: AttentionModel, record: Record) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the Shapley values (N,) of the words of one text, and the worth of all sets (2^N,).

    Of more than `MAX_EXACT` words the values are estimated, and the worth of all sets is None.
    """
    words = int(record.content[0].sum())
    if words <= MAX_EXACT:
        worth = worth_of_sets(model, record, subsets(words))
        return shapley_values(worth), worth
    values = sampled_shapley_values(
        lambda keep: worth_of_sets(model, record, keep),
        words,
        ORDERS,
        derive(0, "calibration", *record.batch.example_id),
    )
    return values, None


def capture_of(values: np.ndarray, shown: np.ndarray) -> tuple[float, float]:
    """Return `capture` and `chance` of any scores of the words of a text.

    Parameters
    ----------
    values : (N,) Shapley values.
    shown : (N,) scores; the ⌈N / 5⌉ highest are shown. `capture` is NaN if one is.

    Examples
    --------
    >>> capture_of(np.array([3.0, 1.0, -1.0]), np.array([0.1, 0.9, 0.0]))
    (0.3333333333333333, 0.4444444444444444)
    """
    count = math.ceil(len(shown) / SHOWN)
    positive = np.maximum(values, 0.0)
    best = np.sort(positive)[-count:].sum()
    if best <= 1e-9:
        return math.nan, math.nan
    chance = float(positive.mean() * count / best)
    if np.isnan(shown).any():
        return math.nan, chance
    return float(positive @ share_shown(shown, count) / best), chance


def share_shown(shown: np.ndarray, count: int) -> np.ndarray:
    """Return how much of each word (N,) is among the `count` highest; ties share a place.

    Examples
    --------
    >>> share_shown(np.array([0.5, 0.2, 0.2, 0.1]), 2).tolist()
    [1.0, 0.5, 0.5, 0.0]
    """
    last = np.sort(shown)[-count]
    rounding = 1e-9 * abs(last)
    above = shown > last + rounding
    tied = ~above & (shown >= last - rounding)
    return above + tied * (count - above.sum()) / tied.sum()


def _swaps(model: AttentionModel, record: Record) -> tuple[float, bool]:
    """Return the mean effect of swapping the top word's weight, and whether a swap flips."""
    places = record.content[0].nonzero()[:, 0]
    top = int(places[record.alpha[0].mean(0)[places].argmax()])
    others = [place for place in places.tolist() if place != top]
    if not others:
        return math.nan, False
    swapped = record.alpha[0].repeat(len(others), 1, 1)
    for index, other in enumerate(others):
        swapped[index][:, [top, other]] = record.alpha[0][:, [other, top]]
    label = int(record.predicted[0])
    before = float(log_odds(record.logits, label)[0])
    logits = model.decode(record, swapped[None])[0]
    change = (log_odds(logits, label) - before).abs() / max(abs(before), 1e-9)
    return float(change.clamp_max(1).mean()), bool((logits.argmax(-1) != label).any())
