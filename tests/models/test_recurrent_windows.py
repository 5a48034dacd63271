"""Deletions from long texts, followed until they are forgotten, against reading again."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from attnaudit.core import memory_budget
from attnaudit.core.item_deletion import leave_out_by_reading
from attnaudit.models import incremental_deletion
from attnaudit.models.encoders import deletion_protocol, recurrent_windows
from deleted_texts import LENGTHS, TOLERANCE, assert_same, made, read, texts

LONG = (300, 290, 250, 301)


@pytest.fixture(autouse=True)
def every_text_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion_protocol, "LONG_TEXT", 1)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("lengths", [LENGTHS, LONG, (1,), (2,), (130,)])
@pytest.mark.parametrize("encoder", ["bilstm:hidden=5", "bigru:hidden=7", "cnn:filters=4", "none"])
@torch.no_grad()
def test_leaving_out_equals_reading_again(
    encoder: str, lengths: tuple[int, ...], dtype: torch.dtype
) -> None:
    model = made(encoder, dtype)
    record = read(model, texts(False, lengths))
    assert_same(model.leave_out(record), leave_out_by_reading(model, record))


@pytest.mark.parametrize(("deletions", "numbers"), [(1, 2**22), (5, 2**22), (64, 4000), (64, 1)])
@torch.no_grad()
def test_the_result_does_not_depend_on_the_bounds(
    deletions: int, numbers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = made("bilstm:hidden=5")
    record = read(model, texts(False, (110, 131)))
    plain = leave_out_by_reading(model, record)
    monkeypatch.setattr(incremental_deletion, "_MOST_OF_LONG", deletions)
    monkeypatch.setattr(memory_budget, "NUMBERS_AT_ONCE", numbers)
    held: list[tuple[int, int]] = []
    window = recurrent_windows.window

    def watched(*given):
        found = window(*given)
        if found is not None:
            held.append((len(found.states), found.states.numel()))
        return found

    monkeypatch.setattr("attnaudit.models.encoders.recurrent_deletion.window", watched)
    assert_same(model.leave_out(record), plain)
    assert held
    assert all(count <= deletions and (count == 1 or size <= numbers) for count, size in held)


@pytest.mark.parametrize(("forget", "least", "most"), [(-2, 1, 128), (1, 129, 500), (20, 590, 602)])
@torch.no_grad()
def test_a_deletion_is_followed_as_long_as_it_is_remembered(
    forget: float, least: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = made("bilstm:hidden=5")
    for network in (model.encoder.forwards, model.encoder.backwards):
        assert isinstance(network, nn.LSTM)
        network.bias_ih_l0[5:10] = forget  # of the gate
    monkeypatch.setattr(incremental_deletion, "_MOST_OF_LONG", 10)
    items: list[int] = []
    window = recurrent_windows.window

    def watched(*given):
        found = window(*given)
        items.append(found.states.shape[2])
        return found

    monkeypatch.setattr("attnaudit.models.encoders.recurrent_deletion.window", watched)
    record = read(model, texts(False, (600,)))
    assert_same(model.leave_out(record), leave_out_by_reading(model, record))
    assert least <= max(items) <= most
