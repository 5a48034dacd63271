"""Readouts are found for outputs that are linear in the attention, and for no others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from attnaudit.core import memory_budget
from attnaudit.core.contract import Batch, Record
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.models.readout import find_readout, with_readout


def test_the_readout_of_a_glass_model_is_found_again() -> None:
    glass = Glass("shifted", dtype=torch.float64)
    batch = glass_batch(6)
    record = glass.read(batch)
    assert record.readout is not None
    found = find_readout(glass, record)
    torch.testing.assert_close(found, record.readout * batch.mask[..., None], rtol=0, atol=1e-12)


class Bent(Glass):
    """A glass model whose output is linear but for a bend where `extra` is not 0."""

    extra: Callable[[Tensor], Tensor]

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        record = super().read(batch, embeddings)
        return replace(record, readout=None, logits=self.decode(record, record.alpha))

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        bend = type(self).extra(alpha)[..., 0, None]
        return super().decode(record, alpha) + bend * torch.tensor([1.0, 0.0])


@pytest.mark.parametrize(
    ("extra", "linear"),
    [
        (lambda alpha: 0 * alpha.sum(-1), True),
        (lambda alpha: (alpha**2).sum(-1), False),
        (lambda alpha: (alpha.amax(-1) - 0.99).clamp_min(0), False),  # at the corners only
        (lambda alpha: ((alpha > 0).sum(-1) == 2).double(), False),  # on the edges only
    ],
    ids=["straight", "square", "corners", "edges"],
)
def test_an_output_that_is_not_linear_has_no_readout(
    extra: Callable[[Tensor], Tensor], linear: bool
) -> None:
    class Here(Bent):
        pass

    Here.extra = staticmethod(extra)  # type: ignore[assignment]
    model = with_readout(Here("oracle", dtype=torch.float64))
    assert (model.read(glass_batch(6)).readout is not None) == linear


class Counting(Bent):
    """How many attentions were decoded?"""

    passes: list[int]

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        self.passes.append(1 if alpha.dim() == 3 else alpha.shape[1])
        return super().decode(record, alpha)


def counting(extra: Callable[[Tensor], Tensor]) -> Counting:
    class Here(Counting):
        passes: list[int] = []  # noqa: RUF012  # one for each class made here

    Here.extra = staticmethod(extra)  # type: ignore[assignment]
    return Here("oracle", dtype=torch.float64)


def test_a_readout_is_only_computed_where_it_is_used() -> None:
    batch = glass_batch(4)
    inner = counting(lambda alpha: 0 * alpha.sum(-1))
    model = with_readout(inner)
    record = model.read(batch)
    assert record.readout is not None
    looked = [
        1,
        3,
        batch.tokens.shape[1],
        7,
    ]  # its own, the trial, each item alone, the verification
    assert inner.passes == looked
    model.read(batch, record.embeddings)
    model.leave_out(record)  # type: ignore[attr-defined]
    assert set(inner.passes[len(looked) :]) == {1}


def test_most_nonlinear_outputs_are_found_by_the_cheap_test() -> None:
    inner = counting(lambda alpha: (alpha**2).sum(-1))
    assert with_readout(inner).read(glass_batch(4)).readout is None
    assert inner.passes == [1, 3]


def test_items_are_decoded_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Glass("oracle", dtype=torch.float64)
    record = model.read(glass_batch(4))
    whole = find_readout(model, record)
    decoded: list[int] = []
    decode = Glass.decode
    monkeypatch.setattr(
        Glass,
        "decode",
        lambda self, record, alpha: decoded.append(alpha.shape[1]) or decode(self, record, alpha),
    )
    monkeypatch.setattr(memory_budget, "NUMBERS_AT_ONCE", 3 * record.alpha.numel())
    torch.testing.assert_close(find_readout(model, record), whole, rtol=0, atol=1e-14)
    assert decoded == [3, 3, 3, 3, 3, 2, 7]  # 14 items between the tests of linearity


def test_other_methods_of_the_model_are_passed_on() -> None:
    class Offering(Glass):
        def attended_norms(self, record: Record) -> Tensor:
            return record.alpha * 7

    model: Any = with_readout(Offering("oracle"))
    record = model.read(glass_batch(4))
    assert torch.equal(model.attended_norms(record), record.alpha * 7)
