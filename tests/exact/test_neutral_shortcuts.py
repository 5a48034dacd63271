"""Shortcuts in the search for many classes: what they leave out cannot change the answer."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.exact.ascent import ascend
from attnaudit.exact.inputs import Prepared, prepare
from attnaudit.exact.relaxations import relaxations
from attnaudit.exact.slab import Vertex


def problems(classes: int, items: int = 12, examples: int = 40) -> Prepared:
    draw = np.random.default_rng(classes)
    alpha = torch.tensor(draw.dirichlet(np.full(items, 0.5), size=examples))
    readout = torch.tensor(2 * draw.normal(size=(examples, items, classes)))
    mask = torch.ones_like(alpha, dtype=torch.bool)
    mask[::3, items - 3 :] = False
    alpha = alpha.where(mask, 0.0)
    return prepare(alpha / alpha.sum(-1, keepdim=True), readout, mask)


def least(vertices: list[Vertex]) -> Tensor:
    return torch.stack([vertex.jsd for vertex in vertices]).amin(0)


@pytest.mark.parametrize("classes", [3, 4, 6])
def test_slabs_that_are_given_up_early_leave_the_least_maximum_as_it_is(
    classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from attnaudit.exact import relaxations as module

    given = problems(classes)
    epsilon = torch.full_like(given.probs[:, 0], 0.01)
    early = relaxations(given, epsilon)
    whole = module.furthest_in_slab
    monkeypatch.setattr(module, "furthest_in_slab", lambda *slab: whole(*slab[:6]))
    complete = relaxations(given, epsilon)
    assert torch.equal(least(early), least(complete))
    given_up = sum(int((a.jsd < b.jsd).sum()) for a, b in zip(early, complete, strict=True))
    assert given_up > 0, "nothing was given up: the test shows nothing"


@pytest.mark.parametrize("classes", [3, 5])
def test_repeated_starts_reach_what_one_of_them_reaches(classes: int) -> None:
    given = problems(classes)
    epsilon = torch.full_like(given.probs[:, 0], 0.05)
    once = ascend(given, epsilon, given.alpha[:, None])
    thrice = ascend(given, epsilon, given.alpha[:, None].expand(-1, 3, -1))
    torch.testing.assert_close(once, thrice, rtol=0, atol=1e-12)
    assert statistics.jsd(once, given.alpha).mean() > 0.01
