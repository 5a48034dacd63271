"""The branch and bound by itself: no feasible attention is above it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from attnaudit.exact import furthest
from attnaudit.exact.inputs import prepare
from attnaudit.exact.outer_bound import outer_bound


@pytest.mark.parametrize(
    ("classes", "items", "epsilon", "scale", "sure"),
    [
        (3, 4, 0.01, 2.0, 0.0),
        (3, 12, 0.2, 6.0, 3.0),
        (4, 6, 0.001, 30.0, 0.0),
        (5, 10, 0.01, 1.0, 6.0),
        (6, 5, 0.05, 0.3, 0.0),
        (8, 14, 0.5, 2.0, 12.0),
    ],
)
def test_no_feasible_attention_is_above_the_bound(
    classes: int, items: int, epsilon: float, scale: float, sure: float
) -> None:
    """`furthest` reports the larger of bound and distance, so the bound is tested here."""
    draw = np.random.default_rng(classes)
    alpha = torch.tensor(draw.dirichlet(np.full(items, 0.5), size=40))
    readout = torch.tensor(scale * draw.normal(size=(40, items, classes)))
    readout[..., 0] += sure
    mask = torch.ones_like(alpha, dtype=torch.bool)
    found = furthest(alpha, readout, mask, epsilon=epsilon)
    tolerance = torch.full((40,), epsilon, dtype=torch.float64)
    for known in (torch.zeros_like(found.jsd), found.jsd):
        bound = outer_bound(prepare(alpha, readout, mask), tolerance, known)
        assert (found.jsd <= bound.upper).all()
    assert (bound.upper < found.jsd + 0.01).any(), "the bound is too loose to show anything"


def test_splitting_lowers_the_bound() -> None:
    draw = np.random.default_rng(0)
    alpha = torch.tensor(draw.dirichlet(np.full(10, 0.5), size=40))
    readout = torch.tensor(2 * draw.normal(size=(40, 10, 4)))
    given = prepare(alpha, readout, torch.ones_like(alpha, dtype=torch.bool))
    tolerance = torch.full((40,), 0.01, dtype=torch.float64)
    split = outer_bound(given, tolerance, torch.zeros(40, dtype=torch.float64)).upper
    whole = outer_bound(given, tolerance, torch.ones(40, dtype=torch.float64)).upper
    assert (split <= whole).all()
    assert split.mean() < whole.mean() - 0.005
