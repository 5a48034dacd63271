"""LIME against the weighted regression over all subsets."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from attnaudit.measures.lime import lime
from attribution_cases import (
    case,
    items_of,
    subsets,
    with_items,
)


@pytest.mark.parametrize("name", ["bilstm", "query, candidates", "pairs"])
def test_lime_is_close_to_the_weighted_regression_over_all_subsets(name: str) -> None:
    model, record = case(name)
    with torch.no_grad():
        record = model.read(record.batch.rows(torch.tensor([0, 4])))
    found = lime(model, record, 0, n_samples=3000, penalty=0, signed=True)
    assert found[~record.content].isnan().all()
    for index in range(2):
        there = subsets(len(items_of(record, index)))
        cosine = there.sum(-1) / np.sqrt(np.maximum(there.sum(-1), 1) * there.shape[1])
        weight = np.exp(-((1 - cosine) ** 2) / (2 * 0.25**2))
        design = np.column_stack([np.ones(len(there)), there]) * np.sqrt(weight)[:, None]
        target = with_items(model, record, index, there) * np.sqrt(weight)
        expected = np.linalg.lstsq(design, target, rcond=None)[0][1:]
        np.testing.assert_allclose(
            found[index, items_of(record, index)], expected, atol=0.06 * abs(expected).max()
        )
    shrunk = lime(model, record, 0, n_samples=200, penalty=1e4)
    assert 0 < shrunk[record.content].max() < found[record.content].abs().max() / 10
