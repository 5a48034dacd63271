"""Stability against other trainings, example by example."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from attnaudit import audit, statistics
from attnaudit.core.errors import NotApplicable
from attnaudit.models import build
from attnaudit.models.glass import Glass, glass_batch
from bilstm_cases import TEXT_LENGTHS, bilstm_case, run_audit


def test_stability_compares_trainings_with_the_same_decision_only() -> None:
    model, record, _ = bilstm_case()
    others = [
        build(model.architecture, words=30, classes=2, with_query=False, seed=seed).double().eval()
        for seed in (1, 2, 3)
    ]
    found = run_audit("stability", other_models=others)
    with torch.no_grad():
        theirs = [other.read(record.batch) for other in others]
    for index in range(len(TEXT_LENGTHS)):
        same = [each for each in theirs if each.predicted[index] == record.predicted[index]]
        assert float(found["", "same_decision"][index]) == pytest.approx(len(same) / 3)
        jsd = [float(statistics.jsd(record.alpha[index, 0], each.alpha[index, 0])) for each in same]
        expected = np.mean(jsd) if jsd else math.nan
        assert float(found["", "jsd"][index]) == pytest.approx(expected, nan_ok=True)
        tvd = np.mean(
            [float(statistics.tvd(record.probs[index], each.probs[index])) for each in theirs]
        )
        assert float(found["", "tvd"][index]) == pytest.approx(tvd)
    assert 0 < found["", "same_decision"].mean() < 1
    with pytest.raises(NotApplicable, match="no other training"):
        run_audit("stability")


def test_other_models_decide_the_answer_on_stability_and_are_left_unchanged() -> None:
    for kind, answer in {
        "inert": "yes",
        "shifted": "no",
    }.items():  # Inert attends as the Oracle does, Shifted one word off
        results = audit(
            Glass("oracle"), glass_batch(60), other_models=[Glass(kind)], show_progress=False
        )
        assert results.card()["is it stable?"].answer == answer
    model, record, _ = bilstm_case()
    twin = build(model.architecture, words=30, classes=2, with_query=False, seed=9).double().train()
    audit(
        model,
        record.batch,
        audits=["stability"],
        other_models=[twin],
        measures=[],
        show_progress=False,
    )
    assert all(module.training for module in twin.modules())
