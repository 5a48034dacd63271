"""Random attention: its distribution, and its draws decoded one by one."""

from __future__ import annotations

import numpy as np
import torch

from attnaudit.core.simplex import random_alpha_by_length
from bilstm_cases import bilstm_case, run_audit


def test_draws_are_uniform_on_the_simplex_and_depend_on_the_length_only() -> None:
    mask = torch.tensor(
        [[[True, True, False, True, False]], [[False, True, True, True, False]], [[False] * 5]]
    )
    found = random_alpha_by_length(mask, 4000, 7)
    assert found.shape == (3, 4000, 1, 5)
    assert (found[~mask[:, None].expand_as(found)] == 0).all()
    torch.testing.assert_close(found[:2].sum(-1), torch.ones(2, 4000, 1, dtype=torch.float64))
    weights = found[0, :, 0, [0, 1, 3]]
    torch.testing.assert_close(weights, found[1, :, 0, [1, 2, 3]])
    # Dirichlet(1,1,1): mean 1/3, variance 1/18 of each weight.
    torch.testing.assert_close(
        weights.mean(0), torch.full((3,), 1 / 3, dtype=torch.float64), atol=0.01, rtol=0
    )
    torch.testing.assert_close(
        weights.var(0), torch.full((3,), 1 / 18, dtype=torch.float64), atol=0.004, rtol=0
    )
    assert not torch.equal(found, random_alpha_by_length(mask, 4000, 8))


def test_the_change_under_random_attention_equals_that_of_its_draws() -> None:
    model, record, _ = bilstm_case()
    found = run_audit("random_attention", draws=9)
    draws = random_alpha_by_length(record.mask, 9, 0)
    with torch.no_grad():
        each = torch.stack([model.decode(record, draws[:, k]) for k in range(9)], 1).softmax(-1)
    moved = (each - record.probs[:, None]).abs().sum(-1) / 2
    torch.testing.assert_close(found["", "tvd_mean"], moved.mean(1))
    np.testing.assert_allclose(found["", "tvd_median"], np.median(moved.numpy(), 1))
    changed = (each.argmax(-1) != record.predicted[:, None]).double().mean(1)
    torch.testing.assert_close(found["", "flipped"], changed)
