"""The ε curve against the exact maximum at each ε."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from attnaudit import exact
from attnaudit.audits import AUDITS
from attnaudit.core.errors import InputError, NotApplicable
from bilstm_cases import bilstm_case, run_audit


def test_the_curve_is_the_exact_maximum_at_each_epsilon_and_increases() -> None:
    _, record, _ = bilstm_case()
    found = run_audit("epsilon_curve", epsilons="0.001+0.05+0.3")
    curve = torch.stack([found["", f"jsd_{each}"] for each in ("0.001", "0.05", "0.3")])
    assert (curve.diff(dim=0) >= -1e-12).all()
    assert (curve[-1] > curve[0] + 0.01).any()
    answer = exact.furthest(record.alpha[:, 0], record.readout, record.mask[:, 0], epsilon=0.05)
    torch.testing.assert_close(found["", "jsd_0.05"], answer.jsd)
    torch.testing.assert_close(found["", "upper_0.05"], answer.upper)


def test_with_more_classes_the_certified_curve_is_above_the_found_one() -> None:
    model, record, scores = bilstm_case(classes=4)
    found = AUDITS["epsilon_curve"](model, record, scores, 0, epsilons="0.05", search=True)
    assert (found["", "upper_0.05"] >= found["", "jsd_0.05"]).all()
    assert (found["", "upper_0.05"] > found["", "jsd_0.05"] + 1e-6).any()


def test_without_a_readout_the_curve_runs_only_with_search() -> None:
    model, record, scores = bilstm_case()
    blind = replace(record, readout=None)
    _, more, _ = bilstm_case(classes=4)
    with pytest.raises(NotApplicable, match="more than two classes"):
        AUDITS["epsilon_curve"](model, more, scores, 0)
    with pytest.raises(NotApplicable, match="every ε takes a search"):
        AUDITS["epsilon_curve"](model, blind, scores, 0)
    with pytest.raises(InputError, match="epsilons are numbers from 0 to 1"):
        run_audit("epsilon_curve", epsilons="0.1+2")
