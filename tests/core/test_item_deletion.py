"""The logits without each item equal those of the shortened text."""

from __future__ import annotations

import gc

import pytest
import torch
from torch import Tensor

from attnaudit.core.contract import Batch, Record
from attnaudit.core.item_deletion import leave_out, leave_out_by_reading
from attnaudit.models.glass import Glass, glass_batch
from small_models import small_models


def test_leaving_out_reads_the_shorter_text_and_is_nan_where_nothing_counts() -> None:
    model, batch = small_models()[3]
    record = model.read(batch)
    logits = leave_out(model, record)
    assert torch.equal(logits.isnan(), ~record.content[..., None].expand_as(logits))
    for example, item in record.content.nonzero().tolist():
        real = batch.mask[example].clone()
        real[item] = False
        tokens = batch.tokens[example][real][None]
        alone = model.read(Batch(("x",), tokens, torch.ones_like(tokens, dtype=torch.bool)))
        torch.testing.assert_close(logits[example, item], alone.logits[0], rtol=0, atol=1e-12)


def test_the_only_word_cannot_be_left_out() -> None:
    batch = Batch(("a",), torch.tensor([[1]]), torch.tensor([[True]]))
    model = Glass("oracle")
    assert leave_out_by_reading(model, model.read(batch)).isnan().all()


def test_a_models_own_leave_out_is_preferred() -> None:
    class Own(Glass):
        def leave_out(self, record: Record) -> Tensor:
            return torch.full((1, 1, 2), 7.0)

    model = Own("oracle")
    assert leave_out(model, model.read(glass_batch(2))).tolist() == [[[7.0, 7.0]]]


class Counting(Glass):
    """Counts how often the logits without each item are computed; never equal to another one."""

    __hash__ = object.__hash__

    def __init__(self, kind: str, number: float) -> None:
        super().__init__(kind)  # type: ignore[arg-type]
        object.__setattr__(self, "number", number)
        object.__setattr__(self, "calls", [])

    def __eq__(self, other: object) -> bool:
        return True  # a model is known by identity, not by equality

    def leave_out(self, record: Record) -> Tensor:
        self.calls.append(record)  # type: ignore[attr-defined]
        return torch.full((*record.content.shape, 2), self.number)  # type: ignore[attr-defined]


def test_the_logits_are_computed_once_per_model_and_record() -> None:
    one, other = Counting("oracle", 1.0), Counting("oracle", 2.0)
    first, second = (one.read(glass_batch(2)) for _ in range(2))
    for _ in range(2):
        for model, expected in ((one, 1.0), (other, 2.0)):
            for record in (first, second):
                assert (leave_out(model, record) == expected).all()
    assert [len(model.calls) for model in (one, other)] == [2, 2]  # type: ignore[attr-defined]


@pytest.mark.usefixtures("small_heap")
def test_a_new_model_at_the_address_of_an_old_one_gets_its_own_logits() -> None:
    record = Glass("oracle").read(glass_batch(2))
    for number in range(8):
        assert (leave_out(Counting("oracle", number), record) == number).all()
        gc.collect()


def test_a_model_without_weak_references_is_computed_every_time() -> None:
    class Slotted:
        __slots__ = ("calls",)

        def leave_out(self, record: Record) -> Tensor:
            self.calls += 1
            return record.logits[:, None]

    model, record = Slotted(), Glass("oracle").read(glass_batch(2))
    model.calls = 0
    for _ in range(2):
        leave_out(model, record)  # type: ignore[arg-type]
    assert model.calls == 2
