"""Two words deleted together and one by one, against texts shortened by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.special import expit
from torch import Tensor

from attnaudit.audits.redundancy import redundancy
from attnaudit.core import masking
from attnaudit.core.contract import Batch, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.models.glass import Glass, glass_batch
from audit_cases import case, every_case
from deletion_cases import odds_by_hand, read_alone


@every_case
def test_all_values_equal_texts_shortened_and_weights_removed_by_hand(name: str) -> None:
    chosen = case(name)
    record = chosen.record
    found = {
        metric: values
        for (_, metric), values in redundancy(
            chosen.model, record, {"attention": record.alpha}, 0
        ).items()
    }
    hidden = 0
    for index in range(len(record.batch)):
        words = (record.content & record.mask.any(1))[index].nonzero()[:, 0].tolist()
        if len(words) < 3:
            assert found["joint"][index].isnan()
            assert found["backup"][index].isnan()
            assert found["hidden_flip"][index].isnan()
            continue
        top = sorted(words, key=lambda n: -float(record.alpha[index, :, n].mean()))[:2]
        whole = odds_by_hand(chosen, index, record.logits[index].numpy())
        removals = ([top[0]], [top[1]], top)
        logits = [read_alone(chosen, index, gone) for gone in removals]
        odds = [odds_by_hand(chosen, index, each) for each in logits]
        drop = [float(expit(whole) - expit(each)) for each in odds]
        flips = [
            int(np.argmax(np.where(chosen.allowed(index), each, -np.inf)))
            != int(record.predicted[index])
            for each in logits
        ]
        expected = {
            "joint": drop[2],
            "single_sum": drop[0] + drop[1],
            "single_max": max(drop[:2]),
            "backup": drop[2] - drop[0] - drop[1],
            "joint_log_odds": whole - odds[2],
            "backup_log_odds": odds[0] + odds[1] - odds[2] - whole,
            "hidden_flip": float(flips[2] and not flips[0] and not flips[1]),
        }
        hidden += flips[2] and not flips[0] and not flips[1]
        for metric, renormalised in (("backup_renormalised", True), ("backup_zeroed", False)):
            drops = []
            for gone in removals:
                alpha = chosen.alpha[index].copy()
                alpha[:, gone] = 0
                if renormalised:
                    with np.errstate(invalid="ignore"):  # no weight is left in a row: NaN
                        alpha /= alpha.sum(-1, keepdims=True)
                value = odds_by_hand(chosen, index, chosen.logits(index, alpha))
                drops.append(float(expit(whole) - expit(value)))
            expected[metric] = drops[2] - drops[0] - drops[1]
        for metric, value in expected.items():
            assert float(found[metric][index]) == pytest.approx(value, abs=1e-9, nan_ok=True), (
                metric
            )
    assert set(found) == set(expected)
    assert hidden > 0 or name != "two classes"


class Either(Glass):
    """Class 1 if the text holds token 1 or token 2, each of which would be enough."""

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        record = super().read(batch, embeddings)
        held = (torch.isin(batch.tokens, torch.tensor([1, 2])) & batch.mask).any(-1)
        logits = torch.where(held, 4.0, -4.0)[:, None] * torch.tensor([-0.5, 0.5])
        return replace(record, logits=logits, readout=None)

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        return record.logits[:, None].expand(-1, alpha.shape[1], -1)


def test_two_words_that_stand_in_for_each_other_hide_their_effect() -> None:
    tokens = torch.tensor([[7, 1, 8, 2, 9], [7, 1, 8, 6, 9]])
    model = Either("oracle")
    record = model.read(Batch(("both", "one"), tokens, torch.ones_like(tokens, dtype=torch.bool)))
    found = redundancy(model, record, {"attention": record.alpha}, 0)
    fall = 1 / (1 + math.exp(-4)) - 1 / (1 + math.exp(4))
    for metric, expected in {
        "joint": [fall, fall],
        "single_max": [0, fall],
        "backup": [fall, 0],
        "hidden_flip": [1, 0],
        "backup_log_odds": [8, 0],
    }.items():
        assert found["", metric].tolist() == pytest.approx(expected, abs=1e-6), metric
    # Half of the attention gives the same logits: what zeroed weights would do is not known.
    assert found["", "backup_zeroed"].isnan().all()


def test_zeroed_weights_are_not_read_off_the_readout() -> None:
    """The readout includes the bias, which does not shrink with the weights."""
    model = Glass("oracle", dtype=torch.float64)
    record = model.read(glass_batch(20))
    scores = {"attention": record.alpha}
    found = redundancy(model, record, scores, 0)["", "backup_zeroed"]
    plain = redundancy(model, replace(record, readout=None), scores, 0)["", "backup_zeroed"]
    assert torch.equal(found, plain)
    assert found.abs().max() < 1e-12  # one word decides: nothing stands in for it


def test_a_model_that_takes_only_distributions_has_no_zeroed_weights() -> None:
    class Strict(Glass):
        def decode(self, record: Record, alpha: Tensor) -> Tensor:
            if not torch.allclose(alpha.sum(-1), torch.ones_like(alpha[..., 0])):
                raise NotApplicable("attention must sum to 1")
            return super().decode(record, alpha)

    class Renormalising(Glass):
        def decode(self, record: Record, alpha: Tensor) -> Tensor:
            return super().decode(record, masking.renormalise(alpha, record.mask[:, None]))

    for model in (Strict("oracle"), Renormalising("oracle")):
        record = model.read(glass_batch(5))
        found = redundancy(model, record, {"attention": record.alpha}, 0)
        assert found["", "backup_zeroed"].isnan().all()
        assert not found["", "backup_renormalised"].isnan().any()


def test_the_words_of_another_measure() -> None:
    model = Glass("shifted")
    record = model.read(glass_batch(30))
    evidence = record.batch.evidence.double()  # type: ignore[union-attr]
    found = redundancy(model, record, {"attention": record.alpha, "known": evidence}, 0, of="known")
    own = redundancy(model, record, {"attention": record.alpha}, 0)
    assert found["", "joint"].mean() > 0.4 > 0.1 > own["", "joint"].mean()
    with pytest.raises(NotApplicable, match="'known', whose top words are deleted"):
        redundancy(model, record, {"attention": record.alpha}, 0, of="known")
