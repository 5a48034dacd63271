"""Random attention is uniform on the simplex of the real items."""

from __future__ import annotations

import torch

from attnaudit.core import randomness
from attnaudit.core.simplex import (
    random_alpha,
    random_alpha_by_example,
    random_alpha_by_length,
)


def test_random_attentions_lie_on_the_simplex_and_the_mask_and_are_evenly_spread() -> None:
    mask = torch.tensor([[[True, True, True, False]], [[False] * 4]])
    alpha = random_alpha(mask, 0, torch.float64, count=4000)
    assert alpha.shape == (2, 4000, 1, 4)
    assert (alpha[1] == 0).all()
    assert (alpha[0, ..., 3] == 0).all()
    torch.testing.assert_close(alpha[0].sum(-1), torch.ones(4000, 1).double(), rtol=0, atol=1e-12)
    # A flat Dirichlet over three items: mean 1/3, variance 1/18.
    assert (alpha[0, :, 0, :3].mean(0) - 1 / 3).abs().max() < 0.02
    assert (alpha[0, :, 0, :3].var(0) - 1 / 18).abs().max() < 0.005


def test_draws_by_length_are_uniform_on_the_simplex_and_depend_on_the_length_alone() -> None:
    mask = torch.tensor(
        [[[True, True, False, True, False]], [[False, True, True, True, False]], [[False] * 5]]
    )
    alpha = random_alpha_by_length(mask, 4000, 7)
    assert alpha.shape == (3, 4000, 1, 5)
    assert (alpha[~mask[:, None].expand_as(alpha)] == 0).all()
    weights = alpha[0, :, 0, [0, 1, 3]]
    assert torch.equal(weights, alpha[1, :, 0, [1, 2, 3]])
    assert (weights.mean(0) - 1 / 3).abs().max() < 0.01
    assert (weights.var(0) - 1 / 18).abs().max() < 0.004
    assert not torch.equal(alpha, random_alpha_by_length(mask, 4000, 8))


def test_draws_by_example_do_not_depend_on_the_batch() -> None:
    mask = torch.tensor([[[True, True, True]] * 2, [[True, False, True]] * 2])
    together = random_alpha_by_example(mask, 3, "imposed", ["a", "b"])
    alone = random_alpha_by_example(mask[1:], 3, "imposed", ["b"])
    assert torch.equal(together[1:], alone)
    torch.testing.assert_close(together.sum(-1), torch.ones(2, 2, dtype=torch.float64))
    assert (together[1, :, 1] == 0).all()
    assert not torch.equal(together[0, 0], together[0, 1])  # rows have draws of their own


def test_stored_draws_never_change() -> None:
    """Each kind of draw has its key and its formula; stored results depend on both."""
    mask = torch.tensor([[[True, True, False]]])
    uniform = torch.rand(
        (1, 2, 1, 3), generator=randomness.generator(5, "laws"), dtype=torch.float64
    )
    weight = -torch.log1p(-uniform) * mask
    expected = weight / weight.sum(-1, keepdim=True)
    assert torch.equal(random_alpha(mask, 5, torch.float64, 2), expected)
    source = randomness.generator(5, "random attention", 2)
    weight = torch.empty(4, 2, dtype=torch.float64).exponential_(generator=source)
    expected = weight / weight.sum(-1, keepdim=True)
    assert torch.equal(random_alpha_by_length(mask, 4, 5)[0, :, 0, :2], expected)
    uniform = randomness.uniform(randomness.keys(5, "imposed/0", ["x"]), 3)
    weight = -torch.log1p(-uniform) * mask[0]
    expected = weight / weight.sum(-1, keepdim=True)
    assert torch.equal(random_alpha_by_example(mask, 5, "imposed", ["x"])[0], expected)
