"""Norms of gradients against finite differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from attnaudit.core.errors import InputError
from attnaudit.measures.gradient_norm import gradient_norm
from attnaudit.measures.hidden_gradient import hidden_gradient
from attnaudit.measures.hidden_leave_one_out import hidden_leave_one_out
from attnaudit.measures.influence import influence
from gradient_cases import (
    TEXTS,
    batch_of,
    by_item,
    case,
    chosen,
    every_case,
    made,
    same,
    slopes,
)
from random_models import CANDIDATES


@every_case
@pytest.mark.parametrize("norm", [1, 2])
@torch.no_grad()
def test_gradient_norm_equals_finite_differences(name: str, norm: int) -> None:
    model, record = case(name)
    free = slopes(lambda x: chosen(model.read(record.batch, x).logits, record), record.embeddings)
    found = gradient_norm(model, record, 0, norm=norm)
    same(found, by_item(free, record, norm))
    same(found.nansum(-1), [1.0] * len(TEXTS), 1e-12)
    held = slopes(
        lambda x: chosen(model.decode(model.read(record.batch, x), record.alpha), record),
        record.embeddings,
    )
    assert np.nanmax(abs(by_item(held, record, norm) - found.numpy())) > 1e-3  # the attention moves


def test_gradient_norm_is_accurate_for_a_confident_model() -> None:
    model = made(2, False)
    with torch.no_grad():
        model.output.context.weight *= 300
        record = model.read(batch_of())
        exact = gradient_norm(model, record, 0)
        rough = model.float().read(batch_of())
    assert (rough.probs.amax(-1) == 1).any()  # where the slope of p itself is 0
    same(gradient_norm(model, rough, 0).double(), exact, 1e-4)


def test_shares_of_zero_are_nan() -> None:
    model, record = case("query, candidates")
    classes = CANDIDATES.clone()
    classes[0] = torch.tensor([False, True, False, False])  # p is 1 whatever is said
    batch = replace(record.batch, classes=classes)
    with torch.no_grad():
        alone = model.read(batch)
    for measure in (gradient_norm, hidden_gradient, hidden_leave_one_out):
        found = measure(model, alone, 0)
        assert found[0].isnan().all()
        assert found[1, 1:5].isfinite().all()


@pytest.mark.parametrize("measure", [gradient_norm, hidden_gradient, influence])
def test_an_unknown_norm_is_rejected(measure: Callable[..., Tensor]) -> None:
    model, record = case("bilstm")
    with pytest.raises(InputError, match="norm must be 1 or 2, got 3"):
        measure(model, record, 0, norm=3)
