"""Entropy against SciPy, example by example."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import entropy as scipy_entropy

from bilstm_cases import TEXT_LENGTHS, bilstm_case, counted_items, first_row, run_audit


@pytest.mark.parametrize("projection", ["softmax", "sparsemax"])
def test_entropy_of_each_example_equals_scipys(projection: str) -> None:
    _, record, scores = bilstm_case(projection)
    found = run_audit("dispersion", projection)
    assert ("random", "entropy") not in found
    for name in ("attention", "gradient", "leave_one_out"):
        for index, length in enumerate(TEXT_LENGTHS):
            score = first_row(scores[name], index)[counted_items(record, index)].abs().numpy()
            value = float(found[name, "entropy"][index])
            if length == 1:
                assert math.isnan(value)
            else:
                assert value == pytest.approx(scipy_entropy(score) / math.log(length), abs=1e-9)
    zeros = [
        float(
            (first_row(scores["attention"], index)[counted_items(record, index)] == 0)
            .double()
            .mean()
        )
        for index in range(6)
    ]
    np.testing.assert_allclose(found["attention", "zeros"][:, 0], zeros)
    assert (max(zeros) > 0) == (projection == "sparsemax")
