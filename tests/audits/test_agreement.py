"""Agreement against SciPy's tau, example by example."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau

from attnaudit.audits.agreement import agreement
from attnaudit.core.errors import NotApplicable
from audit_cases import EXAMPLES, case, every_case, made_scores, same, scores_of


def plain_tau(x: Any, y: Any, real: Any) -> tuple[float, float]:
    x, y = np.asarray(x)[real], np.asarray(y)[real]
    if len(x) < 2 or np.isnan(x).any() or np.isnan(y).any():
        return math.nan, math.nan
    found = kendalltau(x, y)
    return float(found.statistic), float(found.pvalue)


@every_case
def test_agreement_equals_scipys_tau_for_every_example_and_row(name: str) -> None:
    chosen = case(name)
    scores = {**scores_of(name), "itself": chosen.record.alpha[:, 0]}
    values = agreement(chosen.model, chosen.record, scores, 0)
    rows = chosen.alpha.shape[1]
    for measure, score in scores.items():
        if measure == "attention":
            assert (measure, "tau") not in values
            continue
        assert values[measure, "tau"].shape == (EXAMPLES, rows)
        for index in range(EXAMPLES):
            for row in range(rows):
                other = score[index] if score.dim() == 2 else score[index, row]
                attended = chosen.record.content[index].numpy() & chosen.mask[index, row]
                tau, p = plain_tau(chosen.alpha[index, row], other, attended)
                same(values[measure, "tau"][index, row], tau, 1e-9)
                same(values[measure, "p"][index, row], p, 1e-9)
                same(
                    values[measure, "significant"][index, row],
                    math.nan if math.isnan(p) else float(p <= 0.05),
                )
    assert values["gradient", "tau"].isnan().any()  # the text of one word
    assert values["itself", "significant"].nan_to_num(0).any()


def test_the_ceiling_is_the_agreement_of_the_reference_measures_only() -> None:
    """A ranking of the user's own, however poor, must not lower what attention is held against."""
    chosen = case("four classes")
    made = made_scores(chosen)
    scores = {**made, "gradient": made["a"], "leave_one_out": made["b"], "mine": made["c"]}
    values = agreement(chosen.model, chosen.record, scores, 0)
    pairs = [key[0] for key in values if key[1] == "tau" and "|" in key[0]]
    assert pairs == ["gradient|leave_one_out"]
    for index in range(EXAMPLES):
        found = {
            "gradient|leave_one_out": plain_tau(
                made["a"][index], made["b"][index], chosen.record.content[index].numpy()
            )
        }
        for pair, (tau, p) in found.items():
            same(values[pair, "tau"][index], tau, 1e-9)
            same(values[pair, "p"][index], p, 1e-9)
        known = [tau for tau, _ in found.values() if not math.isnan(tau)]
        sure = [float(p <= 0.05) for _, p in found.values() if not math.isnan(p)]
        same(values["between_measures", "tau"][index], np.mean(known) if known else math.nan, 1e-9)
        same(
            values["between_measures", "significant"][index],
            np.mean(sure) if sure else math.nan,
            1e-9,
        )
    assert values["gradient|leave_one_out", "tau"][0].isnan()  # a constant has no tau: never 0


@every_case
def test_only_gradient_and_leave_one_out_are_reference_measures(name: str) -> None:
    values = agreement(case(name).model, case(name).record, scores_of(name), 0)
    assert [key[0] for key in values if "|" in key[0] and key[1] == "tau"] == [
        "gradient|leave_one_out"
    ]
    same(values["between_measures", "tau"], values["gradient|leave_one_out", "tau"])


def test_with_one_measure_there_is_no_ceiling_and_with_none_no_agreement() -> None:
    chosen, scores = case("two classes"), scores_of("two classes")
    one = agreement(
        chosen.model, chosen.record, {k: scores[k] for k in ("attention", "gradient")}, 0
    )
    assert one["between_measures", "tau"].isnan().all()
    assert not one["gradient", "tau"].isnan().all()
    with pytest.raises(NotApplicable, match="no measure was computed besides attention"):
        agreement(chosen.model, chosen.record, {"attention": scores["attention"]}, 0)
