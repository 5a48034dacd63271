"""Shuffled attention keeps its weights; removed items leave the others in proportion."""

from __future__ import annotations

import torch

from attnaudit.audits import counterfactual
from attnaudit.models.glass import Glass, glass_batch


def test_shuffled_attention_keeps_its_weights_and_its_mask() -> None:
    record = Glass("oracle", dtype=torch.float64).read(glass_batch(6))
    mask = record.mask.clone()
    mask[0, 0, 2] = False  # a hole
    alpha = record.alpha * mask
    shuffled = counterfactual.permuted(alpha, mask, 40, 1, record.batch.example_id)
    assert shuffled.shape == (6, 40, 1, alpha.shape[-1])
    for at in range(6):
        real = mask[at, 0]
        assert (shuffled[at, :, 0][:, ~real] == 0).all()
        for k in range(40):
            assert sorted(shuffled[at, k, 0, real].tolist()) == sorted(alpha[at, 0, real].tolist())


def test_an_item_taken_out_leaves_the_others_in_proportion() -> None:
    alpha = torch.tensor([[[0.5, 0.2, 0.3]]]).double()
    mask = torch.ones(1, 1, 3, dtype=torch.bool)
    out = counterfactual.without_item(alpha, mask, torch.tensor([[[True, False, False]]]))
    torch.testing.assert_close(out, torch.tensor([[[0.0, 0.4, 0.6]]]).double())
