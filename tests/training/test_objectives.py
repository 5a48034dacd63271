"""Training objectives: each is its formula."""

from __future__ import annotations

import pytest
import torch
from scipy.stats import entropy

from attnaudit.models.glass import Glass, glass_batch
from attnaudit.training.objectives.adversarial import adversarial, kl
from attnaudit.training.objectives.deceptive import deceptive, evidence, mass_on


def test_kl_is_scipys_and_finite_for_sparse_attention_and_padding() -> None:
    alpha = torch.tensor([[[0.5, 0.5, 0.0, 0.0]], [[0.0, 1.0, 0.0, 0.0]]], dtype=torch.float64)
    other = torch.tensor([[[0.25, 0.25, 0.5, 0.0]], [[1.0, 0.0, 0.0, 0.0]]], dtype=torch.float64)
    mask = torch.tensor([[[True, True, True, False]], [[True, True, False, False]]])
    found = kl(alpha.requires_grad_(), other, mask)
    assert found[0, 0].item() == pytest.approx(entropy([0.5, 0.5, 0], [0.25, 0.25, 0.5]), abs=1e-9)
    assert 10 < found[1, 0].item() < 30  # infinite in truth, large and finite here
    found.sum().backward()
    assert torch.isfinite(alpha.grad).all()


def test_the_adversarial_objective_is_its_formula() -> None:
    batch = glass_batch(12)
    base, model = Glass("oracle"), Glass("shifted", focus=2.0)
    first, second = model.read(batch), base.read(batch)
    tvd = (first.probs - second.probs).abs().sum(-1) / 2
    apart = [
        entropy(
            first.alpha[at, 0, first.mask[at, 0]].double(),
            second.alpha[at, 0, first.mask[at, 0]].double(),
        )
        for at in range(12)
    ]
    expected = (tvd.double() - 0.3 * torch.tensor(apart)).mean()
    assert adversarial(base, lam=0.3)(model, batch).item() == pytest.approx(
        expected.item(), abs=1e-6
    )


def test_the_deceptive_objective_is_its_formula() -> None:
    batch, model = glass_batch(12), Glass("oracle")
    record = model.read(batch)
    mass = mass_on(record, batch.evidence)
    torch.testing.assert_close(mass[:, 0], (record.alpha[:, 0] * batch.evidence).sum(-1))
    plain = torch.nn.functional.cross_entropy(record.logits, batch.labels)
    expected = plain - 2.0 * (1 - mass).log().mean()
    assert deceptive(evidence, lam=2.0)(model, batch).item() == pytest.approx(
        expected.item(), abs=1e-5
    )
