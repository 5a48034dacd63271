"""One more word left out of a text without some words: as if each text had been read."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from attnaudit.audits import extended_deletions
from attnaudit.audits.deletions import read_without
from attnaudit.audits.extended_deletions import log_odds_of_extensions
from attnaudit.audits.top_words import top_words
from attnaudit.core.contract import Record
from attnaudit.models import with_readout
from attnaudit.models.glass import Glass, glass_batch
from deleted_texts import assert_same, made, read, texts

SHARING = ("bilstm:hidden=5", "bigru:hidden=7", "cnn:filters=4", "average:hidden=6", "none")
LENGTHS = (30, 12, 25)


@pytest.fixture(autouse=True)
def every_text_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extended_deletions, "LONG_TEXT", 1)


def extensions(record: Record, example: int, size: int, seed: int) -> Tensor:
    """A random set of items, with each of the others one more: (K,N)."""
    words = record.content[example].nonzero()[:, 0]
    order = words[torch.randperm(len(words), generator=torch.Generator().manual_seed(seed))]
    drop = torch.zeros(len(order) - size, record.content.shape[1], dtype=torch.bool)
    drop[:, order[:size]] = True
    return drop.scatter(1, order[size:, None], True)


def by_reading(model, record: Record, example: int, drop: Tensor) -> Tensor:
    return read_without(model, record, torch.full((len(drop),), example), drop).log_odds


@pytest.mark.parametrize("encoder", SHARING)
@pytest.mark.parametrize("with_query", [False, True])
def test_as_if_each_text_had_been_read(encoder: str, with_query: bool) -> None:
    model = made(encoder, with_query=with_query)
    batch = texts(with_query, LENGTHS)
    batch.tokens[0, 5:9] = batch.tokens[0, 4]  # deleting either of equal neighbours is the same
    record = read(model, batch)
    for example in range(len(LENGTHS)):
        for size in (0, 1, 4, 9):
            drop = extensions(record, example, size, seed=size)
            some = drop[::2]
            found = log_odds_of_extensions(model, record, example, some)
            assert found is not None
            assert_same(found, by_reading(model, record, example, some), (example, size))
            apart = by_reading(model, record, example, drop)
            assert apart.max() - apart.min() > 1e-3, "nothing was left out"


def test_the_only_words_left() -> None:
    model = made("average:hidden=6")
    record = read(model, texts(False, (6,)))
    drop = extensions(record, 0, 4, seed=0)  # one word is left
    found = log_odds_of_extensions(model, record, 0, drop)
    assert found is not None
    assert_same(found, by_reading(model, record, 0, drop))


def test_other_sets_and_other_models_are_read() -> None:
    model = made("average:hidden=6")
    record = read(model, texts(False, LENGTHS))
    drop = extensions(record, 0, 3, seed=0)
    assert log_odds_of_extensions(model, record, 0, drop[:1]) is None  # one set alone
    drop[0] |= drop[1]
    assert log_odds_of_extensions(model, record, 0, drop) is None  # two words more
    transformer = made("transformer:hidden=6")
    record = read(transformer, texts(False, LENGTHS))
    drop = extensions(record, 0, 3, seed=0)
    assert log_odds_of_extensions(transformer, record, 0, drop) is None
    glass = Glass("oracle")
    record = glass.read(glass_batch(2))
    assert log_odds_of_extensions(glass, record, 0, extensions(record, 0, 3, seed=0)) is None


def test_short_texts_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extended_deletions, "LONG_TEXT", 26)
    model = made("average:hidden=6")
    record = read(model, texts(False, LENGTHS))
    found = [
        log_odds_of_extensions(model, record, at, extensions(record, at, 3, seed=0)) is not None
        for at in range(len(LENGTHS))
    ]
    assert found == [True, False, False]


@pytest.mark.parametrize("encoder", SHARING)
def test_top_words_are_the_same(encoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for model in (made(encoder), with_readout(made(encoder, output="tanh"))):
        record = read(model, texts(False, LENGTHS))
        scores = {"attention": record.alpha[:, 0]}
        shared = top_words(model, record, scores, 0, exhaustive=100, share=40)
        monkeypatch.setattr(extended_deletions, "LONG_TEXT", 1000)
        again = top_words(model, record, scores, 0, exhaustive=100, share=40)
        monkeypatch.setattr(extended_deletions, "LONG_TEXT", 1)
        assert shared.keys() == again.keys()
        assert not again["", "searched_exactly"].any()
        for key, values in again.items():
            assert_same(shared[key], values, key)
