"""Integrated gradients: completeness and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from attnaudit.measures.integrated_gradients import integrated_gradients
from attribution_cases import (
    TEXTS,
    case,
    difference,
    every_case,
)


@every_case
def test_integrated_gradients_add_up_to_the_difference(name: str) -> None:
    model, record = case(name)
    found = integrated_gradients(model, record, 0, signed=True, n_steps=200)
    assert found.shape == record.content.shape
    assert found[~record.content].isnan().all()
    for index in range(len(TEXTS)):
        sum_of = float(found[index].nansum())
        assert sum_of == pytest.approx(
            difference(model, record, index), abs=0.01 * float(found[index].nansum().abs()) + 1e-4
        )
    assert torch.equal(
        integrated_gradients(model, record, 0, n_steps=200)[record.content],
        found[record.content].abs(),
    )


def test_integrated_gradients_of_linear_log_odds_match_the_closed_form() -> None:
    """log-odds = c + Σ z_i: items move in step on the path: IG_i = z_i / Σz · (p(x) - p(x̄))."""
    model, record = case("linear")
    found = integrated_gradients(model, record, 0, signed=True, tolerance=1e-9)
    weight = (model.output.context.weight[1] - model.output.context.weight[0]).detach()
    for index, text in enumerate(TEXTS):
        each = (record.embeddings[index, 1 : len(text) + 1] @ weight).numpy() / len(text)
        expected = each / each.sum() * difference(model, record, index)
        np.testing.assert_allclose(found[index, 1 : len(text) + 1], expected, atol=1e-9)


@torch.no_grad()
def test_integrated_gradients_take_more_steps_if_needed_or_are_nan() -> None:
    model, record = case("sparsemax")
    deltas = [difference(model, record, index) for index in range(len(TEXTS))]

    def gaps(found: Tensor) -> np.ndarray:
        return abs(found.nansum(-1).numpy() - deltas)

    once = integrated_gradients(model, record, 0, signed=True, n_steps=2, tolerance=1e9)
    more = integrated_gradients(model, record, 0, signed=True, n_steps=2)
    known = ~more.masked_fill(~record.content, 0).isnan().any(-1).numpy()
    size = once.abs().nansum(-1).numpy()
    poor = (gaps(once) / size > 0.02) & known
    assert poor.any()
    assert (gaps(more)[known] <= 0.01 * more.abs().nansum(-1).numpy()[known] + 1e-12).all()
    never = integrated_gradients(model, record, 0, signed=True, n_steps=1, tolerance=1e-12)
    wrong = never.masked_fill(~record.content, 0).isnan()
    assert wrong.any()
    assert torch.equal(
        wrong.any(-1), (wrong | ~record.content).all(-1)
    )  # a whole text or none of it
