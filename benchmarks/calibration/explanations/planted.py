"""Explanations that fail in a known way, as one that somebody brings along might.

The usual explanations mostly point at the right words of small models, so that alone they would
hardly show how often a bad one passes. All of these give the same scores when asked again, so that
noise does not give them away. Whether they are unfaithful is not taken from how they are made: the
truth of every model says it.
"""

from __future__ import annotations

from torch import Tensor

from attnaudit.core import randomness
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.measures import MEASURES

_leave_one_out = MEASURES["leave_one_out"]


def drawn(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """Scores (B,N) that are drawn at random for every text."""
    return _uniform("drawn", record, record.content.shape[1])


def quarter_right(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """Leave-one-out (B,N) in about a quarter of the texts, drawn scores in the others."""
    right = _uniform("quarter right", record, 1) < 0.25
    return _leave_one_out(model, record, seed).where(right, _uniform_like(model, record, seed))


def one_class(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """Leave-one-out (B,N) of texts that are given the first class, drawn scores of the others."""
    right = (record.predicted == 0)[:, None]
    return _leave_one_out(model, record, seed).where(right, _uniform_like(model, record, seed))


def shifted(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """The leave-one-out (B,N) of the word before; the first word has that of the last."""
    scores = _leave_one_out(model, record, seed)
    moved = scores.clone()
    for index, words in enumerate(record.content):
        moved[index, words] = scores[index, words].roll(1)
    return moved


def _uniform(name: str, record: Record, count: int) -> Tensor:
    return randomness.uniform(randomness.keys(0, name, record.batch.example_id), count)


def _uniform_like(model: AttentionModel, record: Record, seed: int) -> Tensor:
    return drawn(model, record, seed).to(record.logits.dtype)


PLANTED = {
    "drawn": drawn,
    "quarter_right": quarter_right,
    "one_class": one_class,
    "shifted": shifted,
}
