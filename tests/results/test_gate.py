"""The release gate and the comparison of runs, on the glass models, whose faults are known."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import pytest
import torch
from torch import Tensor

from attnaudit import audit
from attnaudit.core.contract import Record
from attnaudit.core.errors import InputError
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.results.gate import check_conditions, conditions_met
from attnaudit.results.results import Results
from attnaudit.training.comparisons.runs import compare_cards, compare_values


@cache
def audited(kind: str, count: int = 60) -> Results:
    return audit(Glass(kind), glass_batch(count), show_progress=False)


def test_each_fault_closes_the_gate_that_asks_for_it_and_no_other() -> None:
    matters, points = "matters=no", "points=no"
    assert conditions_met(audited("oracle"), f"{matters}; {points}") == []
    assert [
        each.split(":")[0] for each in conditions_met(audited("inert"), f"{matters}; {points}")
    ] == [matters]
    assert [
        each.split(":")[0] for each in conditions_met(audited("shifted"), f"{matters}; {points}")
    ] == [points]


def test_not_yes_is_also_met_by_cannot_tell() -> None:
    results = audit(Glass("oracle"), glass_batch(60), audits=["permutation"], show_progress=False)
    assert conditions_met(results, "stable!=yes") == ["stable!=yes: the card says 'cannot tell'"]


def test_the_verdict_can_close_the_gate() -> None:
    assert conditions_met(audited("oracle"), "verdict=no") == []
    assert conditions_met(audited("inert"), "verdict=no") == ["verdict=no: the card says 'no'"]


def test_numbers_are_compared_with_the_overall_mean() -> None:
    results = audited("oracle")
    mean = float(
        results.summary().query("audit == 'permutation' and metric == 'tvd_median'")["mean"].iloc[0]
    )
    assert conditions_met(results, f"permutation/tvd_median<{mean + 0.01}")
    assert not conditions_met(results, f"permutation/tvd_median<{mean - 0.01}")
    assert conditions_met(results, f"permutation/tvd_median>={mean - 0.01}")
    assert conditions_met(results, "agreement/tau@leave_one_out>0")
    assert not conditions_met(results, "agreement/tau@leave_one_out<0")


def test_a_number_that_is_not_there_is_an_error_and_no_closed_gate() -> None:
    with pytest.raises(InputError, match="no number 'stability/jsd'"):
        conditions_met(audited("oracle"), "stability/jsd<0")


def test_a_question_that_the_card_does_not_have_is_an_error() -> None:
    batch = glass_batch(30)
    without_evidence = type(batch)(**{**vars(batch), "evidence": None})
    results = audit(Glass("oracle"), without_evidence, audits=["permutation"], show_progress=False)
    with pytest.raises(InputError, match="does not answer 'plausible'"):
        conditions_met(results, "plausible=no")


def test_a_number_that_is_undefined_everywhere_closes_the_gate() -> None:
    def undefined(model: object, record: Record, scores: object, seed: int) -> dict[str, Tensor]:
        return {"value": torch.full((len(record.batch),), torch.nan)}

    results = audit(Glass("oracle"), glass_batch(8), audits=[undefined], show_progress=False)
    assert conditions_met(results, "undefined/value<0") == [
        "undefined/value<0: it is undefined for every example"
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("matters", "Cannot read the condition 'matters'"),
        (
            "maters=no",
            "a question is one of verdict, needed, matters, points, only_story, stable, plausible",
        ),
        ("matters=maybe", "one of yes, partly, no, cannot tell"),
        ("matters<no", "Cannot read the condition"),
        ("permutation/tvd<low", "'low', which is not a number"),
        (" ; ", "There is no condition"),
    ],
)
def test_conditions_that_mean_nothing_are_rejected(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_conditions(text)


def test_cards_side_by_side() -> None:
    both = compare_cards(audited("oracle"), audited("inert")).set_index("question")
    assert list(both.loc["does it matter?"]) == ["yes", "no"]
    assert list(both.loc["verdict"]) == ["yes", "no"]
    assert list(both.loc["does it point at what the model uses?"]) == ["yes", "yes"]


def test_the_same_examples_are_compared_one_by_one() -> None:
    first, second = audited("oracle"), audited("inert")
    found = compare_values(first, second)
    assert set(found["how"]) == {"paired"}
    line = found.query("audit == 'permutation' and metric == 'tvd_median'").iloc[0]
    wide = [
        each.frame()
        .query("audit == 'permutation' and metric == 'tvd_median'")
        .set_index("example_id")["value"]
        for each in (first, second)
    ]
    assert line["difference"] == pytest.approx((wide[0] - wide[1]).mean())
    assert line["low"] < line["difference"] < line["high"]
    assert line["low"] > 0
    same = compare_values(first, first)
    assert (same["difference"].dropna() == 0).all()
    # A difference that no text shows may still exist among others, on either side alike.
    known = same[["low", "high"]].dropna()
    assert len(known) > 100
    assert ((known["low"] < 0) & (known["low"] == -known["high"])).all()


def test_other_examples_are_matched_by_length() -> None:
    found = compare_values(audited("oracle"), audited("oracle", 40))
    assert set(found["how"]) == {"matched by length"}
    line = found.query("audit == 'permutation' and metric == 'tvd_median'").iloc[0]
    assert line["low"] < 0 < line["high"]


def test_the_command_fails_with_its_own_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from typer.testing import CliRunner

    from attnaudit.cli import app

    folder = audited("inert").save(tmp_path / "inert")
    closed = CliRunner().invoke(app, ["gate", str(folder), "--fail-if", "matters=no"])
    assert closed.exit_code == 3
    assert "matters=no" in closed.output
    opened = CliRunner().invoke(app, ["gate", str(folder), "--fail-if", "matters=yes"])
    assert opened.exit_code == 0
    assert "none of the conditions holds" in opened.output
    compared = CliRunner().invoke(
        app, ["compare", str(folder), str(audited("oracle").save(tmp_path / "oracle"))]
    )
    assert compared.exit_code == 0
    assert "does it matter?" in compared.output
    assert "tvd_median" in compared.output
    assert "jsd_any" not in compared.output  # not on the card
    every = CliRunner().invoke(
        app, ["compare", str(folder), str(audited("oracle").save(tmp_path / "again")), "--all"]
    )
    assert "jsd_any" in every.output
    assert "paired, 60 and 60 examples" in every.output


def test_every_question_over_runs_is_named_where_one_is_unknown(tmp_path: Path) -> None:
    folder = audited("oracle").save(tmp_path / "run")
    from typer.testing import CliRunner

    from attnaudit.cli import app

    rejected = CliRunner().invoke(app, ["correlate", str(folder), "--question", "nonsense"])
    assert "dependence, uniformity, seeds" in str(rejected.exception)
    other = CliRunner().invoke(app, ["correlate", str(folder), str(folder), "--question", "seeds"])
    assert "runs of `attnaudit run`" in str(other.exception)


def test_a_gate_that_nothing_can_close_is_rejected() -> None:
    with pytest.raises(InputError, match="which is not a number"):
        check_conditions("permutation/tvd_median<nan")


def test_an_audit_with_options_is_found_by_its_full_and_its_bare_name() -> None:
    results = audit(
        Glass("oracle"), glass_batch(30), audits=["furthest:epsilon=0.05"], show_progress=False
    )
    assert conditions_met(results, "furthest:epsilon=0.05/jsd>0")
    assert conditions_met(results, "furthest/jsd>0")
    assert not conditions_met(results, "furthest:epsilon=0.05/jsd<0")


def test_an_audit_of_something_other_than_attention_is_not_taken_for_it() -> None:
    results = audit(
        Glass("shifted"),
        glass_batch(),
        audits=["agreement:of=gradient"],
        measures=["gradient", "leave_one_out", "random"],
        show_progress=False,
    )
    assert math.isnan(results.mean("agreement", "tau", "leave_one_out"))
    assert results.mean("agreement:of=gradient", "tau", "leave_one_out") == pytest.approx(1.0)
    with pytest.raises(InputError, match="no number 'agreement/tau@leave_one_out'"):
        conditions_met(results, "agreement/tau@leave_one_out<0.2")
