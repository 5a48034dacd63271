"""Measures that share a forward pass: the same numbers from fewer readings."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from attnaudit.core.contract import Batch, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.measures import MEASURES
from attnaudit.measures.shared_pass import differentiable_pass, passes_shared
from small_models import small_models

SHARING = ("gradient", "gradient_norm", "hidden_gradient", "input_times_gradient", "influence")


class Counting:
    """A model that counts how often it reads."""

    def __init__(self, inner: object) -> None:
        self.inner, self.readings = inner, 0

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        self.readings += 1
        return self.inner.read(batch, embeddings)  # type: ignore[attr-defined]

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        return self.inner.decode(record, alpha)  # type: ignore[attr-defined]


def test_one_reading_gives_the_numbers_of_one_reading_each() -> None:
    inner, batch = small_models()[-1]
    model = Counting(inner)
    record = model.read(batch)
    alone = {name: MEASURES[name](model, record, 0) for name in SHARING}
    assert model.readings == 1 + len(SHARING)
    with passes_shared():
        for order in (SHARING, SHARING[::-1]):
            for name in order:
                assert torch.equal(
                    MEASURES[name](model, record, 0).nan_to_num(7), alone[name].nan_to_num(7)
                )
    assert model.readings == 2 + len(SHARING)


def test_a_pass_is_of_one_model_and_record_and_ends_with_the_context() -> None:
    first, second = (Counting(small_models()[-1][0]) for _ in range(2))
    batch = small_models()[-1][1]
    record, other = first.read(batch), first.read(batch)
    with passes_shared():
        made = differentiable_pass(first, record)
        assert differentiable_pass(first, record) is made
        assert differentiable_pass(second, record) is not made
        assert differentiable_pass(first, other) is not made
        gone = weakref.ref(made.embeddings)
        del made
        assert gone() is not None
    assert gone() is None


def test_measures_of_the_same_gradient_share_one_pass_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, batch = small_models()[-1]
    record = model.read(batch)
    names = ("gradient_norm", "hidden_gradient", "input_times_gradient")
    alone = {name: MEASURES[name](model, record, 0) for name in names}
    passed: list[int] = []
    gradients = torch.autograd.grad

    def counted(values: Tensor, by: Sequence[Tensor], **options: bool) -> tuple[Tensor, ...]:
        passed.append(len(by))
        return gradients(values, by, **options)

    with passes_shared():
        made = differentiable_pass(model, record)
        monkeypatch.setattr(torch.autograd, "grad", counted)
        for name in names:
            found = MEASURES[name](model, record, 0)
            assert torch.equal(found.nan_to_num(7), alone[name].nan_to_num(7))
        own = made.slope_in_hidden()
    # Back to words and states; `hidden_gradient` also looks whether attention is of its states.
    hidden = made.record.hidden
    assert passed == [2, len(hidden)]
    assert torch.equal(own, gradients(made.odds.sum(), hidden)[0])


def test_a_prediction_that_does_not_depend_on_the_embeddings_is_not_applicable() -> None:
    class Deaf:
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            record = inner.read(batch)
            used = record.embeddings if embeddings is None else embeddings
            return replace(record, embeddings=used, hidden=None)

    inner, batch = small_models()[-1]
    deaf = Deaf()
    with pytest.raises(NotApplicable, match="not computed from the embeddings"):
        MEASURES["gradient_norm"](deaf, deaf.read(batch), 0)
