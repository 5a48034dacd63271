"""The additive scorer without gradients."""

from __future__ import annotations

import pytest
import torch

from attnaudit.models.scorers.additive import Additive


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("with_query", [False, True])
@torch.no_grad()
def test_scores_without_gradients_differ_by_rounding(with_query: bool, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    scorer = Additive(7, 7 if with_query else None).to(dtype)
    hidden = torch.randn(3, 40, 7, dtype=dtype)
    hidden[0] *= 1e-4
    hidden[1] *= 1e4  # tanh is 1 or -1
    query = torch.randn(3, 7, dtype=dtype) if with_query else None
    kept = hidden.clone()
    exact = scorer.double()(hidden.double(), None if query is None else query.double())
    found = scorer.to(dtype).without_gradients(hidden, query)
    assert found.dtype == dtype
    assert torch.equal(hidden, kept)
    assert (found - exact).abs().max() <= 16 * torch.finfo(dtype).eps
    assert (exact[1:].std(-1) > 0.01).all()
