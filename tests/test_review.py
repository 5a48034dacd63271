"""Faults that were once there, each with the smallest example that showed it."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from attnaudit import audit, statistics
from attnaudit.core.errors import InputError
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.results.gate import check_conditions, conditions_met
from attnaudit.statistics.inference import length_matched


def test_one_value_has_no_interval_and_one_text_decides_nothing() -> None:
    found = statistics.bootstrap(torch.tensor([0.7]))
    assert float(found.estimate) == pytest.approx(0.7)
    assert math.isnan(found.low)
    holes = statistics.bootstrap(torch.tensor([[0.9, 1.0]] + [[math.nan, 2.0]] * 9))
    assert torch.isnan(holes.low).tolist() == [True, False]
    card = audit(Glass("inert"), glass_batch(1), show_progress=False).card()
    assert {answer.answer for answer in card.answers} == {"cannot tell"}
    assert "one example was audited" in card.cautions[0]


def test_few_different_lengths_are_matched_one_by_one() -> None:
    a, b = np.repeat([5, 6], [80, 21]), np.repeat([5, 6], [20, 80])
    (found,) = length_matched(a[:, None].astype(float), a, b[:, None].astype(float), b)
    assert found.estimate == pytest.approx(0)


def test_a_better_ranking_lies_nearer_to_the_ceiling_also_where_less_is_better() -> None:
    lines = audit(
        Glass("oracle"), glass_batch(60), audits=["flip_fraction"], show_progress=False
    ).summary("1")
    relative = lines[lines["metric"] == "removed"].set_index("measure")["relative"]
    assert relative["random"] == pytest.approx(0)
    assert relative["smallest_set"] == pytest.approx(1)
    assert relative["attention"] > 0.9


def test_a_gate_that_nothing_can_close_is_rejected_and_options_are_understood() -> None:
    with pytest.raises(InputError, match="which is not a number"):
        check_conditions("permutation/tvd_median<nan")
    results = audit(
        Glass("oracle"), glass_batch(30), audits=["furthest:epsilon=0.05"], show_progress=False
    )
    assert conditions_met(results, "furthest:epsilon=0.05/jsd>0")
    assert conditions_met(results, "furthest/jsd>0")
    assert not conditions_met(results, "furthest:epsilon=0.05/jsd<0")
