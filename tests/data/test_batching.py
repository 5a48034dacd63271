"""How texts become the batches of an audit."""

from __future__ import annotations

import pytest

from attnaudit.data import Example, Vocabulary, batching
from attnaudit.data.batching import batches_of


def texts(*lengths: int) -> list[Example]:
    return [Example(str(at), ("word",) * n, label=0) for at, n in enumerate(lengths)]


def test_long_texts_make_small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "_AUDIT_TOKENS", 100)
    examples = texts(10, 300, 20, 20, 49, 50, 20, 20, 101, 5)
    batches = batches_of(examples, Vocabulary.build(examples), 2)
    # By length: the longest text counts for each, and a longer one than the bound is alone.
    assert [batch.example_id for batch in batches] == [
        ("9", "0", "2", "3", "6"),
        ("7", "4"),
        ("5",),
        ("8",),
        ("1",),
    ]


def test_texts_of_usual_length_come_128_at_a_time() -> None:
    examples = texts(*[500] * 130)
    batches = batches_of(examples, Vocabulary.build(examples), 2)
    assert [len(batch) for batch in batches] == [128, 2]
