"""The rules of the card: which numbers answer which question; docs/card.md states them.

One module per question. The thresholds and deciding metrics are in `attnaudit.results.questions`.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from attnaudit.results.card import Card
from attnaudit.results.next_steps import next_steps
from attnaudit.results.questions import CITATION, Question
from attnaudit.results.reliability import FEWEST_TEXTS
from attnaudit.results.rules.citations import make_citation_card
from attnaudit.results.rules.context import accuracy, cautions
from attnaudit.results.rules.matters import matters
from attnaudit.results.rules.needed import needed
from attnaudit.results.rules.numbers import Numbers
from attnaudit.results.rules.only_story import only_story
from attnaudit.results.rules.plausible import plausible
from attnaudit.results.rules.points import points
from attnaudit.results.rules.stable import stable
from attnaudit.results.verdict import conclude


def make_card(summaries: pd.DataFrame, about: dict[str, Any]) -> Card:
    """Answer the six questions from the summary alone, so that a stored run gives the same card.

    Parameters
    ----------
    summaries : the summary, one line per audit, measure, metric, row and group.
    about : what is stored about the audit (`Results.about`).

    Returns
    -------
    Card

    Examples
    --------
    >>> columns = ["audit", "measure", "metric", "row", "group", "count"]
    >>> make_card(pd.DataFrame(columns=columns), about={}).accuracy
    'Accuracy unknown: no labels.'
    """
    numbers = Numbers(summaries, about.get("not_applicable"))
    if about.get("card") == CITATION:
        return make_citation_card(numbers, about)
    answers = (
        needed(numbers),
        matters(numbers),
        points(numbers),
        only_story(numbers),
        stable(numbers, about),
        plausible(numbers),
    )
    given = tuple(answer for answer in answers if answer is not None)
    by_question = {Question.find(answer.question): answer for answer in given}
    decision = conclude(by_question).decision
    return Card(
        given,
        tuple(cautions(numbers, about)),
        accuracy(numbers, about),
        steps=next_steps(by_question, decision, numbers.count, about),
        has_rates=numbers.count >= FEWEST_TEXTS,
    )
