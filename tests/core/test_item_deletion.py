"""The logits without each item equal those of the shortened text."""

from __future__ import annotations

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
