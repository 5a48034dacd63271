"""The next steps of a card: how many texts, and commands that can be typed as they are."""

from __future__ import annotations

import math
import shlex
from typing import Any

import numpy as np
import pytest
import torch

from attnaudit.results.audit_command import audit_command
from attnaudit.results.card import Answer, Finding
from attnaudit.results.explanation_tests import TESTS
from attnaudit.results.next_steps import next_steps, rounded_up, texts_needed
from attnaudit.results.questions import Question, Thresholds
from attnaudit.results.recommendation import recommendation, recommended
from attnaudit.statistics import bootstrap

CALL = {"model": "my model", "data": ["a.csv"], "sample": 100, "out": "audit"}
RULE = Thresholds(yes=0.5, no=0.2)


def finding(values: np.ndarray, name: str = "permutation/tvd_median") -> Finding:
    mean, low, high = (float(part) for part in bootstrap(torch.from_numpy(values))[:3])
    return Finding(name, "", mean, low, high, 0.0, 1.0, 0.0)


def test_so_many_texts_do_settle_it() -> None:
    draw = np.random.default_rng(0)
    values = draw.normal(0.0, 1.0, 100)
    few = finding((values - values.mean()) / values.std() * 0.5 + 0.56)
    assert RULE.judge(few.low, few.high) == ("partly", True)
    needed = texts_needed(few, RULE, 100)
    assert needed is not None
    # Texts of the same mean and spread as those seen.
    more = draw.normal(0.0, 1.0, needed)
    more = (more - more.mean()) / more.std() * 0.5 + few.value
    many = finding(more)
    assert RULE.judge(many.low, many.high)[0] == "yes"
    assert needed == pytest.approx(
        1.1 * 100 * ((few.high - few.low) / 2 / (few.value - 0.5)) ** 2, abs=1
    )


@pytest.mark.parametrize(
    ("count", "rounded"),
    [(1, 1), (99, 99), (100, 100), (101, 110), (441, 450), (44_175, 45_000), (99_001, 100_000)],
)
def test_a_count_is_rounded_up_to_two_digits(count: int, rounded: int) -> None:
    assert rounded_up(count) == rounded


def test_a_settled_or_unknown_number_needs_none() -> None:
    settled = finding(np.linspace(0.8, 0.9, 40))
    assert texts_needed(settled, RULE, 40) is None
    unknown = Finding("a/b", "", 0.5, math.nan, math.nan, 0.0, 1.0, 0.0)
    assert texts_needed(unknown, RULE, 40) is None


def answers(**given: Any) -> dict[Question | None, Answer]:
    made: dict[Question | None, Answer] = {}
    for question in Question:
        answer, findings, is_open = given.get(question.key, ("yes", (), False))
        made[question] = Answer(question.wording, answer, "", findings, "", "", is_open)
    return made


def test_an_open_number_of_a_sampling_audit_asks_for_more_texts_of_that_audit() -> None:
    number = Finding("top_words/contrast@attention", "", 1.0, 0.5, 1.5, 0.0, 2.0, 0.0)
    number = Finding(**{**vars(number), "relative": 0.6, "relative_low": 0.4, "relative_high": 0.8})
    given = answers(points=("partly", (number,), True))
    about = {"texts": {"call": CALL, "read": 5000}, "audits": ["stability"]}
    steps = next_steps(given, "partly", 500, about)
    (instead, more) = steps
    assert "--explanations all" in instead.command
    assert math.ceil(1.1 * 100 * (0.2 / 0.1) ** 2) == 441
    count = 450  # in two digits, upwards
    assert f"{count:,} texts would settle" in more.text
    words = shlex.split(more.command)
    assert words[:3] == ["attnaudit", "audit", "my model"]
    assert words[words.index("--audits") + 1] == f"default,top_words:texts={count}"
    assert words[words.index("--sample") + 1] == str(count)
    about["texts"]["read"] = 120
    assert "The data has 120: add more." in next_steps(given, "partly", 100, about)[1].text


@pytest.mark.parametrize(
    ("passed", "is_offered"),
    [((), False), (("polarity", "stability"), False), (("sufficiency",), True)],
)
def test_what_does_not_point_at_the_words_that_count_is_not_exported(
    passed: tuple[str, ...], is_offered: bool
) -> None:
    about = {"explanation_ranking": [row("attention", passed, 0.1, 0.1)]}
    step = next_steps(answers(), "partly", 50, about)[0]
    assert step.text.startswith(f"Attention passes {len(passed)} of 4 tests")
    assert bool(step.command) == is_offered
    assert ("an explanation recommended so was wrong in" in step.text) == is_offered
    assert ("it passes neither comprehensiveness nor sufficiency" in step.text) != is_offered


def test_after_a_no_more_texts_are_not_asked_for() -> None:
    number = Finding("permutation/tvd_median", "", 0.1, 0.05, 0.2, 0.0, 1.0, 0.0)
    given = answers(matters=("partly", (number,), True), points=("no", (), False))
    assert len(next_steps(given, "no", 50, {})) == 1


def test_commands_repeat_options_and_go_to_another_folder() -> None:
    call = {"model": "m", "data": ["a b.csv", "c.csv"], "skip_bad": True, "out": "audit"}
    assert audit_command(call, seed=None) == (
        "attnaudit audit m --data 'a b.csv' --data c.csv --skip-bad --out audit-2"
    )


ALL_TESTS = tuple(test.key for test in TESTS)
NOT_POINTING = ("polarity", "stability")


def row(
    name: str, passed: tuple[str, ...], place_low: float, seconds: float, rank: int = 1
) -> dict[str, Any]:
    return {
        "explanation": name,
        "passed": len(passed),
        "tests": {key: "yes" if key in passed else "partly" for key in ALL_TESTS},
        "beats_random": place_low > 0,
        "rank": rank,
        "seconds": seconds,
        "texts": 100,
    }


def test_nothing_is_recommended_that_does_not_beat_random_words() -> None:
    ranking = [row("lime", ALL_TESTS, -0.1, 1.0), row("attention", ("polarity",), -0.2, 0.1, 2)]
    assert recommended(ranking, "partly") is None
    assert recommendation(ranking, "partly").endswith("beats random words: show none of it.")


def test_of_tied_ones_the_cheapest_is_recommended() -> None:
    ranking = [
        row("lime", ALL_TESTS, 0.4, 2.0),
        row("leave_one_out", ALL_TESTS, 0.3, 0.9),
        row("attention", NOT_POINTING, 0.1, 0.1, 3),
    ]
    assert recommendation(ranking, "no") == (
        "Attention passes 2 of 4 tests; leave-one-out passes 4, at 0.90 s per text: show that "
        "instead."
    )


def test_tests_that_ask_nothing_about_the_words_do_not_outweigh_one_that_does() -> None:
    ranking = [
        row("lime", NOT_POINTING, 0.4, 2.0),
        row("leave_one_out", ("sufficiency",), 0.3, 0.9),
        row("attention", (), 0.1, 0.1, 3),
    ]
    best = recommended(ranking, "no")
    assert best is not None
    assert best["explanation"] == "leave_one_out"


def test_what_beats_random_words_and_passes_no_test_about_them_is_named_and_not_recommended() -> (
    None
):
    ranking = [row("lime", NOT_POINTING, 0.4, 2.0), row("attention", (), 0.1, 0.1, 3)]
    assert recommendation(ranking, "no") == (
        "Attention passes 0 of 4 tests; LIME beats random words, but passes neither "
        "comprehensiveness nor sufficiency: show none of it."
    )
    (step,) = next_steps(answers(), "no", 50, {"explanation_ranking": ranking})
    assert step.command == ""


def test_what_fails_for_a_class_is_not_recommended_before_what_does_not() -> None:
    failing = {**row("lime", ALL_TESTS, 0.4, 2.0), "failing_class": "spam"}
    sound = row("leave_one_out", ("sufficiency",), 0.3, 0.9, 2)
    attention = row("attention", (), 0.1, 0.1, 3)
    best = recommended([failing, sound, attention], "no")
    assert best is not None
    assert best["explanation"] == "leave_one_out"
    assert recommendation([failing, attention], "no") == (
        "Attention passes 0 of 4 tests; LIME beats random words, but points at the wrong words of "
        "texts predicted 'spam': show none of it."
    )
    (step,) = next_steps(answers(), "no", 50, {"explanation_ranking": [failing, attention]})
    assert step.command == ""


@pytest.mark.parametrize(
    ("decision", "failing", "reason"),
    [
        ("partly", "class:1", "points at the wrong words of "),
        ("no", "", "is not an explanation by its card"),
    ],
)
def test_attention_that_passes_as_much_is_passed_over_with_a_reason(
    decision: str, failing: str, reason: str
) -> None:
    attention = {**row("attention", ALL_TESTS, 0.2, 0.1), "failing_class": failing}
    ranking = [attention, row("lime", ("sufficiency",), 0.1, 1.0, 2)]
    sentence = recommendation(ranking, decision)
    assert sentence.startswith(f"Attention passes 4 of 4 tests, but {reason}")
    assert sentence.endswith("; LIME passes 1, at 1.00 s per text: show that instead.")


def test_rankings_of_which_only_some_rows_name_a_class_are_read() -> None:
    old = {**row("attention", ALL_TESTS, 0.2, 0.1), "failing_class": float("nan")}
    assert recommendation([old], "partly").startswith("Attention passes 4 of 4 tests; no other")


def test_error_rates_are_not_stated_of_fewer_texts_than_they_were_measured_with() -> None:
    few = {**row("attention", ALL_TESTS, 0.2, 0.1), "texts": 19}
    said = [
        "models of known truth"
        in next_steps(answers(), "partly", 50, {"explanation_ranking": [r]})[0].text
        for r in (few, {**few, "texts": 20})
    ]
    assert said == [False, True]
