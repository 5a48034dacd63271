"""Attention as a ranking."""

from __future__ import annotations

import torch

from attnaudit.measures import MEASURES
from word_cases import (
    word_case,
)


def test_the_measure_attention_is_alpha() -> None:
    model, record = word_case("two classes")
    found = MEASURES["attention"](model, record, 0)
    assert torch.equal(found, record.alpha)
