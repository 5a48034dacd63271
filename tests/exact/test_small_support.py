"""Attentions on few items, against scans of every pair and weight."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.exact.inputs import Prepared, prepare
from attnaudit.exact.polish import corrected
from attnaudit.exact.small_support import search
from attnaudit.exact.vertices import constraints_of, far_vertex


def problems(classes: int, items: int, *, examples: int = 40, scale: float = 0.5) -> Prepared:
    draw = np.random.default_rng(10 * classes + items)
    alpha = torch.tensor(draw.dirichlet(np.full(items, 0.7), size=examples))
    readout = torch.tensor(scale * draw.normal(size=(examples, items, classes)))
    mask = torch.ones_like(alpha, dtype=torch.bool)
    mask[::4, items - 1] = items == 2
    alpha = alpha.where(mask, 0.0)
    return prepare(alpha / alpha.sum(-1, keepdim=True), readout, mask)


def mixtures(given: Prepared, at: int, weights: int) -> Tensor:
    """Every mixture of two real items of an example: (pairs·weights,N)."""
    eye = torch.eye(given.alpha.shape[1], dtype=torch.float64)[given.mask[at]]
    w = torch.linspace(0, 1, weights, dtype=torch.float64)[:, None]
    pairs = [w * eye[i] + (1 - w) * eye[j] for i in range(len(eye)) for j in range(i + 1, len(eye))]
    return torch.cat(pairs)


@pytest.mark.parametrize(("classes", "items"), [(3, 2), (3, 7), (4, 6), (6, 40)])
@pytest.mark.parametrize("epsilon", [0.02, 0.2])
def test_no_pair_of_items_is_further_than_the_pair_found(
    classes: int, items: int, epsilon: float
) -> None:
    given = problems(classes, items, examples=12)
    tolerance = torch.full_like(given.probs[:, 0], epsilon)
    found = search(given, tolerance)[:, 1]
    assert (given.moved(found) <= tolerance).all()
    assert ((found > 0).sum(-1) <= 2)[(found != given.alpha).any(-1)].all()
    reached, short, feasible = statistics.jsd(found, given.alpha), [], 0
    for at in range(len(found)):
        tried = mixtures(given, at, 401 if items < 10 else 41)[None]
        one = given.rows(torch.tensor([at]))
        fits = one.moved(tried)[0] <= epsilon
        feasible += int(fits.any())
        best = statistics.jsd(tried[0], given.alpha[at]).where(fits, 0.0).max()
        short.append(float(best - reached[at]))
    assert feasible > 2, "too few feasible pairs to show anything"
    assert np.mean(short) < 5e-3
    assert np.max(short) < 0.05


@pytest.mark.parametrize("classes", [3, 6])
@pytest.mark.parametrize("epsilon", [0.001, 0.05, 0.5])
def test_log_odds_are_drawn_back_to_the_edge_of_what_is_feasible(
    classes: int, epsilon: float
) -> None:
    given = problems(classes, 9, scale=2.0)
    tolerance = torch.full_like(given.probs[:, 0], epsilon)
    draw = np.random.default_rng(0)
    wished = torch.tensor(draw.dirichlet(np.full(9, 0.5), size=(40, 3)))
    wished = wished.where(given.mask[:, None], 0.0)
    wished = wished / wished.sum(-1, keepdim=True)
    _, share = corrected(given, constraints_of(given), tolerance, wished)
    drawn = given.alpha[:, None] + share[..., None] * (wished - given.alpha[:, None])
    moved = given.moved(drawn)
    assert (moved <= epsilon).all()
    on_edge = moved > 0.99 * epsilon
    assert (on_edge | (share == 1)).double().mean() > 0.95
    assert on_edge.any()


def test_weights_that_do_not_add_up_to_1_are_no_attention() -> None:
    from attnaudit.exact.furthest import _Best

    given = problems(3, 6)
    lower = _Best(given, torch.ones_like(given.probs[:, 0]))
    one_hot = torch.zeros_like(given.alpha).index_fill(1, torch.tensor([0]), 1.0)
    lower.offer(1.1 * one_hot, torch.ones_like(lower.jsd))
    assert (lower.jsd == 0).all()  # alpha itself
    lower.offer(one_hot, torch.ones_like(lower.jsd))
    assert (lower.jsd == 1).all()


@pytest.mark.parametrize("classes", [3, 5])
def test_vertices_keep_the_log_odds_also_if_items_are_equal(classes: int) -> None:
    """Equal items make the small linear systems singular."""
    given = problems(classes, 12, scale=2.0)
    readout = given.readout.clone()
    readout[:, 1:5] = readout[:, :1]
    given = prepare(given.alpha, readout, given.mask)
    vertex = far_vertex(given, given.alpha)
    assert (vertex >= 0).all()
    assert (vertex[~given.mask] == 0).all()
    torch.testing.assert_close(given.probs_of(vertex), given.probs, rtol=0, atol=1e-9)
    assert ((vertex > 1e-12).sum(-1) <= classes).all()
    assert statistics.jsd(vertex, given.alpha).mean() > 0.1
