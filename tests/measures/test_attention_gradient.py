"""The gradient in each weight against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from attnaudit.measures.attention_gradient import attention_gradient, attention_times_gradient
from word_cases import (
    CASES,
    STEP,
    chosen,
    word_case,
)


@pytest.mark.parametrize("name", CASES)
@torch.no_grad()
def test_attention_gradient_equals_finite_differences_in_each_weight(name: str) -> None:
    model, record = word_case(name)
    found = attention_gradient(model, record, 0).numpy()
    assert found.shape == record.alpha.shape
    for item in range(record.alpha.shape[2]):
        step = torch.zeros_like(record.alpha)
        step[:, :, item] = STEP
        up, down = (
            chosen(model.decode(record, record.alpha + sign * step), record) for sign in (1, -1)
        )
        np.testing.assert_allclose(found[:, 0, item], (up - down) / (2 * STEP), atol=1e-8)
    assert (found < -1e-3).any()  # signed
    assert (found > 1e-3).any()
    times = attention_times_gradient(model, record, 0).numpy()
    np.testing.assert_allclose(times, found * record.alpha.numpy(), atol=1e-14)
