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
from attnaudit.results.card_rules import make_card
from attnaudit.results.questions import NO, PARTLY, UNKNOWN, YES
from attnaudit.results.results import Results

JUST = 1e-6
NEEDED, MATTERS, POINTS, ONLY, STABLE = (
    "needed?",
    "does it matter?",
    "does it point at what matters?",
    "is it the only story?",
    "is it stable?",
)


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
) -> dict[str, object]:
    """name: audit/metric or audit/metric@measure, as a finding is called."""
    audit, _, rest = name.rpartition("/")
    metric, _, measure = rest.partition("@")
    return {
        "audit": audit,
        "measure": measure,
        "metric": metric,
        "row": row,
        "group": group,
        "mean": mean,
        "low": mean if low is None else low,
        "high": mean if high is None else high,
        "sd": 0.1,
        "nan_share": 0.25,
        "count": 10,
        "floor": floor,
        "ceiling": ceiling,
    }


COLUMNS = list(line("a/b", 0.0))


def card_of(*lines: dict[str, object], **about: object) -> Card:
    return make_card(pd.DataFrame(list(lines), columns=COLUMNS), about)


def answer(question: str, *lines: dict[str, object]) -> Answer:
    return card_of(*lines)[question]


# needed? ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["accuracy_drop", "flipped"])
@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.02 + JUST, 0.5, YES),
        (0.02, 0.5, PARTLY),
        (0.01, 0.02, PARTLY),
        (-0.1, 0.02 - JUST, NO),
        (-0.1, 0.5, PARTLY),
    ],
)
def test_needed_is_decided_by_the_whole_interval_at_2_percent(
    metric: str, low: float, high: float, expected: str
) -> None:
    found = answer(NEEDED, line(f"uniform_attention/{metric}", (low + high) / 2, low, high))
    assert found.answer == expected
    assert [finding.name for finding in found.findings] == [f"uniform_attention/{metric}"]


def test_lost_accuracy_outranks_changed_decisions() -> None:
    lines = (line("uniform_attention/flipped", 0.5), line("uniform_attention/accuracy_drop", 0.0))
    assert answer(NEEDED, *lines).answer == NO
    assert len(answer(NEEDED, *lines).findings) == 2


# does it matter? ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.1 + JUST, 0.3, YES),
        (0.1, 0.3, PARTLY),
        (0.01, 0.02, PARTLY),
        (0.0, 0.02 - JUST, NO),
        (0.0, 0.9, PARTLY),
    ],
)
def test_it_matters_if_shuffling_moves_more_than_a_tenth_and_not_below_2_percent(
    low: float, high: float, expected: str
) -> None:
    assert (
        answer(MATTERS, line("permutation/tvd_median", (low + high) / 2, low, high)).answer
        == expected
    )


def test_removals_are_shown_next_to_the_shuffles_and_decide_nothing() -> None:
    removals = (line("top_item/flips_top", 1.0), line("flip_fraction/removed@attention", 0.0))
    found = answer(MATTERS, line("permutation/tvd_median", 0.0), *removals)
    assert found.answer == NO
    assert [finding.name for finding in found.findings] == [
        "permutation/tvd_median",
        "top_item/flips_top",
        "flip_fraction/removed@attention",
    ]
    assert answer(MATTERS, *removals).answer == UNKNOWN
    assert len(answer(MATTERS, *removals).findings) == 2


# does it point at what matters? -------------------------------------------------------------------


def between(floor: float, ceiling: float, share: float) -> float:
    return floor + share * (ceiling - floor)


SHARES = [
    (0.75 + JUST, 1.0, YES),
    (0.75 - JUST, 1.0, PARTLY),
    (0.0, 0.4 - JUST, NO),
    (0.0, 0.4 + JUST, PARTLY),
    (-0.5, -0.1, NO),
    (0.5, 0.6, PARTLY),
]


@pytest.mark.parametrize(("floor", "ceiling"), [(0.0, 1.0), (0.1, 1.0), (-0.05, 0.3)])
@pytest.mark.parametrize(("low", "high", "expected"), SHARES)
@pytest.mark.parametrize(
    "name", ["evidence/hit@attention", "agreement/tau@gradient", "agreement/tau@leave_one_out"]
)
def test_it_points_right_above_three_quarters_and_wrong_below_four_tenths_of_the_way_to_the_ceiling(
    name: str, low: float, high: float, expected: str, floor: float, ceiling: float
) -> None:
    low, high = (between(floor, ceiling, share) for share in (low, high))
    only = line(name, (low + high) / 2, low, high, floor=floor, ceiling=ceiling)
    assert answer(POINTS, only).answer == expected


@pytest.mark.parametrize(("hit", "expected"), [(0.95, YES), (0.5, PARTLY), (0.1, NO)])
@pytest.mark.parametrize("other", [0.0, 1.0])
def test_known_evidence_decides_by_hits_whatever_mass_auprc_and_agreement_say(
    hit: float, expected: str, other: float
) -> None:
    found = answer(
        POINTS,
        line("evidence/auprc@attention", other),
        line("evidence/mass@attention", other),
        line("agreement/tau@gradient", other),
        line("agreement/tau@leave_one_out", other),
        line("evidence/hit@attention", hit),
        line("evidence/hit@gradient", other),
    )
    assert found.answer == expected
    assert [finding.name for finding in found.findings] == [
        "evidence/hit@attention",
        "evidence/mass@attention",
        "evidence/auprc@attention",
        "agreement/tau@leave_one_out",
        "agreement/tau@gradient",
    ]


def test_hits_are_measured_from_the_random_floor() -> None:
    """0.8 is a yes above a floor of 0, and partly above one of 0.3: (0.8 - 0.3) / 0.7 = 0.71."""
    assert answer(POINTS, line("evidence/hit@attention", 0.8, floor=0.0)).answer == YES
    found = answer(POINTS, line("evidence/hit@attention", 0.8, floor=0.3))
    assert found.answer == PARTLY
    assert found.because.startswith("71 %")


@pytest.mark.parametrize(("loo", "grad"), [(0.1, 0.9), (0.9, 0.1)])
def test_without_evidence_the_less_favourable_measure_decides(loo: float, grad: float) -> None:
    found = answer(
        POINTS, line("agreement/tau@leave_one_out", loo), line("agreement/tau@gradient", grad)
    )
    assert found.answer == NO
    assert len(found.findings) == 2


def test_agreement_with_what_is_made_of_attention_or_random_is_no_witness() -> None:
    lines = [
        line(f"agreement/tau@{m}", 1.0)
        for m in ("attention_gradient", "attention_times_gradient", "random")
    ]
    assert answer(POINTS, *lines).answer == UNKNOWN


@pytest.mark.parametrize("name", ["evidence/hit@attention", "agreement/tau@gradient"])
@pytest.mark.parametrize(
    ("floor", "ceiling"), [(0.5, 0.52 - JUST), (0.5, 0.4), (math.nan, 1.0), (0.0, math.nan)]
)
def test_a_floor_and_a_ceiling_that_are_too_close_decide_nothing(
    name: str, floor: float, ceiling: float
) -> None:
    assert answer(POINTS, line(name, 0.6, floor=floor, ceiling=ceiling)).answer == UNKNOWN
    assert answer(POINTS, line(name, 0.53, floor=0.5, ceiling=0.52 + 2 * JUST)).answer == YES


def test_worse_than_random_is_said_so() -> None:
    assert (
        answer(POINTS, line("evidence/hit@attention", 0.0, floor=0.1)).because
        == "no better than random"
    )


# is it the only story? ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "upper_high", "expected"),
    [
        (0.65 + JUST, 1.0, NO),
        (0.65, 1.0, PARTLY),
        (0.1, 0.35 - JUST, YES),
        (0.1, 0.35, PARTLY),
        (0.1, 1.0, PARTLY),
    ],
)
def test_it_is_the_only_story_if_none_is_far_and_not_if_a_far_one_was_found(
    low: float, upper_high: float, expected: str
) -> None:
    share = line("furthest/jsd_share", low + 0.02, low, low + 0.04)
    upper = line("furthest/upper_share", upper_high - 0.02, upper_high - 0.04, upper_high)
    assert answer(ONLY, share, upper).answer == expected
    assert answer(ONLY, share).answer == UNKNOWN
    assert answer(ONLY, upper).answer == UNKNOWN


def test_the_distance_is_said_in_percent_of_the_furthest_any_attention_could_be() -> None:
    found = answer(ONLY, line("furthest/jsd_share", 0.5), line("furthest/upper_share", 0.6))
    assert "50 % of the maximum distance away" in found.because
    assert [finding.name for finding in found.findings] == [
        "furthest/jsd_share",
        "furthest/upper_share",
    ]


def test_an_upper_bound_that_is_reached_is_not_shown_twice() -> None:
    found = answer(
        ONLY,
        line("furthest/jsd_share", 0.5),
        line("furthest/upper_share", 0.5),
        line("furthest/jsd", 0.3),
    )
    assert [finding.name for finding in found.findings] == ["furthest/jsd_share", "furthest/jsd"]


def test_where_no_other_attention_is_possible_the_card_says_so() -> None:
    """Texts of one word: the share of the furthest possible is 0/0."""
    nothing = [line(f"furthest/{name}", math.nan) for name in ("jsd_share", "upper_share")]
    found = answer(ONLY, line("furthest/jsd", 0.0), *nothing)
    assert found.answer == UNKNOWN
    assert found.because == "no text has a second word to attend to"


def test_measures_that_do_not_agree_with_each_other_cannot_judge_attention() -> None:
    found = answer(POINTS, line("agreement/tau@gradient", 0.18, ceiling=0.19))
    assert found.answer == UNKNOWN
    assert "barely agree with each other (tau 0.190, below 0.2)" in found.because
    assert answer(POINTS, line("agreement/tau@gradient", 0.19, ceiling=0.21)).answer == YES


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("gradient", "with gradients more than gradients and leave-one-out"),
        ("leave_one_out", "with leave-one-out more than leave-one-out and gradients"),
    ],
)
def test_a_value_above_its_ceiling_is_explained(measure: str, words: str) -> None:
    note = f"above the ceiling: attention agrees {words} agree with each other"
    card = card_of(line(f"agreement/tau@{measure}", 0.6, ceiling=0.5))
    assert card[POINTS].answer == YES
    assert card[POINTS].because == note
    assert card[POINTS].findings[0].note == note
    assert f"(floor 0.00, ceiling 0.50); {note}" in str(card)
    at_ceiling = answer(POINTS, line(f"agreement/tau@{measure}", 0.5, ceiling=0.5))
    assert "as well as they agree with each other" in at_ceiling.because
    assert at_ceiling.findings[0].note == ""


def test_a_value_above_its_ceiling_is_explained_also_where_it_does_not_decide() -> None:
    lines = (
        line("agreement/tau@gradient", 0.6, ceiling=0.5),
        line("agreement/tau@leave_one_out", 0.1, ceiling=0.5),
    )
    deciding, other = answer(POINTS, *lines).findings
    assert deciding.note == ""
    assert other.note.startswith("above the ceiling")


@pytest.mark.parametrize(
    ("matters", "points", "only", "start"),
    [
        (0.5, 1.0, 0.1, "Yes, for this model"),
        (0.0, 1.0, 0.1, "Not as an explanation: other weights would barely change the prediction."),
        (
            0.5,
            0.0,
            0.9,
            "Not as an explanation: it does not point at what matters and very different attention "
            "gives the same prediction.",
        ),
        (
            0.5,
            1.0,
            0.64,
            "Not on its own: other attention fits the same prediction almost as well (64 % of the "
            "maximum distance).",
        ),
        (
            0.05,
            0.5,
            0.1,
            "Not on its own: the weights matter only in part (shuffling them changes the "
            "probabilities by 0.05) and it points at "
            "what matters only in part (50 % of the way from random to the best possible).",
        ),
    ],
)
def test_the_verdict_is_yes_only_if_all_three_are(
    matters: float, points: float, only: float, start: str
) -> None:
    card = card_of(
        line("permutation/tvd_median", matters),
        line("evidence/hit@attention", points),
        line("furthest/jsd_share", only),
        line("furthest/upper_share", only),
    )
    assert card.verdict.startswith(start)
    assert str(card).startswith(start)


@pytest.mark.parametrize(
    ("low", "high", "open_"),
    [
        (0.02, 0.1, False),
        (0.03, 0.09, False),
        (0.01, 0.05, True),
        (0.05, 0.2, True),
        (0.0, 1.0, True),
    ],
)
def test_partly_for_sure_and_partly_for_want_of_examples(
    low: float, high: float, open_: bool
) -> None:
    found = answer(MATTERS, line("permutation/tvd_median", 0.05, low, high))
    assert found.answer == PARTLY
    assert found.because.endswith("too wide for a clear answer") == open_


def test_a_bound_that_is_not_reached_is_said() -> None:
    found = answer(ONLY, line("furthest/jsd_share", 0.5), line("furthest/upper_share", 1.0))
    assert found.answer == PARTLY
    assert "may have missed a further one" in found.because
    exact = answer(ONLY, line("furthest/jsd_share", 0.5), line("furthest/upper_share", 0.5))
    assert exact.because.endswith("of the maximum distance away")


def test_the_verdict_says_that_an_answer_is_open_rather_than_call_it_half_true() -> None:
    card = card_of(
        line("permutation/tvd_median", 0.5, 0.0, 0.9),
        line("evidence/hit@attention", 0.0, -0.5, 0.9),
        line("furthest/jsd_share", 0.5, 0.2, 0.8),
        line("furthest/upper_share", 0.5, 0.2, 0.8),
    )
    assert card.verdict.count("is unclear (the interval is too wide)") == 3
    assert "only in part" not in card.verdict


def test_the_verdict_does_not_call_a_near_attention_far_where_the_search_proves_nothing() -> None:
    lines = [line("permutation/tvd_median", 0.5), line("evidence/hit@attention", 1.0)]
    card = card_of(*lines, line("furthest/jsd_share", 0.1), line("furthest/upper_share", 1.0))
    assert card.verdict == (
        "Not on its own: very different attention with the same prediction cannot be ruled out."
    )


@pytest.mark.parametrize(
    ("count", "undefined", "expected"),
    [(4, 0.0, UNKNOWN), (5, 0.0, YES), (100, 0.96, UNKNOWN), (100, 0.95, YES)],
)
def test_fewer_than_five_values_decide_nothing(count: int, undefined: float, expected: str) -> None:
    made = (line("permutation/tvd_median", 0.5), line("agreement/tau@gradient", 0.9))
    card = card_of(*({**each, "count": count, "nan_share": undefined} for each in made))
    assert (card[MATTERS].answer, card[POINTS].answer) == (expected, expected)
    if expected == UNKNOWN:
        assert "too few values" in card[MATTERS].because


@pytest.mark.parametrize(("same", "said"), [(0.5, True), (0.95, False)])
def test_other_decisions_of_another_training_are_said(same: float, said: bool) -> None:
    lines = [
        line("stability/jsd_share", 0.1),
        line("stability/tau", 0.9),
        line("stability/same_decision", same),
    ]
    found = answer(STABLE, *lines)
    assert found.answer == YES
    assert ("only 50 % of the decisions are the same" in found.because) == said


def test_an_unknown_answer_is_not_a_no() -> None:
    card = card_of(line("permutation/tvd_median", 0.05), line("evidence/hit@attention", 1.0))
    assert card.verdict == (
        "Cannot tell whether attention is the only story; "
        "the weights matter only in part (shuffling them changes the probabilities by 0.05)."
    )
    assert card_of().verdict == (
        "Cannot tell whether attention matters, points at what matters or is the only story."
    )


def test_the_number_that_decides_is_marked() -> None:
    text = str(card_of(line("permutation/tvd_median", 0.5), line("top_item/flips_top", 0.25)))
    marked = [each for each in text.splitlines() if "→" in each]
    assert len(marked) == 1
    assert "shuffled: 0.50" in marked[0]


def test_an_audit_of_something_else_than_attention_answers_nothing() -> None:
    other = line("agreement:of=head_mean/tau@gradient", 0.9)
    assert answer(POINTS, other).answer == UNKNOWN
    assert answer(POINTS, line("agreement:other=1/tau@gradient", 0.9)).answer == YES


# cannot tell --------------------------------------------------------------------------------------


def test_without_audits_every_answer_is_unknown() -> None:
    card = card_of()
    assert [each.question for each in card.answers] == [NEEDED, MATTERS, POINTS, ONLY, STABLE]
    assert {each.answer for each in card.answers} == {UNKNOWN}
    assert all(each.because and each.blind for each in card.answers)


ENOUGH = {
    NEEDED: (line("uniform_attention/accuracy_drop", 0.5),),
    MATTERS: (line("permutation/tvd_median", 0.5),),
    POINTS: (line("evidence/hit@attention", 1.0),),
    ONLY: (line("furthest/jsd_share", 0.1), line("furthest/upper_share", 0.1)),
}


@pytest.mark.parametrize("missing", ENOUGH)
def test_only_the_question_whose_audit_did_not_run_is_unknown(missing: str) -> None:
    lines = [each for question, group in ENOUGH.items() if question != missing for each in group]
    card = card_of(*lines)
    for question in ENOUGH:
        assert card[question].answer == (UNKNOWN if question == missing else YES)


@pytest.mark.parametrize("question", ENOUGH)
def test_an_audit_without_one_defined_value_is_as_good_as_not_run(question: str) -> None:
    nothing = [
        {**each, "mean": math.nan, "low": math.nan, "high": math.nan} for each in ENOUGH[question]
    ]
    assert answer(question, *nothing).answer == UNKNOWN


def test_one_model_cannot_show_stability() -> None:
    card = card_of(*(each for group in ENOUGH.values() for each in group))
    assert card[STABLE].answer == UNKNOWN


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
    because = card_of(**about)[STABLE].because
    assert [
        way for way in ("--other-seeds", "--other-models", "other_models=[…]") if way in because
    ] == [named]


def test_other_trainings_that_never_decide_the_same_are_not_asked_for_again() -> None:
    nothing = {**line("stability/jsd_share", math.nan), "nan_share": 1.0}
    found = answer(STABLE, nothing, line("stability/same_decision", 0.0))
    assert found.answer == UNKNOWN
    assert "too few values" in found.because
    assert "other_models" not in found.because
    assert [finding.name for finding in found.findings] == ["stability/same_decision"]


# Accuracy and cautions ----------------------------------------------------------------------------


def test_accuracy_stands_under_the_verdict_next_to_its_baseline() -> None:
    right = line("uniform_attention/correct", 0.8, 0.7, 0.9)
    lines = str(card_of(right, majority=0.5)).splitlines()
    assert lines[1] == "Accuracy 0.80 [0.70, 0.90] on 10 texts; majority-class baseline 0.50."
    assert str(card_of()).splitlines()[1] == "Accuracy unknown: no labels."


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


# Which line of the summary is read ----------------------------------------------------------------


def test_only_the_overall_group_is_read() -> None:
    by_class = [line("permutation/tvd_median", 0.0, group=name) for name in ("0", "1")]
    assert answer(MATTERS, *by_class).answer == UNKNOWN
    assert answer(MATTERS, *by_class, line("permutation/tvd_median", 0.5)).answer == YES


def test_the_mean_over_rows_stands_for_the_rows() -> None:
    lines = [
        line("evidence/hit@attention", value, row=row)
        for row, value in ((0, 0.0), (1, 1.0), (-1, 0.9))
    ]
    for order in permutations(lines):
        found = answer(POINTS, *order)
        assert found.answer == YES
        assert found.findings[0].value == 0.9


def test_an_audit_with_options_answers_for_the_audit() -> None:
    found = answer(
        ONLY,
        line("furthest:epsilon=0.05/jsd_share", 0.8),
        line("furthest:epsilon=0.05/upper_share", 0.9),
    )
    assert found.answer == NO


@pytest.mark.parametrize("options", ["epsilon=0.2", "fidelity=code"])
def test_of_one_audit_run_twice_the_one_without_options_answers_whatever_the_order(
    options: str,
) -> None:
    """The numbers are of one audit, whatever the order of the lines."""
    plain = [line("furthest/jsd_share", 0.1), line("furthest/upper_share", 0.1)]
    other = [
        line(f"furthest:{options}/jsd_share", 0.8),
        line(f"furthest:{options}/upper_share", 0.9),
    ]
    for order in permutations([*plain, *other]):
        assert answer(ONLY, *order).answer == YES


def test_categorical_columns_as_in_a_stored_summary_are_read_alike() -> None:
    frame = pd.DataFrame([each for group in ENOUGH.values() for each in group])
    stored = frame.astype(dict.fromkeys(("audit", "measure", "metric", "group"), "category"))
    assert make_card(stored, {}) == make_card(frame, {})


# How it is shown ----------------------------------------------------------------------------------


def test_the_card_prints_every_answer_with_its_numbers_bounds_and_blind_spot() -> None:
    card = card_of(line("permutation/tvd_median", 0.4567, 0.4, 0.5, ceiling=math.nan))
    text = str(card)
    assert (
        "does it matter?                  "
        "YES: shuffling the weights changes the probabilities by 0.46" in text
    )
    assert "when the weights are shuffled: 0.46 [0.40, 0.50] (floor 0.00, ceiling –)" in text
    assert "cannot see: whether the weights are on the right words" in text
    assert (
        "needed?                          CANNOT TELL: the audit uniform_attention was not run"
        in text
    )
    assert text.count("cannot see:") == 5


def test_the_card_is_json_and_keeps_every_number() -> None:
    card = card_of(*(each for group in ENOUGH.values() for each in group))
    again = json.loads(json.dumps(card.as_dict(), allow_nan=False))
    assert [each["question"] for each in again["questions"]] == [
        NEEDED,
        MATTERS,
        POINTS,
        ONLY,
        STABLE,
    ]
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
        "nan_share": 0.25,
        "compared": 1.0,
        "note": "",
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
