"""The logits under other attention: one or many at a time, with and without a readout."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from attnaudit.core import decoding
from small_models import small_models, some_alpha


@pytest.mark.parametrize("which", range(4))
def test_many_alternatives_at_once_equal_one_at_a_time(which: int) -> None:
    model, batch = small_models()[which]
    record = model.read(batch)
    alpha = some_alpha(record.mask, 5)
    together = model.decode(record, alpha)
    assert together.shape == (4, 5, record.logits.shape[1])
    for k in range(5):
        torch.testing.assert_close(
            together[:, k], model.decode(record, alpha[:, k]), rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("which", range(4))
def test_the_readout_is_what_each_item_alone_would_give(which: int) -> None:
    model, batch = small_models()[which]
    record = model.read(batch)
    assert record.readout is not None
    for example, item in record.mask[:, 0].nonzero().tolist():
        alone = torch.zeros_like(record.alpha)
        alone[:, :, item] = 1
        expected = model.decode(record, alone)[example]
        torch.testing.assert_close(record.readout[example, item], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("which", range(4))
def test_logits_under_alternatives_are_the_same_with_and_without_a_readout(which: int) -> None:
    model, batch = small_models()[which]
    record = model.read(batch)
    alpha = some_alpha(record.mask, 5)
    through_readout = decoding.logits_under(model, record, alpha)
    through_model = decoding.logits_under(model, replace(record, readout=None), alpha)
    torch.testing.assert_close(through_readout, through_model, rtol=0, atol=1e-12)


def test_a_bounded_part_at_a_time_gives_the_same_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = small_models()[0]
    record = replace(model.read(batch), readout=None)
    alpha = some_alpha(record.mask, 7)
    whole = decoding.logits_under(model, record, alpha)
    monkeypatch.setattr(decoding, "_ENTRIES", 3 * alpha[:, :1].numel())
    assert torch.equal(decoding.logits_under(model, record, alpha), whole)
