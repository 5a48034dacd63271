"""Texts without the same words are read once for all audits of a record."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor

from attnaudit.audits import deletions, known_readings
from attnaudit.audits.deletions import read_without
from attnaudit.core.contract import Batch, Record
from attnaudit.core.item_deletion import leave_out
from attnaudit.models.glass import Glass, glass_batch


class Counting(Glass):
    """Counts the texts that it reads."""

    texts = 0

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        self.texts += len(batch)
        return super().read(batch, embeddings)


def setting() -> tuple[Counting, Record, Tensor, Tensor]:
    """A model, a record of three texts, and all sets of one to three of five of their items."""
    model = Counting("oracle")
    record = model.read(glass_batch(3))
    items = record.content[0].nonzero()[:5, 0].tolist()
    sets = [each for size in (1, 2, 3) for each in itertools.combinations(items, size)]
    drop = torch.zeros(len(sets), record.content.shape[1], dtype=torch.bool)
    for index, chosen in enumerate(sets):
        drop[index, list(chosen)] = True
    rows = torch.arange(3).repeat_interleave(len(sets))
    drop = drop.repeat(3, 1) & record.content[rows]
    return model, record, rows, drop


def check(found: deletions.Reading, expected: deletions.Reading) -> None:
    torch.testing.assert_close(found.log_odds, expected.log_odds, rtol=0, atol=1e-5)
    assert torch.equal(found.flipped, expected.flipped)


def test_what_was_read_is_found_again_whatever_it_is_asked_with() -> None:
    model, record, rows, drop = setting()
    fresh = Counting("oracle")
    expected = read_without(fresh, fresh.read(record.batch), rows, drop)
    assert expected.log_odds.unique().numel() > 8
    some = torch.arange(len(rows)) % 3 == 0
    check(
        read_without(model, record, rows[some], drop[some]),
        deletions.Reading(*(part[some] for part in expected)),
    )
    half = model.texts
    check(read_without(model, record, rows.flip(0), drop.flip(0)), expected_in_reverse(expected))
    assert half < model.texts == fresh.texts  # the other two thirds
    check(read_without(model, record, rows, drop), expected)
    assert model.texts == fresh.texts


def expected_in_reverse(reading: deletions.Reading) -> deletions.Reading:
    return deletions.Reading(*(part.flip(0) for part in reading))


def test_single_items_come_from_leave_one_out_if_it_was_computed() -> None:
    model, record, rows, drop = setting()
    fresh = Counting("oracle")
    expected = read_without(fresh, fresh.read(record.batch), rows, drop)
    leave_out(model, record)
    before = model.texts
    single = drop.sum(-1) == 1
    check(
        read_without(model, record, rows[single], drop[single]),
        deletions.Reading(*(part[single] for part in expected)),
    )
    assert model.texts == before
    check(read_without(model, record, rows, drop), expected)
    assert model.texts > before


def test_other_models_records_and_tokens_are_read_for_themselves() -> None:
    model, record, rows, drop = setting()
    read_without(model, record, rows, drop)
    before = model.texts
    read_without(model, record, rows, drop, token=1)
    assert model.texts > before
    shifted, again = Counting("shifted"), model.read(record.batch)
    read_without(shifted, record, rows, drop)
    assert shifted.texts
    before = model.texts
    read_without(model, again, rows, drop)
    assert model.texts > before


def test_more_than_fits_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    model, record, rows, drop = setting()
    monkeypatch.setattr(known_readings, "_MOST_BYTES", 10)
    first = read_without(model, record, rows, drop)
    before = model.texts
    check(read_without(model, record, rows, drop), first)
    assert model.texts == 2 * (before - 3) + 3


def test_every_set_has_a_key_of_its_own() -> None:
    drop = torch.tensor(list(itertools.product([False, True], repeat=10)))
    rows = torch.tensor([0, 1, 256, 2**40])
    keys = known_readings._keys(rows.repeat_interleave(len(drop)), drop.repeat(4, 1))
    assert len(set(keys.tolist())) == 4 * len(drop)
