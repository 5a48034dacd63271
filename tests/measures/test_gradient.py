"""The gradient of the word against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from attnaudit.core.contract import Record
from attnaudit.measures.attention_gradient import attention_gradient
from attnaudit.measures.gradient import gradient
from word_cases import (
    CASES,
    STEP,
    TEXTS,
    Pairs,
    batch_of,
    chosen,
    scaled,
    word_case,
)


@pytest.mark.parametrize("name", CASES)
@torch.no_grad()
def test_gradient_equals_finite_differences_with_fixed_attention(name: str) -> None:
    """Σ_e x_e ∂p/∂x_e is how p changes as the word vector is scaled: a central difference."""
    model, record = word_case(name)
    found = gradient(model, record, 0).numpy()
    moving = np.zeros_like(found)
    expected = np.zeros_like(found)
    for index in range(record.batch.tokens.shape[1]):
        only = torch.zeros_like(record.batch.mask)
        only[:, index] = True
        held, free = [], []
        for by in (1 + STEP, 1 - STEP):
            fresh = model.read(record.batch, scaled(record, only, by))
            held.append(chosen(model.decode(fresh, record.alpha), record))
            free.append(chosen(fresh.logits, record))
        expected[:, index] = abs(held[0] - held[1]) / (2 * STEP)
        moving[:, index] = abs(free[0] - free[1]) / (2 * STEP)
    real = record.content.numpy()
    np.testing.assert_allclose(found[real], expected[real], atol=1e-8)
    assert (
        np.abs(expected[real] - moving[real]).max() > 1e-3
    )  # attention left on the graph is another number
    assert (found[~real] == 0).all()


@pytest.mark.parametrize("name", CASES)
def test_gradient_leaves_no_gradient_behind(name: str) -> None:
    model, record = word_case(name)
    gradient(model, record, 0)
    attention_gradient(model, record, 0)
    assert all(parameter.grad is None for parameter in model.parameters())
    assert not record.embeddings.requires_grad


@pytest.fixture
def pairs() -> tuple[Pairs, Record]:
    model = Pairs()
    return model, model.read(batch_of(TEXTS))


def nth_token(tokens: Tensor, n: int) -> Tensor:
    """The n-th token of each example among those marked."""
    return tokens & (tokens.cumsum(-1) == n + 1)


def test_tokens_of_an_item_are_summed_with_their_signs(
    pairs: tuple[Pairs, Record],
) -> None:
    model, record = pairs
    found = gradient(model, record, 0).numpy()
    assert found.shape == (5, 5)
    apart = np.zeros_like(found)
    for item in range(5):
        belongs = record.item_of_token == item
        slopes = []
        for tokens in (belongs, *(nth_token(belongs, n) for n in (0, 1))):
            up, down = (
                chosen(
                    model.decode(
                        model.read(record.batch, scaled(record, tokens, by)), record.alpha
                    ),
                    record,
                )
                for by in (1 + STEP, 1 - STEP)
            )
            slopes.append((up - down) / (2 * STEP))
        np.testing.assert_allclose(found[:, item], abs(slopes[0]), atol=1e-8)
        apart[:, item] = abs(slopes[1]) + abs(slopes[2])
    assert np.abs(apart - found).max() > 1e-2  # absolute values first would be another number
