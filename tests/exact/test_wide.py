"""The slopes of the gradient search, next to those of torch."""

from __future__ import annotations

import pytest
import torch

from attnaudit import statistics
from attnaudit.core import masking
from attnaudit.exact import wide
from attnaudit.exact.inputs import Prepared, prepare


def problem(classes: int) -> Prepared:
    """Texts of 2 to 9 items; some weights are 0, in the attention of the last text all but one."""
    draw = torch.Generator().manual_seed(classes)
    mask = torch.arange(9) < torch.arange(2, 10)[:, None]
    scores = torch.randn(8, 9, generator=draw, dtype=torch.float64)
    alpha = masking.softmax(3 * scores, mask)
    alpha[-1] = torch.eye(9)[4]
    return prepare(alpha, 2 * torch.randn(8, 9, classes, generator=draw).double(), mask)


@pytest.mark.parametrize("classes", [3, 6])
def test_distance_and_change_and_their_slopes_are_those_of_torch(classes: int) -> None:
    given = problem(classes)
    draw = torch.Generator().manual_seed(0)
    scores = torch.randn(8, 5, 9, generator=draw, dtype=torch.float64)
    scores[:, 1] *= 30
    scores.requires_grad_()
    alpha = masking.softmax(scores, given.mask[:, None].expand_as(scores))
    expected = (statistics.jsd(alpha, given.alpha[:, None]), given.moved(alpha))
    with torch.no_grad():
        point = wide._point(given, scores.masked_fill(~given.mask[:, None], wide._NO_WEIGHT))
    torch.testing.assert_close(point.alpha, alpha.detach(), rtol=1e-12, atol=0)
    for value, slope, other in (
        (point.jsd, point.jsd_slope, expected[0]),
        (point.moved, point.moved_slope, expected[1]),
    ):
        torch.testing.assert_close(value, other.detach(), rtol=0, atol=1e-14)
        of_scores = point.alpha * (slope - (point.alpha * slope).sum(-1, keepdim=True))
        (by_torch,) = torch.autograd.grad(other.sum(), scores, retain_graph=True)
        torch.testing.assert_close(of_scores, by_torch, rtol=0, atol=1e-13)
        assert by_torch.abs().max() > 0.01


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
def test_the_search_by_slopes_is_feasible_and_not_nearer_than_its_start(epsilon: float) -> None:
    given = problem(5)
    tolerance = torch.full((8,), epsilon, dtype=torch.float64)
    found = wide._adam(given, tolerance, given.alpha)
    assert (given.moved(found) <= epsilon + 1e-15).all()
    assert (found[~given.mask] == 0).all()
    assert (statistics.jsd(found, given.alpha) > 0.02).sum() >= (4 if epsilon else 0)


def test_the_search_is_that_of_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Adam of torch on the loss as written, with gradients of torch; the furthest step of all."""
    given = problem(4)
    tolerance = torch.full((8,), 0.05, dtype=torch.float64)
    start = masking.renormalise(given.alpha + 0.1, given.mask)
    monkeypatch.setattr(wide, "_STEPS", 60)
    found = wide._adam(given, tolerance, start)
    scores = wide._scattered(given, start).clamp_min(1e-4).log().requires_grad_()
    optimiser = torch.optim.Adam([scores], lr=0.1)
    far = [statistics.jsd(start, given.alpha)]
    for _ in range(60):
        alpha = masking.softmax(scores, given.mask[:, None].expand_as(scores))
        jsd, moved = statistics.jsd(alpha, given.alpha[:, None]), given.moved(alpha)
        far += jsd.detach().where(moved <= 0.05, -1.0).unbind(1)
        optimiser.zero_grad()
        (20 * (moved - 0.045).clamp_min(0) / 0.05 - jsd).sum().backward()
        optimiser.step()
    expected = torch.stack(far).amax(0)
    torch.testing.assert_close(statistics.jsd(found, given.alpha), expected, rtol=0, atol=1e-9)
    assert (expected > far[0] + 0.01).sum() >= 4
