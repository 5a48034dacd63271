"""The questions have one definition, and docs/card.md states the same rules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from attnaudit.auditing.audit import audit
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.results.card import Card
from attnaudit.results.questions import (
    CITATION,
    DECIDING,
    DECIDING_CITATION,
    NO,
    PARTLY,
    SHUFFLE_FLIPS,
    YES,
    Question,
    Thresholds,
    questions_of,
)

DOCUMENT = Path(__file__).parents[2] / "docs" / "card.md"


def section(question: Question) -> str:
    """The part of docs/card.md under the question's own heading."""
    text = DOCUMENT.read_text(encoding="utf-8")
    (body,) = re.findall(
        rf"^### {re.escape(question.wording)}\n(.*?)(?=^##)", text, flags=re.MULTILINE | re.DOTALL
    )
    return body


@pytest.mark.parametrize("question", Question)
def test_the_documentation_names_the_deciding_metrics_and_thresholds(question: Question) -> None:
    """One line per number that decides: | `audit/metric` of measure | yes | no |."""
    body = section(question)
    for name, thresholds in question.thresholds.items():
        metric, _, measure = name.partition("@")
        words = rf"`{metric}`" + (rf" of {measure}" if measure else "")
        more = thresholds.yes >= thresholds.no
        yes, no = (">", "<") if more else ("<", ">")
        scale = ", relative" if thresholds.relative else ""
        row = f"| {words}{scale} | {yes} {thresholds.yes} | {no} {thresholds.no} |"
        assert row in body


def test_the_rules_do_not_depend_on_the_order_of_the_thresholds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    results = [
        audit(Glass(name), glass_batch(30), measures=["leave_one_out"], show_progress=False)
        for name in ("oracle", "inert", "shifted")
    ]
    before = [result.card().as_dict() for result in results]
    for question in Question:
        turned = dict(reversed(question.thresholds.items()))
        monkeypatch.setattr(question, "thresholds", turned)
    assert next(iter(Question.MATTERS.thresholds)) == SHUFFLE_FLIPS
    assert [result.card().as_dict() for result in results] == before


def test_the_documentation_lists_the_questions_in_the_order_of_the_card() -> None:
    headings = re.findall(r"^### (.*\?)$", DOCUMENT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert headings == [question.wording for question in Question]


def test_a_question_is_found_by_its_key_or_its_wording() -> None:
    for question in Question:
        assert Question.find(question.key) is Question.find(question.wording) is question
    assert Question.find("is it pretty?") is None
    assert [question.key for question in Question] == [
        "needed",
        "matters",
        "points",
        "only_story",
        "stable",
        "plausible",
        "uses_sources",
        "cites_used",
        "follows_source",
        "cites_words",
    ]
    assert [question.key for question in questions_of(CITATION)] == [
        "uses_sources",
        "cites_used",
        "follows_source",
        "cites_words",
    ]


def test_the_verdict_depends_on_four_questions() -> None:
    assert DECIDING == (
        Question.MATTERS,
        Question.POINTS,
        Question.ONLY_STORY,
        Question.STABLE,
    )
    assert all(question.denial for question in DECIDING)


def test_the_verdict_on_citations_depends_on_sources_alone() -> None:
    assert DECIDING_CITATION == (
        Question.USES_SOURCES,
        Question.CITES_USED,
        Question.FOLLOWS_SOURCE,
    )


def test_a_question_is_found_by_the_wording_of_earlier_cards() -> None:
    assert Question.find("does it point at what matters?") is Question.POINTS
    assert Question.find("") is None


def test_a_card_without_a_question_says_which_it_has() -> None:
    with pytest.raises(KeyError, match=r"no question 'is it pretty\?'"):
        Card(())["is it pretty?"]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.11, 0.3, (YES, False)),
        (0.1, 0.3, (PARTLY, True)),
        (0.02, 0.1, (PARTLY, False)),
        (0.0, 0.019, (NO, False)),
        (0.0, 0.02, (PARTLY, True)),
    ],
)
def test_lower_is_better_mirrors_higher_is_better(
    low: float, high: float, expected: tuple[str, bool]
) -> None:
    assert Thresholds(yes=0.1, no=0.02).judge(low, high) == expected
    assert Thresholds(yes=-0.1, no=-0.02).judge(-high, -low) == expected
