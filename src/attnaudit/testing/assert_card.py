"""Does a card have the answers that a test expects?"""

from __future__ import annotations

from attnaudit.core.errors import InputError
from attnaudit.results.gate import VERDICT
from attnaudit.results.questions import ANSWERS, Question
from attnaudit.results.results import Results


def assert_card(results: Results, **expected: str | tuple[str, ...]) -> None:
    """Fail a test unless the card has these answers.

    Parameters
    ----------
    results : of an audit.
    expected : answer by key of the question (needed, matters, points, only_story, stable,
        plausible) or `verdict`; several allowed answers as a tuple.

    Raises
    ------
    AssertionError
        With every answer that differs, why the card gives it, and the verdict.

    Examples
    --------
    >>> import attnaudit
    >>> from attnaudit.models.glass import Glass, glass_batch
    >>> results = attnaudit.audit(Glass("oracle"), glass_batch(), show_progress=False)
    >>> assert_card(results, matters="yes", points=("yes", "partly"))
    """
    card = results.card()
    known = (VERDICT, *(question.key for question in Question))
    problems = []
    for key, answers in expected.items():
        allowed = (answers,) if isinstance(answers, str) else tuple(answers)
        wrong = [answer for answer in allowed if answer not in ANSWERS]
        if key not in known or wrong:
            raise InputError(
                f"assert_card takes {', '.join(known)} with one of {', '.join(ANSWERS)}; got "
                f"{key}={answers!r}."
            )
        question = Question.find(key)
        if question is None:
            found, because = card.decision, card.verdict
        else:
            found = card.answer_to(question)
            because = next(
                (each.because for each in card.answers if Question.find(each.question) is question),
                "the card does not have this question",
            )
        if found not in allowed:
            problems.append(f"{key} is {found!r}, expected {' or '.join(allowed)}: {because}")
    if problems:
        raise AssertionError("\n".join([*problems, card.verdict]))
