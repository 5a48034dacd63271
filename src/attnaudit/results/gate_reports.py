"""What a release gate found, for CI: JUnit XML with one test case per condition, and Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree

from attnaudit.results.card import Card
from attnaudit.results.questions import NO, PARTLY, UNKNOWN, YES

_MARKS = {YES: "✅", PARTLY: "🟡", NO: "❌", UNKNOWN: "❔"}


class Outcome(NamedTuple):
    """One condition of a gate: as written, what was found, and whether it holds, closing it."""

    condition: str
    found: str
    holds: bool


def junit_xml(outcomes: Sequence[Outcome], name: str) -> str:
    """JUnit XML: a condition that holds is a failure, as CI systems show it.

    Parameters
    ----------
    outcomes : of every condition.
    name : of the audited run.

    Examples
    --------
    >>> text = junit_xml([Outcome("matters=no", "the card says 'no'", True)], "audit")
    >>> text.partition("<failure")[2]
    ' message="matters=no: the card says \\'no\\'" /></testcase></testsuite>'
    """
    failed = sum(outcome.holds for outcome in outcomes)
    suite = ElementTree.Element(
        "testsuite",
        {"name": "attnaudit gate", "tests": str(len(outcomes)), "failures": str(failed)},
    )
    for outcome in outcomes:
        named = {"classname": f"attnaudit.{name}", "name": f"not {outcome.condition}"}
        case = ElementTree.SubElement(suite, "testcase", named)
        message = f"{outcome.condition}: {outcome.found}"
        if outcome.holds:
            ElementTree.SubElement(case, "failure", {"message": message})
        else:
            ElementTree.SubElement(case, "system-out").text = message
    return ElementTree.tostring(suite, encoding="unicode")


def markdown_summary(outcomes: Sequence[Outcome], card: Card, name: str) -> str:
    """The gate and the card as Markdown, as for a job summary of GitHub Actions."""
    closed = any(outcome.holds for outcome in outcomes)
    lines = [
        f"## Attention audit of {_cell(name)}: gate {'closed ❌' if closed else 'open ✅'}",
        "",
    ]
    lines += [f"**{_cell(card.verdict)}**", "", _cell(card.next_step), ""]
    lines += ["| fails if | found | |", "|---|---|---|"]
    lines += [
        f"| `{_cell(condition)}` | {_cell(found)} | {'❌' if holds else '✅'} |"
        for condition, found, holds in outcomes
    ]
    lines += ["", *answers_table(card)]
    for text, command in card.steps:
        lines += ["", f"- {_cell(text)}"]
        lines += ["", f"      {command}"] if command else []
    return "\n".join([*lines, ""])


def answers_table(card: Card) -> list[str]:
    """The answers of a card as the lines of a Markdown table."""
    return [
        "| question | answer | because |",
        "|---|---|---|",
        *(
            f"| {_cell(answer.question)} | {_MARKS.get(answer.answer, '')} {answer.answer} | "
            f"{_cell(answer.because)} |"
            for answer in card.answers
        ),
    ]


def _cell(text: str) -> str:
    """A text that cannot end its cell, nor be read as HTML."""
    plain = " ".join(str(text).split())
    return plain.replace("|", r"\|").replace("<", "&lt;")
