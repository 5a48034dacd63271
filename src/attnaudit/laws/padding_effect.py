"""What the padding of a batch changes in a model's answers, from a few texts read without it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.core.tolerance import relative_tolerance
from attnaudit.laws.differences import FAILURES, attention_difference, difference, largest
from attnaudit.laws.unpadded import unpadded
from attnaudit.laws.validate_record import check_record

# Rounding may be coarser than the type of the results says, as on a GPU that multiplies float32
# numbers in TF32. Then the same text in batches of two and three differs, too, by at most this.
_COARSE = 1e-3
_MARGIN = 4  # padding may change more sums than the size of a batch does
# Relative to the largest logit: rounding of a deep float32 model may exceed the tolerance of a law,
# and no number that an audit states moves by as little. Padding that is read moves them far more.
_NEGLIGIBLE = 1e-4


@dataclass(frozen=True)
class PaddingEffect:
    """How far the answer for a text changes when its padding is cut off.

    Attributes
    ----------
    example_id : of the text.
    probability, weight : the largest change of a class probability and of an attention weight.
    by_other_texts : the cause is the other texts of its batch, not the padding.
    """

    example_id: str
    probability: float
    weight: float
    by_other_texts: bool


def is_padded(batch: Batch) -> bool:
    """Whether a text of the batch, or its query, has padding."""
    without_query = batch.query_mask is None or bool(batch.query_mask.all())
    return not (without_query and bool(batch.mask.all()))


def padding_effect(model: AttentionModel, batch: Batch) -> PaddingEffect | None:
    """Compare a padded batch with some of its texts at their own length, as law 5 does.

    Two padded texts are compared, the shortest and one of medium length: seven short readings.

    Parameters
    ----------
    model : in evaluation mode.
    batch : see `is_padded`.

    Returns
    -------
    The effect, if it is larger than rounding explains; None if it is not. Also None if a reading
    fails, as in a model of texts of one length, or gives no attention: the audit will say so.
    """
    reader: AttentionModel = getattr(model, "without_readout", model)
    chosen = _chosen(batch)
    if not chosen:
        return None
    longest = int(batch.mask.sum(-1).argmax())
    # All in one batch, at the width of the whole batch: the others are what padding is next to.
    few = batch.rows(torch.tensor(list(dict.fromkeys([*chosen, longest]))))
    try:
        with torch.no_grad():
            padded = reader.read(few)
            check_record(padded)
            for row in range(len(chosen)):
                effect = _effect_on(reader, padded, row)
                if effect is not None:
                    return effect
    except FAILURES:
        return None
    return None


def shortened_pair(batch: Batch) -> Batch | None:
    """A text of a batch next to itself without the words in its middle, which is then padded.

    None if no text has three tokens or more.
    """
    length = batch.mask.sum(-1)
    row = int(length.argmax())
    if length[row] < 3:
        return None
    place = batch.mask[row].cumsum(-1) - 1  # the first and the last token stay
    dropped = (place > 0) & (place <= (length[row] - 1) // 2)
    drop = torch.stack([torch.zeros_like(dropped), dropped])
    # Closes the gaps, also in batches that leave out words in another way.
    return Batch.without(batch.rows(torch.tensor([row, row])), drop)


def _chosen(batch: Batch) -> list[int]:
    """The padded texts to compare: the shortest of two tokens or more, and one of medium length."""
    length = batch.mask.sum(-1)
    padded = ~batch.mask.all(-1)
    if batch.query_mask is not None:
        padded |= ~batch.query_mask.all(-1)
    for least in (2, 1):  # one token says little: all attention is on it
        rows = (padded & (length >= least)).nonzero()[:, 0]
        if len(rows):
            order = rows[length[rows].argsort(stable=True)].tolist()
            return list(dict.fromkeys([order[0], order[len(order) // 2]]))
    return []


def _effect_on(model: AttentionModel, padded: Record, row: int) -> PaddingEffect | None:
    """The effect on one text of a record, if it is larger than rounding explains."""
    text = padded.batch.rows(torch.tensor([row]))
    # Twice: models may squeeze a batch of one.
    bare = model.read(_copies(unpadded(text), 2))
    change = _change(padded, row, bare)
    scale = _scale(padded)
    rounding = max(_relative_rounding(padded), _NEGLIGIBLE) * scale
    if change <= rounding:
        return None
    coarse = _change(model.read(_copies(unpadded(text), 3)), 0, bare)
    if coarse <= max(rounding, _COARSE * scale) and change <= _MARGIN * coarse:
        return None
    still_padded = model.read(_copies(text, 2))
    return PaddingEffect(
        text.example_id[0],
        difference(padded.probs[row], bare.probs[0]),
        attention_difference(padded, row, bare),
        by_other_texts=_change(still_padded, 0, bare) <= rounding,
    )


def _change(record: Record, row: int, bare: Record) -> float:
    """The largest difference between a text of a record and the same text without padding."""
    logits = difference(record.logits[row], bare.logits[0])
    weights = attention_difference(record, row, bare)
    return largest(logits, 0.0 if weights == math.inf else weights)


def _copies(text: Batch, count: int) -> Batch:
    return text.rows(torch.zeros(count, dtype=torch.long))


def _scale(record: Record) -> float:
    logits: Tensor = record.logits.detach().abs().nan_to_num(0.0)
    return max(1.0, logits.max().item())


def _relative_rounding(record: Record) -> float:
    """Of the coarsest type on the way: attention may be float32 in a model of half precision."""
    types = {record.embeddings.dtype, record.alpha.dtype, record.logits.dtype}
    return max(relative_tolerance(dtype) for dtype in types if dtype.is_floating_point)
