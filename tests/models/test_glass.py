"""Every audit on the glass models, synthetic reference models for which the truth is known.

An audit must detect the faults it declares to detect, and no others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import torch

from attnaudit import audit
from attnaudit.audits import AUDITS
from attnaudit.audits.declaration import Declaration, Metric, declaration_of, scales
from attnaudit.core.contract import Batch
from attnaudit.core.errors import InputError
from attnaudit.laws.checks import check_model
from attnaudit.measures import MEASURES
from attnaudit.models.glass import DECIDING, KINDS, Glass, Kind, glass_batch
from attnaudit.results.card import Card
from attnaudit.results.questions import EXPLANATION, NO, PARTLY, YES, Question, questions_of
from attnaudit.results.results import Results

FAULTY = ("inert", "shifted")


@dataclass(frozen=True)
class Headline:
    """The number by which an audit is judged here, and its value on a good and on a bad model."""

    metric: str
    measure: str
    good: float  # at least this on a good model (at most, if good < bad)
    bad: float
    group: str = "all"

    def of(self, results: Results, name: str) -> float:
        lines = results.summary(self.group)
        found = lines[
            (lines["audit"] == name)
            & (lines["metric"] == self.metric)
            & (lines["measure"] == self.measure)
            & (lines["row"] == 0)
        ]
        assert len(found) == 1, f"{name} has no single {self.metric}@{self.measure}"
        return float(found["mean"].iloc[0])

    def is_good(self, value: float) -> bool:
        return value >= self.good if self.good > self.bad else value <= self.good

    def is_bad(self, value: float) -> bool:
        return value <= self.bad if self.good > self.bad else value >= self.bad


# An audit added to the registry needs a line here.
HEADLINES = {
    "uniform_attention": Headline("tvd", "", good=0.25, bad=0.001),
    "permutation": Headline("tvd_median", "", good=0.4, bad=0.001),
    "top_item": Headline("delta_js", "", good=0.15, bad=0.001),
    # Only class 1 can flip: class 0 wins without a deciding token.
    "flip_fraction": Headline("removed", "attention", good=0.15, bad=0.99, group="1"),
    "agreement": Headline("tau", "gradient", good=0.99, bad=0.0),
    "evidence": Headline("hit", "attention", good=0.99, bad=0.01),
    "furthest": Headline("jsd", "", good=0.2, bad=0.6),
    "epsilon_curve": Headline("jsd_0.01", "", good=0.2, bad=0.6),
    "random_attention": Headline("tvd_median", "", good=0.25, bad=0.001),
    "top_k_agreement": Headline("tau_fixed", "gradient", good=0.99, bad=0.2),
    "erasure": Headline("comprehensiveness", "attention", good=0.3, bad=0.1),
    "position": Headline("follows_word", "", good=0.99, bad=0.01),
    "erasure_forms": Headline("drop_delete", "", good=0.45, bad=0.1),
    "erasure_limits": Headline("naopc", "attention", good=0.99, bad=0.5),
    "redundancy": Headline("joint", "", good=0.45, bad=0.1),
    "polarity": Headline("supports", "attention", good=0.99, bad=0.01),
    "top_words": Headline("comprehensiveness_p", "attention", good=0.45, bad=0.1),
    # These detect neither fault.
    "noise_stability": Headline("top_k_overlap", "", good=0.99, bad=0.5),
    "explanation_stability": Headline("kept", "leave_one_out", good=0.99, bad=0.5),
    "dispersion": Headline("entropy", "attention", good=0.8, bad=1.0),
    "stability": Headline("jsd", "", good=1e-9, bad=0.3),
}


# Options with which an audit returns everything it declares.
WITH_OPTIONS = {
    "top_k_agreement": "top_k_agreement:k=average+all+non_zero+non_zero_of_attention+3",
    "dispersion": "dispersion:influence=true",
}


@cache
def audited(kind: Kind) -> Results:
    audits = [WITH_OPTIONS.get(name, name) for name in AUDITS if name != "stability"]
    return audit(
        Glass(kind), glass_batch(), audits=audits, other_models=[Glass(kind)], show_progress=False
    )


def headline(name: str, kind: Kind) -> float:
    assert name in HEADLINES, f"{name} is a new audit: add its good and bad values to HEADLINES"
    return HEADLINES[name].of(audited(kind), WITH_OPTIONS.get(name, name))


@pytest.mark.parametrize("name", AUDITS)
def test_an_audit_declares_for_every_faulty_glass_model_whether_it_detects_the_fault(
    name: str,
) -> None:
    declared = declaration_of(AUDITS[name])
    assert declared.question
    assert declared.metrics
    assert sorted([*declared.detects, *declared.blind]) == sorted(FAULTY)
    assert all(why for why in declared.blind.values())


@pytest.mark.parametrize("name", AUDITS)
def test_an_audit_finds_nothing_against_the_oracle(name: str) -> None:
    assert HEADLINES[name].is_good(headline(name, "oracle"))


@pytest.mark.parametrize("kind", FAULTY)
@pytest.mark.parametrize("name", AUDITS)
def test_an_audit_detects_exactly_the_faults_it_declares(name: str, kind: Kind) -> None:
    value, best = headline(name, kind), headline(name, "oracle")
    if kind in declaration_of(AUDITS[name]).detects:
        assert HEADLINES[name].is_bad(value)
    else:
        assert HEADLINES[name].is_good(value)
        assert value == pytest.approx(best, abs=0.01)


@pytest.mark.parametrize("name", AUDITS)
def test_every_metric_an_audit_gives_is_declared_and_every_declared_one_is_given(name: str) -> None:
    values = audited("oracle").frame()
    given = set(values.loc[values["audit"] == WITH_OPTIONS.get(name, name), "metric"].astype(str))
    assert given == set(declaration_of(AUDITS[name]).metrics)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", AUDITS)
def test_means_stay_between_the_declared_floor_and_ceiling(name: str, kind: Kind) -> None:
    """Numeric bounds are limits; named ones are other metrics, which a bad model may fall below."""
    lines = audited(kind).summary()
    for line in lines[lines["audit"] == WITH_OPTIONS.get(name, name)].itertuples():
        limits = declaration_of(AUDITS[name]).metrics[line.metric].limits
        if limits is not None:
            assert not line.mean < limits[0] - 1e-6
            assert not line.mean > limits[1] + 1e-6


# The figures of the trial run --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "low", "high"), [("oracle", 0.45, 0.50), ("inert", 0, 1e-6), ("shifted", 0.45, 0.50)]
)
def test_shuffling_moves_oracle_and_shifted_by_almost_half_and_inert_not_at_all(
    kind: Kind, low: float, high: float
) -> None:
    assert low <= headline("permutation", kind) <= high


@pytest.mark.parametrize(
    ("kind", "expected"), [("oracle", 0.14), ("inert", 0.65), ("shifted", 0.14)]
)
def test_the_furthest_equivalent_attention_is_near_for_oracle_and_shifted_and_far_for_inert(
    kind: Kind, expected: float
) -> None:
    assert headline("furthest", kind) == pytest.approx(expected, abs=0.01)
    lines = audited(kind).summary()
    exact = lines[(lines["audit"] == "furthest") & (lines["metric"] == "exact")]
    assert float(exact["mean"].iloc[0]) == 1.0


@pytest.mark.parametrize(("kind", "expected"), [("oracle", 1.0), ("inert", 1.0), ("shifted", -0.1)])
def test_the_gradient_ranks_as_attention_does_in_oracle_and_inert_but_not_in_shifted(
    kind: Kind, expected: float
) -> None:
    assert headline("agreement", kind) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize(("kind", "expected"), [("oracle", 1.0), ("inert", 1.0), ("shifted", 0.0)])
def test_leave_one_out_and_attention_agree_on_the_top_word_except_in_shifted(
    kind: Kind, expected: float
) -> None:
    model, batch = Glass(kind), glass_batch()
    record = model.read(batch)
    lost = MEASURES["leave_one_out"](model, record, 0).numpy()
    same = [
        int(np.nanargmax(lost[at])) == int(record.alpha[at, 0].argmax().item())
        for at in range(len(batch))
    ]
    assert np.mean(same) == expected


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_equally_important_fillers_are_tied_in_leave_one_out(
    dtype: torch.dtype,
) -> None:
    """Both rankings have two values, on the same items: tau-b is 1 unless rounding breaks ties."""
    results = audit(
        Glass("oracle", dtype=dtype), glass_batch(), audits=["agreement"], show_progress=False
    )
    values = results.frame()
    tau = values.loc[(values["metric"] == "tau") & (values["measure"] == "leave_one_out"), "value"]
    np.testing.assert_allclose(tau, 1.0)


# The models themselves ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_deciding_token_determines_the_prediction(kind: Kind) -> None:
    batch = glass_batch()
    assert batch.labels is not None
    assert batch.evidence is not None
    assert torch.equal(Glass(kind).read(batch).predicted, batch.labels)
    assert set(batch.labels.tolist()) == {0, 1}
    for tokens, evidence, label in zip(batch.tokens, batch.evidence, batch.labels, strict=True):
        assert tokens[evidence].tolist() == [DECIDING[int(label)]]


@pytest.mark.parametrize("kind", KINDS)
def test_attention_is_on_the_deciding_token_or_one_later_in_shifted(kind: Kind) -> None:
    batch = glass_batch()
    alpha = Glass(kind).read(batch).alpha[:, 0]
    for at in range(len(batch)):
        place = [i for i, token in enumerate(batch.tokens[at].tolist()) if token in DECIDING]
        assert [int(alpha[at].argmax()) - (kind == "shifted")] == place
        length = int(batch.mask[at].sum())
        assert float(alpha[at].max()) == pytest.approx(
            math.exp(4) / (math.exp(4) + length - 1), rel=1e-5
        )


# The card ----------------------------------------------------------------------------------------


def answers(card: Card) -> dict[str, str]:
    return {answer.question: answer.answer for answer in card.answers}


# Class 0 is what remains without a deciding word, so that it does not need the attention; and 64
# texts whose decisions stay the same do not exclude a loss of 2 points of accuracy.
EXPECTED = {
    "oracle": (PARTLY, YES, YES, YES, YES, YES),
    "inert": (PARTLY, NO, YES, NO, YES, YES),
    "shifted": (PARTLY, YES, NO, YES, YES, NO),
}
DECISIONS = {"oracle": YES, "inert": NO, "shifted": NO}
QUESTIONS = tuple(question.wording for question in questions_of(EXPLANATION))


@pytest.mark.parametrize("kind", KINDS)
def test_the_card_distinguishes_the_three_glass_models(kind: Kind) -> None:
    """The other model given is the model itself, so attention is perfectly stable."""
    card = audited(kind).card()
    assert answers(card) == dict(zip(QUESTIONS, EXPECTED[kind], strict=True))
    assert card.decision == DECISIONS[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_without_evidence_only_plausibility_is_not_asked(kind: Kind) -> None:
    results = audit(Glass(kind), replace(glass_batch(), evidence=None), show_progress=False)
    expected = dict(zip(QUESTIONS, EXPECTED[kind], strict=True))
    del expected[Question.PLAUSIBLE.wording]
    assert answers(results.card()) == expected
    assert list(results.about["not_applicable"]) == ["evidence"]


def by_length() -> Batch:
    batch = glass_batch(8)
    return batch.rows(batch.mask.sum(-1).argsort())


@cache
def audited_together(kind: Kind) -> pd.DataFrame:
    return audit(Glass(kind), by_length(), show_progress=False).frame()


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_batching_does_not_change_a_glass_models_numbers(kind: Kind, size: int) -> None:
    """Equally important words differ by rounding only: no audit may rank them by that."""
    batch = by_length()
    whole = audited_together(kind)
    parts = [
        batch.rows(torch.arange(len(batch))[at : at + size]) for at in range(0, len(batch), size)
    ]
    trimmed = [part.without(torch.zeros_like(part.mask)) for part in parts]
    assert len({part.tokens.shape[1] for part in trimmed}) > 1
    again = audit(Glass(kind), trimmed, show_progress=False).frame()
    together = whole.assign(again=again["value"].to_numpy())
    off = together[~np.isclose(together["value"], together["again"], atol=1e-5, equal_nan=True)]
    assert off.empty, off.to_string()


# Models of known quality -------------------------------------------------------------------------

QUALITIES = (0.0, 0.25, 0.5, 0.75, 1.0)
# The metrics of each audit, and measures that find the deciding word whatever the attention is.
POINTING = {
    "agreement": (("tau",), ("gradient", "leave_one_out")),
    "top_k_agreement:k=average+all+non_zero+non_zero_of_attention+3": (
        (
            "tau_all",
            "tau_average",
            "tau_non_zero",
            "tau_fixed",
            "overlap_non_zero",
            "overlap_fixed",
        ),
        ("gradient", "leave_one_out"),
    ),
    "evidence": (("hit", "mass", "auprc", "token_f1", "iou_f1"), ("attention",)),
}


@cache
def of_quality(quality: float) -> Results:
    # In the inert model importance does not depend on attention, so the measures are always right.
    model = Glass("inert", quality=quality, dtype=torch.float64)
    measures = ["gradient", "leave_one_out", "random"]
    return audit(
        model, glass_batch(256), audits=list(POINTING), measures=measures, show_progress=False
    )


@pytest.mark.parametrize("name", POINTING)
def test_every_metric_ranks_models_by_their_quality(name: str) -> None:
    metrics, measures = POINTING[name]
    for metric in metrics:
        for measure in measures:
            found = [of_quality(each).mean(name, metric, measure) for each in QUALITIES]
            assert all(b > a + 0.02 for a, b in pairwise(found)), (metric, measure, found)
            assert found[-1] == pytest.approx(1.0 if metric != "mass" else found[-1])


@pytest.mark.parametrize("quality", QUALITIES)
def test_hits_and_tau_are_what_the_quality_says(quality: float) -> None:
    batch = glass_batch(256)
    draw = batch.tokens.sum(-1) * 7919 % 1000 / 1000
    right = (draw < quality).double()
    assert of_quality(quality).mean("evidence", "hit", "attention") == pytest.approx(
        float(right.mean())
    )
    # One word each, in the same place or not: of n items tau-b is 1 or -1 / (n - 1).
    length = batch.mask.sum(-1).double()
    expected = torch.where(right > 0, 1.0, -1 / (length - 1)).mean()
    assert of_quality(quality).mean("agreement", "tau", "gradient") == pytest.approx(
        float(expected)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_of_medium_quality_keeps_the_laws(kind: Kind) -> None:
    report = check_model(Glass(kind, quality=0.5, dtype=torch.float64), glass_batch(12))
    assert [law.name for law in report.laws if law.verdict == "broken"] == []


def test_a_quality_above_one_is_rejected() -> None:
    with pytest.raises(InputError, match=r"between 0 and 1, got 1\.5"):
        Glass("oracle", quality=1.5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", AUDITS)
def test_every_value_of_every_metric_lies_on_its_declared_scale(name: str, kind: Kind) -> None:
    found = audited(kind)
    stored = found.about["scales"][WITH_OPTIONS.get(name, name)]
    values = found.frame()
    values = values[(values["audit"] == WITH_OPTIONS.get(name, name)) & values["value"].notna()]
    declared = declaration_of(AUDITS[name]).metrics
    limits = {metric: bounds.limits for metric, bounds in declared.items()}
    bounded = {
        metric: list(ends) for metric, ends in limits.items() if ends and np.isfinite(ends).all()
    }
    assert stored == bounded  # those without a bound are not stored
    for metric, part in values.groupby("metric", observed=True):
        low, high = limits[metric] or (-math.inf, math.inf)
        assert part["value"].between(low - 1e-6, high + 1e-6).all(), metric


def test_a_scale_is_declared_or_from_floor_to_ceiling_if_both_are_numbers() -> None:
    assert Metric("", 0.0, "reach", (-1.0, 1.0)).limits == (-1.0, 1.0)
    assert Metric("", 0.0, 2.0).limits == (0.0, 2.0)
    assert Metric("", 0.0, "reach").limits is None
    assert scales(
        {"mine": Declaration("?", {"x": Metric("", 0.0, 2.0), "y": Metric("", 0.0, "x")})}
    ) == {"mine": {"x": [0.0, 2.0]}}
