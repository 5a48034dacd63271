"""Input times gradient against finite differences and Captum."""

from __future__ import annotations

import torch
from captum.attr import InputXGradient

from attnaudit.core import masking
from attnaudit.measures.input_times_gradient import input_times_gradient
from gradient_cases import (
    STEP,
    case,
    chosen,
    every_case,
    same,
)


@every_case
def test_input_times_gradient_equals_finite_differences_and_captum(name: str) -> None:
    model, record = case(name)
    found = input_times_gradient(model, record, 0, signed=True)
    for item in range(record.content.shape[1]):
        own = (record.item_of_token == item)[..., None]
        with torch.no_grad():
            up, down = (
                chosen(
                    model.read(
                        record.batch, record.embeddings.where(~own, record.embeddings * by)
                    ).logits,
                    record,
                )
                for by in (1 + STEP, 1 - STEP)
            )
        real = record.content[:, item]
        same(found[real, item], ((up - down) / (2 * STEP))[real], 1e-8)
    assert found[~record.content].isnan().all()
    assert torch.equal(
        input_times_gradient(model, record, 0)[record.content], found[record.content].abs()
    )
    captum = InputXGradient(lambda x: chosen(model.read(record.batch, x).logits, record))
    per_token = captum.attribute(record.embeddings.clone().requires_grad_()).sum(-1).detach()
    expected = masking.to_items(per_token, record.item_of_token, record.content.shape[1])
    same(found[record.content], expected[record.content], 1e-12)
