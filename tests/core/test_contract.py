"""Batches lose tokens and repeat rows without mixing anything up."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest
import torch

from attnaudit.core.contract import Batch, Record
from attnaudit.core.errors import InputError


def three() -> Batch:
    return Batch(
        example_id=("a", "b", "c"),
        tokens=torch.tensor([[5, 6, 7, 8], [9, 10, 11, 0], [12, 0, 0, 0]]),
        mask=torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0], [1, 0, 0, 0]]).bool(),
        query=torch.tensor([[1, 2], [3, 4], [5, 6]]),
        query_mask=torch.ones(3, 2, dtype=torch.bool),
        segments=torch.tensor([[1, 1, 2, 2], [1, 2, 3, 0], [4, 0, 0, 0]]),
        classes=torch.tensor([[True, False], [True, True], [False, True]]),
        labels=torch.tensor([0, 1, 1]),
        evidence=torch.tensor([[0, 1, 0, 1], [0, 0, 1, 0], [1, 0, 0, 0]]).bool(),
    )


def test_a_batch_is_as_long_as_its_names() -> None:
    assert len(three()) == 3


def test_without_closes_the_gaps_and_narrows_the_batch() -> None:
    drop = torch.tensor([[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]).bool()
    shorter = three().without(drop)
    assert shorter.tokens.tolist() == [[6, 8], [9, 11], [12, 0]]
    assert shorter.mask.tolist() == [[True, True], [True, True], [True, False]]
    assert shorter.segments is not None
    assert shorter.segments.tolist() == [[1, 2], [1, 3], [4, 0]]
    assert shorter.evidence is not None
    assert shorter.evidence.tolist() == [[True, True], [False, True], [True, False]]


def test_without_leaves_everything_that_is_not_per_token() -> None:
    batch = three()
    shorter = batch.without(torch.ones(3, 4, dtype=torch.bool))
    for name in ("example_id", "query", "query_mask", "classes", "labels"):
        assert getattr(shorter, name) is getattr(batch, name), name


def test_without_everything_leaves_one_column_of_padding() -> None:
    empty = three().without(torch.ones(3, 4, dtype=torch.bool))
    assert empty.tokens.tolist() == [[0]] * 3
    assert not empty.mask.any()


def test_without_nothing_trims_padding_only() -> None:
    batch = three().rows(torch.tensor([1, 2]))
    trimmed = batch.without(torch.zeros(2, 4, dtype=torch.bool))
    assert trimmed.tokens.tolist() == [[9, 10, 11], [12, 0, 0]]


def test_dropping_padding_changes_nothing() -> None:
    batch = three()
    assert batch.without(~batch.mask).tokens.tolist() == batch.tokens.tolist()


def test_without_hides_what_stood_in_the_padding() -> None:
    batch = three()
    dirty = replace(batch, tokens=batch.tokens.masked_fill(~batch.mask, 99))
    drop = torch.zeros(3, 4, dtype=torch.bool)
    assert dirty.without(drop).tokens.tolist() == batch.tokens.tolist()


def test_without_closes_gaps_of_a_mask_with_holes() -> None:
    batch = Batch(("a",), torch.tensor([[5, 6, 7, 8]]), torch.tensor([[False, True, False, True]]))
    shorter = batch.without(torch.tensor([[False, False, False, False]]))
    assert shorter.tokens.tolist() == [[6, 8]]
    assert shorter.mask.tolist() == [[True, True]]


def test_without_leaves_the_original_as_it_was() -> None:
    batch, before = three(), three()
    batch.without(torch.ones(3, 4, dtype=torch.bool))
    assert torch.equal(batch.tokens, before.tokens)
    with pytest.raises(FrozenInstanceError):
        batch.tokens = before.tokens  # type: ignore[misc]


def test_rows_may_repeat_and_take_everything_along() -> None:
    batch = three()
    picked = batch.rows(torch.tensor([2, 0, 2]))
    assert picked.example_id == ("c", "a", "c")
    assert picked.tokens.tolist() == [[12, 0, 0, 0], [5, 6, 7, 8], [12, 0, 0, 0]]
    for name in ("mask", "query", "query_mask", "segments", "classes", "labels", "evidence"):
        expected = [getattr(batch, name)[at].tolist() for at in (2, 0, 2)]
        assert getattr(picked, name).tolist() == expected, name


def test_rows_and_without_keep_what_is_absent_absent() -> None:
    batch = Batch(("a",), torch.tensor([[5, 6]]), torch.ones(1, 2, dtype=torch.bool))
    for other in (
        batch.rows(torch.tensor([0])),
        batch.without(torch.tensor([[True, False]])),
        batch.to("cpu"),
    ):
        assert (
            other.query is other.segments is other.classes is other.labels is other.evidence is None
        )


def test_no_examples_are_a_batch_too() -> None:
    empty = three().rows(torch.tensor([], dtype=torch.int64))
    assert len(empty) == 0
    assert len(empty.without(torch.zeros(0, 4, dtype=torch.bool))) == 0


def test_a_record_predicts_among_the_candidates() -> None:
    batch = three()
    logits = torch.tensor([[0.0, 5.0], [0.0, 1.0], [7.0, 0.0]])
    mask = batch.mask[:, None]
    record = Record(
        batch,
        torch.zeros(3, 4, 1),
        None,
        mask / mask.sum(-1, keepdim=True),
        mask,
        batch.mask,
        batch.tokens,
        logits,
    )
    assert record.predicted.tolist() == [0, 1, 1]
    torch.testing.assert_close(
        record.probs,
        torch.tensor([[1.0, 0.0], [1 - 0.7310586, 0.7310586], [0.0, 1.0]]),
        atol=1e-6,
        rtol=0,
    )
    assert record.length.tolist() == [4, 3, 1]


def test_a_batch_of_uneven_parts_is_rejected() -> None:
    tokens = torch.ones(8, 4, dtype=torch.int64)
    for ids, mask in ((tuple("abc"), tokens > 0), (tuple("abcdefgh"), tokens[:, :2] > 0)):
        with pytest.raises(InputError, match="one example_id per text"):
            Batch(ids, tokens, mask)
