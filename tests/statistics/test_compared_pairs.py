"""Kendall's tau by comparing every pair, and by sorting: the same to the last bit."""

from __future__ import annotations

import pytest
import torch

from attnaudit.statistics import rank_correlation


@pytest.mark.parametrize("items", [1, 2, 5, 20, 40])
@pytest.mark.parametrize("kind", ["plain", "tied", "undefined", "masked"])
def test_both_ways_agree(items: int, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = torch.Generator().manual_seed(items)
    x, y = (torch.randn(16, items, generator=draw) for _ in range(2))
    mask = torch.ones(16, items, dtype=torch.bool)
    if kind == "tied":
        x, y = (2 * x).round(), y.round()
    if kind == "undefined":
        x[3], y[5, 0], y[6] = 0.0, torch.nan, torch.inf
    if kind == "masked":
        mask = torch.rand(16, items, generator=draw) < 0.7
    compared = torch.stack(rank_correlation.kendall(x, y, mask))
    monkeypatch.setattr(rank_correlation, "_FEW", 0)
    by_sorting = torch.stack(rank_correlation.kendall(x, y, mask))
    assert torch.equal(compared.isnan(), by_sorting.isnan())
    assert torch.equal(compared.nan_to_num(), by_sorting.nan_to_num())
