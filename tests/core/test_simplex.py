"""Random attention is uniform on the simplex of the real items."""

from __future__ import annotations

import torch

from attnaudit.core import randomness
from attnaudit.core.simplex import (
    random_alpha,
    random_alpha_by_example,
    random_alphas_by_example,
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


def test_several_draws_by_example_are_uniform_on_the_simplex_and_independent_by_row() -> None:
    mask = torch.tensor(
        [[[True, True, False, True, False]] * 2, [[False, True, True, True, False]] * 2]
    )
    mask[1, 1] = False
    alpha = random_alphas_by_example(mask, 4000, 7, "random attention", ["a", "b"])
    assert alpha.shape == (2, 4000, 2, 5)
    assert (alpha[~mask[:, None].expand_as(alpha)] == 0).all()
    torch.testing.assert_close(alpha[0].sum(-1), torch.ones(4000, 2, dtype=torch.float64))
    # Dirichlet(1,1,1): mean 1/3, variance 1/18 of each weight.
    for weights in (alpha[0, :, 0, [0, 1, 3]], alpha[0, :, 1, [0, 1, 3]], alpha[1, :, 0, 1:4]):
        assert (weights.mean(0) - 1 / 3).abs().max() < 0.015
        assert (weights.var(0) - 1 / 18).abs().max() < 0.004
    drawn = torch.stack([alpha[0, :, 0, 0], alpha[0, :, 1, 0], alpha[1, :, 0, 1]])
    between = torch.corrcoef(drawn) - torch.eye(3)
    assert between.abs().max() < 0.06  # four standard errors


def test_several_draws_do_not_depend_on_the_batch_its_padding_or_the_parts() -> None:
    mask = torch.tensor([[[True, True, True, True]] * 2, [[True, False, True, False]] * 2])
    arguments = (3, "x")
    together = random_alphas_by_example(mask, 6, *arguments, ["a", "b"])
    alone = random_alphas_by_example(mask[1:], 6, *arguments, ["b"])
    assert torch.equal(together[1:], alone)
    wider = torch.nn.functional.pad(mask[1:], (2, 3))
    assert torch.equal(
        random_alphas_by_example(wider, 6, *arguments, ["b"])[..., 2:6], together[1:]
    )
    parts = [random_alphas_by_example(mask, 3, *arguments, ["a", "b"], first=k) for k in (0, 3)]
    assert torch.equal(torch.cat(parts, 1), together)


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
    number = randomness.uniform(randomness.keys(5, "name/0", ["x"]), 2**20 + 2)[0]
    weight = -torch.log1p(-number[2**20 :])
    expected = weight / weight.sum()
    assert torch.equal(random_alphas_by_example(mask, 4, 5, "name", ["x"])[0, 1, 0, :2], expected)
    uniform = randomness.uniform(randomness.keys(5, "imposed/0", ["x"]), 3)
    weight = -torch.log1p(-uniform) * mask[0]
    expected = weight / weight.sum(-1, keepdim=True)
    assert torch.equal(random_alpha_by_example(mask, 5, "imposed", ["x"])[0], expected)
