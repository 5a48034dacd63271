"""Leave-one-out against texts shortened by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from attnaudit.core.contract import Record
from attnaudit.measures.leave_one_out import leave_one_out
from word_cases import (
    CASES,
    QUERIES,
    TEXTS,
    Pairs,
    batch_of,
    chosen,
    word_case,
)


@pytest.mark.parametrize("name", CASES)
@torch.no_grad()
def test_leave_one_out_equals_reading_the_shortened_text(name: str) -> None:
    model, record = word_case(name)
    found = leave_one_out(model, record, 0).numpy()
    with_query = record.batch.query is not None
    for index, text in enumerate(TEXTS):
        for place in range(record.batch.tokens.shape[1]):
            word = place - 1  # the start mark comes first
            if not 0 <= word < len(text) or len(text) == 1:
                assert math.isnan(found[index, place])
                continue
            shorter = batch_of(
                (text[:word] + text[word + 1 :],),
                (QUERIES[index],) if with_query else None,
                classes=None
                if record.batch.classes is None
                else record.batch.classes[index : index + 1],
            )
            logits = model.read(shorter).logits[0].numpy()
            allowed = (
                np.ones(len(logits), bool)
                if shorter.classes is None
                else shorter.classes[0].numpy()
            )
            p, q = (
                np.where(allowed, np.exp(x), 0) / np.exp(x)[allowed].sum()
                for x in (logits, record.logits[index].numpy())
            )
            assert found[index, place] == pytest.approx(np.abs(p - q).sum() / 2, abs=1e-10)


@pytest.mark.parametrize("name", CASES)
def test_leaving_out_the_only_word_is_nan(name: str) -> None:
    model, record = word_case(name)
    alone = record.batch.rows(torch.tensor([3]))
    assert TEXTS[3] == [15]
    found = leave_one_out(model, model.read(alone), 0)
    assert found.shape == alone.tokens.shape
    assert found.isnan().all()


def test_the_models_own_leave_out_is_used() -> None:
    _, record = word_case("two classes")

    class Own:
        def leave_out(self, record: Record) -> Tensor:
            return record.logits[:, None].expand(-1, record.content.shape[1], -1).flip(-1)

    p = record.probs.numpy()
    found = leave_one_out(Own(), record, 0).numpy()  # type: ignore[arg-type]
    np.testing.assert_allclose(
        found, np.abs(p[:, :1] - p[:, 1:]).repeat(found.shape[1], 1), atol=1e-12
    )


@pytest.fixture
def pairs() -> tuple[Pairs, Record]:
    model = Pairs()
    return model, model.read(batch_of(TEXTS))


def only_example(record: Record, index: int) -> Record:
    return replace(record, logits=record.logits[index : index + 1])


def test_leaving_out_an_item_deletes_all_of_its_tokens(pairs: tuple[Pairs, Record]) -> None:
    model, record = pairs
    found = leave_one_out(model, record, 0).numpy()
    for index, text in enumerate(TEXTS):
        count = math.ceil(len(text) / 2)
        for item in range(5):
            if item >= count or count == 1:
                assert math.isnan(found[index, item])
                continue
            left = text[: 2 * item] + text[2 * item + 2 :]
            p = chosen(model.read(batch_of((left,))).logits, only_example(record, index))
            assert found[index, item] == pytest.approx(
                abs(p[0] - chosen(record.logits, record)[index]), abs=1e-12
            )
