"""Explanations are judged as attention is: on models of known truth, and number by number."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from attnaudit import InputError, Results, audit
from attnaudit.auditing.explanations import find_explanations
from attnaudit.measures import EXPLANATIONS, MEASURES
from attnaudit.models import Glass, from_huggingface, glass_batch
from attnaudit.results.store import load_results
from tiny_transformers import TEXTS, tiny

FEW = ("top_words", "polarity")
RANKING = "explanation_ranking"


@cache
def compared(kind: str) -> Results:
    return audit(Glass(kind), glass_batch(), explanations="all", show_progress=False)


def of(results: Results, name: str) -> dict[str, Any]:
    frame = results.explanations()
    return frame[frame["explanation"] == name].iloc[0].to_dict()


def test_on_a_model_whose_attention_is_right_everything_ties_above_random() -> None:
    frame = compared("oracle").explanations()
    assert frame["explanation"].iloc[-1] == "random"
    others = frame[frame["explanation"] != "random"]
    assert others["rank"].tolist() == [1] * len(others)
    assert others["place"].to_numpy() == pytest.approx(1)
    assert others["passed"].tolist() == [4] * len(others)
    assert all(
        set(tied) == set(others["explanation"]) - {name}
        for name, tied in zip(others["explanation"], others["tied_with"], strict=True)
    )


def test_on_a_model_whose_attention_is_one_word_off_attention_does_not_beat_random() -> None:
    results = compared("shifted")
    attention, loo = of(results, "attention"), of(results, "leave_one_out")
    assert not attention["beats_random"]
    assert loo["beats_random"]
    assert loo["passed"] == 4
    assert loo["rank"] == 1 < attention["rank"]
    assert loo["plausibility"] == 1 > attention["plausibility"]
    step, command = results.card().steps[0]
    assert step.startswith("Attention passes 2 of 4 tests and does not beat random words; ")
    assert ": show that instead. On models of known truth, an explanation recommended" in step
    assert command.startswith('results.to_heatmaps("heatmaps.html", explanation=')


def test_where_weights_do_not_matter_nothing_made_of_attention_is_recommended() -> None:
    results = compared("inert")
    assert of(results, "attention")["passed"] == 4
    _, command = results.card().steps[0]
    assert results.card().decision == "no"
    assert "attention" not in command.split("explanation=")[1]


def test_numbers_are_those_of_the_audits_that_judge_attention() -> None:
    """The same value whether a measure is shown as attention, or compared as an explanation."""
    results = compared("shifted")

    class ShowsLeaveOneOut:
        """The same model, whose attention is what leave-one-out says of it."""

        inner = Glass("shifted")
        replacement_token = Glass.replacement_token

        def read(self, batch: Any, embeddings: Tensor | None = None) -> Any:
            from dataclasses import replace

            record = self.inner.read(batch, embeddings)
            score = MEASURES["leave_one_out"](self.inner, record, 0)
            weight = score.nan_to_num(0.0) + 1e-9 * record.batch.mask
            alpha = (weight / weight.sum(-1, keepdim=True)).to(record.alpha.dtype)[:, None]
            return replace(record, alpha=alpha, readout=None)

        def decode(self, record: Any, alpha: Tensor) -> Tensor:
            return self.inner.decode(record, alpha)

    shown = audit(ShowsLeaveOneOut(), glass_batch(), audits=FEW, show_progress=False)
    for audit_name, metric in (
        ("top_words", "comprehensiveness"),
        ("top_words", "sufficiency"),
        ("polarity", "violation"),
    ):
        own = shown.line(audit_name, metric, "attention")
        compared_line = results.line(audit_name, metric, "leave_one_out")
        assert own is not None
        assert compared_line is not None
        assert own["mean"] == pytest.approx(compared_line["mean"], abs=1e-6)
        # More rankings are read, so that the best words found can only be better.
        if audit_name == "top_words":
            assert own["relative"] >= compared_line["relative"] - 1e-6
            assert own["relative"] == pytest.approx(compared_line["relative"], abs=0.05)


def test_an_explanation_of_one_class_only_fails_for_the_other() -> None:
    """Right for texts that are given one class, and the reverse for the others."""

    def one_sided(model: Any, record: Any, seed: int) -> Tensor:
        score = MEASURES["leave_one_out"](model, record, seed)
        return torch.where(record.predicted[:, None] == 0, score, -score)

    results = audit(
        Glass("oracle"),
        glass_batch(),
        audits=FEW,
        explanations={"one_sided": one_sided, "leave_one_out": "leave_one_out"},
        class_names=["good", "bad"],
        show_progress=False,
    )
    found = {row["explanation"]: row["failing_class"] for row in results.about[RANKING]}
    assert found.pop("random")
    assert found == {"attention": "", "leave_one_out": "", "one_sided": "bad"}
    (line,) = (
        line
        for line in results.summary("bad").itertuples()
        if (line.audit, line.metric, line.measure) == ("top_words", "contrast", "one_sided")
    )
    assert line.relative_high < 0.35


def test_a_worse_attention_has_a_lower_place() -> None:
    places = []
    for quality in (0.0, 0.5, 1.0):
        results = audit(
            Glass("oracle", quality=quality),
            glass_batch(40),
            audits=FEW,
            explanations=["leave_one_out"],
            show_progress=False,
        )
        places.append(of(results, "attention")["place"])
    assert places == sorted(places)
    assert places[0] < 0.2 < 0.9 < places[2]


def test_ties_are_those_whose_paired_difference_may_be_zero() -> None:
    results = compared("shifted")
    columns = results.columns
    key = ("top_words", "{}", "contrast", 0)
    values = {
        name: columns.column((key[0], name, *key[2:]))
        for name in ("attention", "leave_one_out", "random")
    }
    difference = values["leave_one_out"] - values["attention"]
    draws = np.random.default_rng(0).integers(0, len(difference), (4000, len(difference)))
    low = np.quantile(difference[draws].mean(1), 0.025)
    assert low > 0  # an independent percentile bootstrap
    assert "leave_one_out" not in of(results, "attention")["tied_with"]
    difference = values["random"] - values["attention"]
    ends = np.quantile(difference[draws].mean(1), [0.025, 0.975])
    assert ends[0] < 0 < ends[1]
    assert "random" in of(results, "attention")["tied_with"]


def test_an_explanation_that_changes_with_noise_fails_the_test_of_stability() -> None:
    def nervous(model: Any, record: Any, seed: int) -> Tensor:
        """Ranks by the last digits of the embeddings."""
        return (record.embeddings.double().sum(-1) * 1e6).sin().abs()

    results = audit(
        Glass("oracle", dtype=torch.float64),
        glass_batch(40),
        audits=FEW,
        explanations=[nervous, "leave_one_out"],
        show_progress=False,
    )
    assert of(results, "nervous")["tests"]["stability"] == "no"
    assert of(results, "leave_one_out")["tests"]["stability"] == "yes"


def test_cost_is_the_time_of_reading_and_of_the_explanation() -> None:
    import time

    def slow(model: Any, record: Any, seed: int) -> Tensor:
        time.sleep(0.2)
        return record.alpha[:, 0]

    results = audit(
        Glass("oracle"),
        glass_batch(20),
        audits=FEW,
        explanations=[slow],
        show_progress=False,
    )
    assert 0.01 <= of(results, "slow")["seconds"] < 0.02
    assert of(results, "attention")["seconds"] < 0.01


def test_a_transformer_has_all_explanations_and_they_are_stored(tmp_path: Any) -> None:
    model = from_huggingface(*tiny("bert", num_labels=2))
    texts = [
        *TEXTS,
        *(f"{text} {word}" for text in TEXTS for word in ("good", "bad", "dull", "we")),
    ]
    results = audit(
        model, texts, audits=FEW, explanations="all", show_progress=False, out=tmp_path / "run"
    )
    frame = results.explanations()
    assert set(frame["explanation"]) == set(EXPLANATIONS)
    head_mean, attention = of(results, "head_mean"), of(results, "attention")
    assert head_mean["place"] == pytest.approx(attention["place"], abs=1e-9)
    assert "head_mean" in attention["tied_with"]
    again = load_results(tmp_path / "run")
    assert again.explanations().equals(frame)
    assert again.card().as_dict()["next_steps"] == results.card().as_dict()["next_steps"]


def test_without_explanations_nothing_is_added() -> None:
    results = audit(Glass("oracle"), glass_batch(12), audits=FEW, show_progress=False)
    assert "explanation_ranking" not in results.about
    with pytest.raises(InputError, match="No explanations were compared"):
        results.explanations()


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        (["a+b"], r"There is no|cannot hold a \+"),
        (["nothing"], "There is no explanation 'nothing'"),
        ({"leave_one_out": lambda model, record, seed: record.alpha}, "Give yours another name"),
    ],
)
def test_wrong_explanations_are_rejected(choices: Any, text: str) -> None:
    with pytest.raises(InputError, match=text):
        find_explanations(choices)
