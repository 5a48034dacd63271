"""The rules of the card (docs/card.md) on both sides of every threshold, from made-up summaries."""

from __future__ import annotations

import json
import math
from itertools import permutations

import pandas as pd
import pytest

from attnaudit.auditing.audit import audit
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.results.card import Answer, Card
from attnaudit.results.questions import (
    NO,
    PARTLY,
    TOP_WORD_AGAINST,
    TOP_WORD_SUPPORT,
    TOP_WORDS_CONTRAST,
    TOP_WORDS_PLACE,
    UNKNOWN,
    YES,
    Question,
    Thresholds,
)
from attnaudit.results.results import Results
from attnaudit.results.rules import make_card

JUST = 1e-6
COUNT = 100


def line(
    name: str,
    mean: float,
    low: float | None = None,
    high: float | None = None,
    *,
    floor: float = 0.0,
    ceiling: float = 1.0,
    row: int = 0,
    group: str = "all",
    count: int = COUNT,
    undefined: float = 0.0,
) -> dict[str, object]:
    """name: audit/metric or audit/metric@measure, as a finding is called."""
    audit, _, rest = name.rpartition("/")
    metric, _, measure = rest.partition("@")
    low, high = mean if low is None else low, mean if high is None else high
    room = ceiling - floor
    relative = [(each - floor) / room if room else math.nan for each in (mean, low, high)]
    return {
        "audit": audit,
        "measure": measure,
        "metric": metric,
        "row": row,
        "group": group,
        "mean": mean,
        "low": low,
        "high": high,
        "sd": 0.1,
        "nan_share": undefined,
        "count": count,
        "floor": floor,
        "ceiling": ceiling,
        "relative": relative[0],
        "relative_low": min(relative[1:]),
        "relative_high": max(relative[1:]),
    }


COLUMNS = list(line("a/b", 0.0))


def card_of(*lines: dict[str, object], **about: object) -> Card:
    return make_card(pd.DataFrame(list(lines), columns=COLUMNS), about)


def answer(question: Question, *lines: dict[str, object]) -> Answer:
    return card_of(*lines)[question]


def shuffled(
    change: float, flips: float = 0.5, odds: float = 0.0, **where: object
) -> list[dict[str, object]]:
    """The three numbers of "does it matter?"."""
    values = {"tvd_median": change, "log_odds_median": odds, "flipped": flips}
    return [line(f"permutation/{name}", value, **where) for name, value in values.items()]  # type: ignore[arg-type]


def pointed(share: float, against: float = 0.0, **where: object) -> list[dict[str, object]]:
    """The numbers of "does it point at what the model uses?", on their relative scale."""
    return [
        line("top_words/searched_exactly", 1.0, **where),  # type: ignore[arg-type]
        line(TOP_WORDS_CONTRAST, 2 * share - 1, floor=-1.0, ceiling=1.0, **where),  # type: ignore[arg-type]
        line(TOP_WORDS_PLACE, share, **where),  # type: ignore[arg-type]
        line(TOP_WORD_AGAINST, against, **where),  # type: ignore[arg-type]
    ]


def far(share: float, upper: float | None = None, kind: str = "") -> list[dict[str, object]]:
    """The two numbers of "is it the only story?"; kind "strict_" for the same log-odds."""
    found = "strict_share" if kind else "jsd_share"
    return [
        line(f"furthest/{found}", share),
        line(f"furthest/{kind}upper_share", share if upper is None else upper),
    ]


def kept(share: float) -> list[dict[str, object]]:
    """The number of "is it stable?" under noise."""
    return [
        line("noise_stability/top_weight_kept", share),
        line("noise_stability/jsd_share", 0.0),
    ]


ENOUGH = {
    Question.NEEDED: [line("uniform_attention/accuracy_drop", 0.5)],
    Question.MATTERS: shuffled(0.5),
    Question.POINTS: pointed(1.0),
    Question.ONLY_STORY: far(0.1),
    Question.STABLE: kept(1.0),
}
ALL_YES = [each for lines in ENOUGH.values() for each in lines]


def both_sides(thresholds: Thresholds) -> list[tuple[float, str]]:
    """A value just on either side of both thresholds, and the answer it must get."""
    sign = 1 if thresholds.yes >= thresholds.no else -1
    sides = [(thresholds.yes + sign * JUST, YES), (thresholds.no - sign * JUST, NO)]
    if thresholds.yes != thresholds.no:
        sides += [(thresholds.yes - sign * JUST, PARTLY), (thresholds.no + sign * JUST, PARTLY)]
    return sides


# needed? ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", Question.NEEDED.thresholds)
def test_needed_is_decided_by_the_whole_interval(name: str) -> None:
    threshold = Question.NEEDED.thresholds[name].yes
    assert answer(Question.NEEDED, line(name, 0.3, threshold + JUST, 0.5)).answer == YES
    assert answer(Question.NEEDED, line(name, 0.3, threshold - JUST, 0.5)).answer == PARTLY
    assert answer(Question.NEEDED, line(name, 0.0, -0.1, threshold - JUST)).answer == NO


def test_lost_accuracy_outranks_changed_decisions() -> None:
    lines = (line("uniform_attention/flipped", 0.5), line("uniform_attention/accuracy_drop", 0.0))
    assert answer(Question.NEEDED, *lines).answer == NO
    assert len(answer(Question.NEEDED, *lines).findings) == 2


# does it matter? ----------------------------------------------------------------------------------


def test_it_matters_by_the_change_of_the_probabilities() -> None:
    for value, expected in both_sides(Question.MATTERS.thresholds["permutation/tvd_median"]):
        flips = 0.0 if expected == NO else 0.5
        assert answer(Question.MATTERS, *shuffled(value, flips)).answer == expected


def test_a_sure_model_is_not_excused_by_probabilities_that_hardly_move() -> None:
    for value, expected in both_sides(Question.MATTERS.thresholds["permutation/log_odds_median"]):
        flips = 0.0 if expected == NO else 0.5
        assert answer(Question.MATTERS, *shuffled(0.0, flips, value)).answer == expected


def test_a_median_of_zero_does_not_hide_changed_decisions() -> None:
    found = answer(Question.MATTERS, *shuffled(0.0, flips=0.3))
    assert found.answer == PARTLY
    assert "the median hides" in found.because


def test_a_large_change_without_one_changed_decision_is_no_clean_yes() -> None:
    found = answer(Question.MATTERS, *shuffled(0.3, flips=0.0))
    assert found.answer == PARTLY
    assert "hardly any decision depends on them" in found.because


def test_without_log_odds_and_flips_the_probabilities_decide_alone() -> None:
    assert answer(Question.MATTERS, line("permutation/tvd_median", 0.5)).answer == YES
    assert answer(Question.MATTERS, line("permutation/tvd_median", 0.0)).answer == NO


def test_removals_are_shown_next_to_the_shuffles_and_decide_nothing() -> None:
    removals = (line("top_item/flips_top", 1.0), line("flip_fraction/removed@attention", 0.0))
    found = answer(Question.MATTERS, *shuffled(0.0, 0.0), *removals)
    assert found.answer == NO
    assert [finding.name for finding in found.findings] == [
        *Question.MATTERS.thresholds,
        "top_item/flips_top",
        "flip_fraction/removed@attention",
    ]
    assert answer(Question.MATTERS, *removals).answer == UNKNOWN


# does it point at what the model uses? ------------------------------------------------------------


def test_it_points_by_the_place_between_random_and_best_words() -> None:
    for value, expected in both_sides(Question.POINTS.thresholds[TOP_WORDS_CONTRAST]):
        assert answer(Question.POINTS, *pointed(value)).answer == expected


def test_a_top_word_that_speaks_against_the_decision_is_no_yes() -> None:
    for value, expected in both_sides(Question.POINTS.thresholds[TOP_WORD_AGAINST]):
        found = answer(Question.POINTS, *pointed(1.0, value))
        assert found.answer == expected
        assert found.answer == YES or "speaks against the decision" in found.because


def test_texts_with_large_log_odds_do_not_speak_for_all() -> None:
    lines = pointed(1.0)
    lines[2] = line(TOP_WORDS_PLACE, 0.2)
    assert answer(Question.POINTS, *lines).answer == NO


def test_a_top_word_that_does_nothing_is_no_clean_yes() -> None:
    idle = line(TOP_WORD_SUPPORT, 0.1, floor=0.0, ceiling=2.0)
    found = answer(Question.POINTS, *pointed(1.0), idle)
    assert found.answer == PARTLY
    assert "itself hardly counts" in found.because
    assert answer(Question.POINTS, *pointed(0.0), idle).answer == NO
    assert (
        answer(Question.POINTS, *pointed(1.0), line(TOP_WORD_SUPPORT, 1.0, ceiling=2.0)).answer
        == YES
    )


def test_words_against_the_decision_are_denied_as_such() -> None:
    card = with_answers(points=pointed(1.0, 0.9))
    assert card.verdict == (
        "Not as an explanation: it points at words that speak against the decision."
    )


def test_known_evidence_decides_nothing_about_what_the_model_uses() -> None:
    evidence = [line("evidence/hit@attention", 1.0), line("evidence/mass@attention", 1.0)]
    assert answer(Question.POINTS, *pointed(0.0), *evidence).answer == NO
    assert answer(Question.POINTS, *evidence).answer == UNKNOWN


def test_agreement_is_shown_and_decides_nothing() -> None:
    taus = [line(f"agreement/tau@{name}", 1.0) for name in ("leave_one_out", "gradient")]
    found = answer(Question.POINTS, *pointed(0.0), *taus)
    assert found.answer == NO
    assert [each.name for each in found.findings[-2:]] == [
        "agreement/tau@leave_one_out",
        "agreement/tau@gradient",
    ]
    assert answer(Question.POINTS, *taus).answer == UNKNOWN


def test_values_undefined_for_more_than_half_of_the_texts_tried_decide_nothing() -> None:
    """The audit tries only some texts: those it did not try are not undefined."""
    tried = line("top_words/searched_exactly", 1.0, undefined=0.4)
    others = pointed(1.0)[1:]
    others[0]["nan_share"] = others[1]["nan_share"] = 0.8
    found = answer(Question.POINTS, tried, *others)
    assert found.answer == UNKNOWN
    assert "only 33 % of the texts tried" in found.because
    others[0]["nan_share"] = others[1]["nan_share"] = 0.7 - JUST
    assert answer(Question.POINTS, tried, *others).answer == YES


def test_texts_that_were_not_tried_are_not_undefined() -> None:
    lines = [{**each, "nan_share": 0.6} for each in pointed(1.0)]
    finding = answer(Question.POINTS, *lines).findings[0]
    assert finding.nan_share == 0
    assert finding.note == "from 40 of 100 texts"


def test_where_no_few_words_decide_nothing_can_be_pointed_at() -> None:
    flat = [
        line("top_words/searched_exactly", 1.0),
        line(TOP_WORDS_CONTRAST, 0.1, floor=-0.09, ceiling=0.1),
    ]
    found = answer(Question.POINTS, *flat)
    assert found.answer == UNKNOWN
    assert "no few words decide" in found.because


def test_the_reason_says_how_far_both_go() -> None:
    both = [
        line("top_words/comprehensiveness@attention", 1.0, floor=0.0, ceiling=2.0),
        line("top_words/sufficiency@attention", 2.5, floor=3.0, ceiling=1.0),
    ]
    because = answer(Question.POINTS, *pointed(0.4), *both).because
    assert "40 % (40 % in the mean text) of the way from random to the best words" in because
    assert "50 % when left out, 25 % when kept alone" in because
    assert (
        "are 0 % (0 % in the mean text) of the way"
        in answer(Question.POINTS, *pointed(-0.5)).because
    )


def test_what_leave_one_out_reaches_is_shown_and_decides_nothing() -> None:
    within_reach = line("top_words/contrast@leave_one_out", 0.8)
    for place in (0.2, 0.4, 0.9):
        alone = answer(Question.POINTS, *pointed(place))
        found = answer(Question.POINTS, *pointed(place), within_reach)
        assert found.answer == alone.answer
        assert "(leave-one-out's words: 80 %)" in found.because
        assert "leave-one-out" not in alone.because


# is it the only story? ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["", "strict_"])
def test_it_is_the_only_story_if_none_is_far_and_not_if_a_far_one_was_found(kind: str) -> None:
    for value, expected in both_sides(Question.ONLY_STORY.thresholds["furthest/jsd_share"]):
        assert answer(Question.ONLY_STORY, *far(value, kind=kind)).answer == expected
    found, upper = far(0.1, 1.0, kind)
    assert answer(Question.ONLY_STORY, found, upper).answer == PARTLY
    assert answer(Question.ONLY_STORY, found).answer == UNKNOWN
    assert answer(Question.ONLY_STORY, upper).answer == UNKNOWN


def test_the_same_log_odds_outrank_the_same_probabilities() -> None:
    found = answer(Question.ONLY_STORY, *far(0.9), *far(0.1, kind="strict_"))
    assert found.answer == YES
    assert [each.name for each in found.findings] == ["furthest/strict_share", "furthest/jsd_share"]
    undefined = [{**each, "nan_share": 0.6} for each in far(0.1, kind="strict_")]
    assert answer(Question.ONLY_STORY, *far(0.9), *undefined).answer == NO


def test_an_upper_bound_that_is_reached_is_not_shown_twice() -> None:
    lines = [*far(0.5), line("furthest/jsd", 0.3)]
    found = answer(Question.ONLY_STORY, *lines)
    assert [each.name for each in found.findings] == ["furthest/jsd_share", "furthest/jsd"]
    assert found.because.endswith("50 % of the maximum distance away")


def test_where_no_other_attention_is_possible_the_card_says_so() -> None:
    """Texts of one word: the share of the furthest possible is 0/0."""
    nothing = [{**each, "nan_share": 1.0} for each in far(math.nan)]
    found = answer(Question.ONLY_STORY, line("furthest/jsd", 0.0), *nothing)
    assert found.answer == UNKNOWN
    assert found.because == "no text has a second word to attend to"


def test_a_bound_that_is_not_reached_is_said() -> None:
    found = answer(Question.ONLY_STORY, *far(0.5, 1.0))
    assert found.answer == PARTLY
    assert "may have missed a further one" in found.because


# is it stable? ------------------------------------------------------------------------------------


def test_it_is_stable_by_the_top_words_that_stay_under_noise() -> None:
    for value, expected in both_sides(
        Question.STABLE.thresholds["noise_stability/top_weight_kept"]
    ):
        assert answer(Question.STABLE, *kept(value)).answer == expected


def test_it_is_not_stable_if_the_weights_move_among_the_top_words() -> None:
    for value, expected in both_sides(Question.STABLE.thresholds["noise_stability/jsd_share"]):
        moved = [kept(1.0)[0], line("noise_stability/jsd_share", value)]
        found = answer(Question.STABLE, *moved)
        assert found.answer == expected
        assert expected == YES or found.findings[0].name == "noise_stability/jsd_share"


def test_another_training_can_only_make_it_worse() -> None:
    near, distant = (
        [line("stability/jsd_share", share), line("stability/tau", 0.9)] for share in (0.1, 0.9)
    )
    assert answer(Question.STABLE, *kept(1.0), *near).answer == YES
    assert answer(Question.STABLE, *kept(1.0), *distant).answer == NO
    assert answer(Question.STABLE, *kept(0.1), *near).answer == NO
    assert answer(Question.STABLE, *near).answer == YES


@pytest.mark.parametrize(("tau", "expected"), [(0.1, PARTLY), (0.9, YES)])
def test_nearly_uniform_attention_needs_the_same_ranking_too(tau: float, expected: str) -> None:
    lines = [line("stability/jsd_share", 0.1), line("stability/tau", tau)]
    assert answer(Question.STABLE, *lines).answer == expected


@pytest.mark.parametrize(("same", "said"), [(0.5, True), (0.95, False)])
def test_other_decisions_of_another_training_are_said(same: float, said: bool) -> None:
    lines = [
        line("stability/jsd_share", 0.1),
        line("stability/tau", 0.9),
        line("stability/same_decision", same),
    ]
    found = answer(Question.STABLE, *lines)
    assert ("only 50 % of the decisions are the same" in found.because) == said


@pytest.mark.parametrize(
    ("about", "named"),
    [
        ({"run": {"choices": {"dataset": "sst"}}}, "--other-seeds"),
        ({"texts": {"file": "reviews.csv"}}, "--other-models"),
        ({"texts": {"file": "reviews.csv"}, "run": {"format": 1}}, "--other-models"),  # read back
        ({"run": {"format": 1}}, "other_models=[…]"),
        ({}, "other_models=[…]"),
    ],
)
def test_only_the_interface_in_use_is_named(about: dict[str, object], named: str) -> None:
    because = card_of(*kept(1.0), **about)[Question.STABLE].because
    assert [
        way for way in ("--other-seeds", "--other-models", "other_models=[…]") if way in because
    ] == [named]


# is it plausible? ---------------------------------------------------------------------------------


def test_plausible_is_asked_only_with_evidence_and_decides_nothing() -> None:
    assert card_of(*ALL_YES).decision == YES
    with pytest.raises(KeyError):
        card_of(*ALL_YES)[Question.PLAUSIBLE]
    for hit, expected in ((0.95, YES), (0.5, PARTLY), (0.1, NO)):
        card = card_of(*ALL_YES, line("evidence/hit@attention", hit))
        assert card[Question.PLAUSIBLE].answer == expected
        assert card.decision == YES


def test_hits_are_measured_from_the_random_floor() -> None:
    """0.8 is a yes above a floor of 0, and partly above one of 0.3: (0.8 - 0.3) / 0.7 = 0.71."""
    assert answer(Question.PLAUSIBLE, line("evidence/hit@attention", 0.8)).answer == YES
    found = answer(Question.PLAUSIBLE, line("evidence/hit@attention", 0.8, floor=0.3))
    assert found.answer == PARTLY
    assert found.because.startswith("71 %")


# every group --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "good", "bad"),
    [
        (Question.MATTERS, shuffled(0.5), shuffled(0.0, group="b")),
        (Question.POINTS, pointed(1.0), pointed(0.0, group="b")),
        (Question.POINTS, pointed(1.0), pointed(1.0, 0.9, group="b")),
    ],
)
def test_one_class_against_it_is_no_clean_yes(
    question: Question, good: list[dict[str, object]], bad: list[dict[str, object]]
) -> None:
    as_good = [{**each, "group": "a"} for each in good]
    assert answer(question, *good, *as_good).answer == YES
    found = answer(question, *good, *as_good, *bad)
    assert found.answer == PARTLY
    assert "predicted 'b'" in found.because
    assert "predicted 'b'" in found.partly
    few = [{**each, "count": 9} for each in bad]
    assert answer(question, *good, *as_good, *few).answer == YES


def test_a_large_class_with_too_few_texts_to_judge_leaves_a_yes_open() -> None:
    lines = (
        shuffled(0.5, count=18),
        shuffled(0.5, group="a", count=9),
        shuffled(0.5, group="b", count=9),
    )
    found = answer(Question.MATTERS, *(each for group in lines for each in group))
    assert (found.answer, found.is_open) == (PARTLY, True)
    assert "a no cannot be ruled out" in found.because


def test_a_class_whose_interval_reaches_a_no_leaves_the_question_open() -> None:
    wide = [{**each, "group": "b"} for each in shuffled(0.5)]
    wide[0]["low"] = 0.0
    found = answer(Question.MATTERS, *shuffled(0.5), *wide)
    assert found.answer == PARTLY
    unknown = [{**each, "relative_low": math.nan} for each in pointed(1.0, group="b")]
    assert answer(Question.POINTS, *pointed(1.0), *unknown).answer == PARTLY
    assert found.is_open
    assert "a no cannot be ruled out" in found.because


def test_an_other_story_for_one_class_is_no_clean_yes() -> None:
    of_class = [{**each, "group": "b"} for each in far(0.9)]
    found = answer(Question.ONLY_STORY, *far(0.1), *of_class)
    assert found.answer == PARTLY
    assert "predicted 'b'" in found.because


@pytest.mark.parametrize("group", ["right decisions", "wrong decisions"])
def test_right_and_wrong_decisions_are_groups_like_classes(group: str) -> None:
    found = answer(Question.MATTERS, *shuffled(0.5), *shuffled(0.0, group=group))
    assert found.answer == PARTLY
    assert f"but not for {group}" in found.because
    assert f"for {group} the weights barely matter" in found.partly


def test_accuracy_is_not_judged_among_wrong_decisions() -> None:
    """Uniform attention can lose none of them: a rule that asked would never say yes."""
    name = "uniform_attention/accuracy_drop"
    lines = [line(name, 0.5), line(name, 0.5, group="a"), line(name, -0.5, group="wrong decisions")]
    assert answer(Question.NEEDED, *lines).answer == YES
    assert answer(Question.NEEDED, *lines, line(name, -0.5, group="b")).answer == PARTLY


def test_a_class_with_few_texts_is_named() -> None:
    small = {**line("permutation/tvd_median", 0.5, group="rare"), "count": 3}
    card = card_of(*shuffled(0.5), *shuffled(0.5, group="usual"), small)
    assert any("'rare'" in each for each in card.cautions)


# The verdict --------------------------------------------------------------------------------------


def with_answers(**lines: list[dict[str, object]]) -> Card:
    """A card of five yes but for the questions given by their keys."""
    chosen = {question.key: made for question, made in ENOUGH.items()} | lines
    return card_of(*(each for made in chosen.values() for each in made))


def test_five_yes_are_a_yes_and_a_next_step() -> None:
    card = with_answers()
    assert card.decision == YES
    assert card.verdict == (
        "Yes, for this model and texts like these: attention matters, points at the words the "
        "model uses, is the only story and is stable."
    )
    assert card.next_step.startswith("Next: ")
    assert str(card).splitlines()[:2] == [card.verdict, card.next_step]


@pytest.mark.parametrize(
    ("lines", "decision", "start"),
    [
        (
            {"matters": shuffled(0.0, 0.0)},
            NO,
            "Not as an explanation: other weights would barely change the prediction.",
        ),
        (
            {"points": pointed(0.0)},
            NO,
            "Not as an explanation: it does not point at the words the model uses.",
        ),
        (
            {"only_story": far(0.9)},
            PARTLY,
            "Not on its own: very different attention gives the same prediction.",
        ),
        (
            {"stable": kept(0.1)},
            PARTLY,
            "Not on its own: it changes with the least noise or with another training.",
        ),
        ({"needed": [line("uniform_attention/accuracy_drop", 0.0)]}, YES, "Yes, for this model"),
        (
            {"points": [], "only_story": far(0.5)},
            UNKNOWN,
            "Cannot tell whether attention points at the words the model uses; other attention "
            "fits the same prediction almost as well (50 % of the maximum distance).",
        ),
        ({"points": pointed(0.0), "matters": []}, NO, "Not as an explanation"),
    ],
)
def test_the_verdict_follows_from_the_answers(
    lines: dict[str, list[dict[str, object]]], decision: str, start: str
) -> None:
    card = with_answers(**lines)
    assert card.decision == decision
    assert card.verdict.startswith(start)
    assert card.next_step.startswith("Next: ")


def test_the_verdict_says_that_an_answer_is_open_rather_than_call_it_half_true() -> None:
    wide = shuffled(0.5)
    wide[0] |= {"low": 0.0, "high": 0.9}
    card = with_answers(matters=wide)
    assert "is unclear (the interval is too wide)" in card.verdict
    assert "only in part" not in card.verdict
    assert "audit more texts" in card.next_step


def test_fewer_than_ten_values_decide_nothing() -> None:
    for count, undefined, expected in ((9, 0.0, UNKNOWN), (10, 0.0, YES), (100, 0.96, UNKNOWN)):
        found = answer(Question.MATTERS, *shuffled(0.5, count=count, undefined=undefined))
        assert found.answer == expected
        assert expected == YES or "too few values" in found.because


# cannot tell --------------------------------------------------------------------------------------


def test_without_audits_every_answer_is_unknown() -> None:
    card = card_of()
    assert [each.question for each in card.answers] == [question.wording for question in ENOUGH]
    assert {each.answer for each in card.answers} == {UNKNOWN}
    assert all(each.because and each.blind for each in card.answers)


@pytest.mark.parametrize("missing", ENOUGH)
def test_only_the_question_whose_audit_did_not_run_is_unknown(missing: Question) -> None:
    card = with_answers(**{missing.key: []})
    for question in ENOUGH:
        assert card[question].answer == (UNKNOWN if question == missing else YES)


@pytest.mark.parametrize("question", ENOUGH)
def test_an_audit_without_one_defined_value_is_as_good_as_not_run(question: Question) -> None:
    ends = ("mean", "low", "high", "relative", "relative_low", "relative_high")
    nothing = [{**each, **dict.fromkeys(ends, math.nan)} for each in ENOUGH[question]]
    assert answer(question, *nothing).answer == UNKNOWN


# Which line of the summary is read ----------------------------------------------------------------


def test_the_overall_group_decides_and_is_needed() -> None:
    by_class = [*shuffled(0.5, group="0"), *shuffled(0.5, group="1")]
    assert answer(Question.MATTERS, *by_class).answer == UNKNOWN
    assert answer(Question.MATTERS, *by_class, *shuffled(0.5)).answer == YES


def test_the_mean_over_rows_stands_for_the_rows() -> None:
    lines = [
        line("evidence/hit@attention", value, row=row)
        for row, value in ((0, 0.0), (1, 1.0), (-1, 0.9))
    ]
    for order in permutations(lines):
        found = answer(Question.PLAUSIBLE, *order)
        assert found.answer == YES
        assert found.findings[0].value == 0.9


def test_an_audit_with_options_answers_for_the_audit() -> None:
    with_options = [{**each, "audit": "furthest:epsilon=0.05"} for each in far(0.8)]
    assert answer(Question.ONLY_STORY, *with_options).answer == NO


def test_an_audit_of_something_else_than_attention_answers_nothing() -> None:
    other = [{**each, "audit": "furthest:of=head_mean"} for each in far(0.8)]
    assert answer(Question.ONLY_STORY, *other).answer == UNKNOWN


@pytest.mark.parametrize("options", ["epsilon=0.2", "fidelity=code"])
def test_of_one_audit_run_twice_the_one_without_options_answers_whatever_the_order(
    options: str,
) -> None:
    """The numbers are of one audit, whatever the order of the lines."""
    other = [{**each, "audit": f"furthest:{options}"} for each in far(0.8, 0.9)]
    for order in permutations([*far(0.1), *other]):
        assert answer(Question.ONLY_STORY, *order).answer == YES


def test_categorical_columns_as_in_a_stored_summary_are_read_alike() -> None:
    frame = pd.DataFrame(ALL_YES)
    stored = frame.astype(dict.fromkeys(("audit", "measure", "metric", "group"), "category"))
    assert str(make_card(stored, {})) == str(make_card(frame, {}))


# How it is shown ----------------------------------------------------------------------------------


def test_the_card_prints_every_answer_with_its_numbers_bounds_and_blind_spot() -> None:
    card = card_of(line("permutation/tvd_median", 0.4567, 0.4, 0.5, ceiling=math.nan))
    text = str(card)
    assert "YES: shuffling the weights changes the probabilities by 0.46" in text
    assert "when the weights are shuffled: 0.46 [0.40, 0.50] (floor 0.00, ceiling –)" in text
    assert "cannot see: whether the weights are on the right words" in text
    assert "CANNOT TELL: the audit uniform_attention was not run" in text
    assert text.count("cannot see:") == 5


def test_only_the_number_that_decides_is_marked() -> None:
    text = str(card_of(*shuffled(0.5), line("agreement/tau@gradient", 0.5)))
    marked = [each for each in text.splitlines() if "→" in each]
    assert len(marked) == 1  # an answer that cannot be given has no number that decides
    assert "shuffled: 0.50" in marked[0]


def test_the_card_is_json_and_keeps_every_number() -> None:
    card = card_of(*ALL_YES)
    again = json.loads(json.dumps(card.as_dict(), allow_nan=False))
    assert (again["rules"], again["decision"]) == (2, YES)
    assert again["next_step"] == card.next_step
    assert [each["question"] for each in again["questions"]] == [each.wording for each in ENOUGH]
    matters = again["questions"][1]
    assert matters["answer"] == YES
    assert matters["findings"][0] == {
        "name": "permutation/tvd_median",
        "meaning": "median change of the probabilities when the weights are shuffled",
        "value": 0.5,
        "low": 0.5,
        "high": 0.5,
        "floor": 0.0,
        "ceiling": 1.0,
        "nan_share": 0.0,
        "compared": 1.0,
        "note": "",
        "relative": 0.5,
        "relative_low": 0.5,
        "relative_high": 0.5,
    }
    assert again["accuracy"] == "Accuracy unknown: no labels."


def test_a_question_that_is_not_on_the_card_is_rejected_by_name() -> None:
    with pytest.raises(KeyError, match="is it true"):
        card_of()["is it true?"]


# Whole audits -------------------------------------------------------------------------------------


def test_one_text_decides_nothing() -> None:
    card = audit(Glass("inert"), glass_batch(1), show_progress=False).card()
    assert {answer.answer for answer in card.answers} == {UNKNOWN}
    assert "one example was audited" in card.cautions[0]


def test_the_same_model_given_as_another_training_is_cautioned_against() -> None:
    results = audit(
        Glass("oracle"),
        glass_batch(60),
        audits=["permutation"],
        measures=["random"],
        other_models=[Glass("oracle")],
        show_progress=False,
    )
    assert any("not the same model" in caution for caution in results.card().cautions)


# Accuracy and cautions ----------------------------------------------------------------------------


def test_accuracy_stands_under_the_verdict_next_to_its_baseline() -> None:
    right = line("uniform_attention/correct", 0.8, 0.7, 0.9)
    lines = str(card_of(right, majority=0.5)).splitlines()
    assert "Accuracy 0.80 [0.70, 0.90] on 100 texts; majority-class baseline 0.50." in lines
    assert "Accuracy unknown: no labels." in str(card_of()).splitlines()


@pytest.mark.parametrize(
    ("value", "low", "said"),
    [
        (0.8, 0.6, None),
        (0.8, 0.5, "barely better"),
        (0.5, 0.4, "not better"),
        (0.4, 0.3, "not better"),
    ],
)
def test_a_model_no_better_than_the_majority_class_is_a_caution(
    value: float, low: float, said: str | None
) -> None:
    card = card_of(line("uniform_attention/correct", value, low, 0.9), majority=0.5)
    cautions = [each for each in card.cautions if "majority-class baseline" in each]
    assert [said in each for each in cautions if said] == ([True] if said else [])
    assert len(cautions) == (said is not None)


@pytest.mark.parametrize(
    ("cut", "count", "start"),
    [
        (1, 1, "1 of 1 text is longer than the model can read and was cut"),
        (1, 3, "1 of 3 texts is longer than the model can read and was cut"),
        (2, 3, "2 of 3 texts are longer than the model can read and were cut"),
    ],
)
def test_cut_texts_are_counted_in_good_grammar(cut: int, count: int, start: str) -> None:
    card = card_of({**line("permutation/tvd_median", 0.5), "count": count}, truncated=cut)
    assert start in card.cautions


def _audited(count: int, *, labels: bool = True, audits: list[str] | None = None) -> Results:
    batch = glass_batch(count)
    if not labels:
        batch = type(batch)(**{**vars(batch), "labels": None})
    return audit(Glass("oracle"), batch, audits=audits, measures=["random"], show_progress=False)


def test_accuracy_is_shown_whichever_audits_ran() -> None:
    usual = _audited(40, audits=["uniform_attention"]).card().accuracy
    assert usual.startswith("Accuracy 1.00 [0.91, 1.00] on 40 texts")
    assert _audited(40, audits=["permutation"]).card().accuracy == usual
    assert (
        _audited(1, audits=["permutation"]).card().accuracy.startswith("Accuracy 1.00 on 1 text;")
    )
    assert _audited(40, labels=False).card().accuracy == "Accuracy unknown: no labels."


def test_an_audit_that_does_not_apply_is_not_said_to_be_missing() -> None:
    nothing = pd.DataFrame(columns=["audit", "measure", "metric", "row", "group", "count"])
    about = {"not_applicable": {"furthest": "no text has two words"}}
    because = {answer.question: answer.because for answer in make_card(nothing, about).answers}
    assert "does not apply: no text has two words" in because["is it the only story?"]
    assert "permutation was not run" in because["does it matter?"]
