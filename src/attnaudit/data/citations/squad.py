"""Questions in the format of SQuAD: the sources are the sentences of a paragraph.

Rajpurkar et al. (2016), https://rajpurkar.github.io/SQuAD-explorer/.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.citations.example import CitationExample
from attnaudit.data.reading.row_errors import BadRows

_END_OF_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]*[A-Z0-9])")


def squad_examples(articles: list[Any], where: str, bad: BadRows) -> Iterator[CitationExample]:
    """The questions of the articles under "data"; those marked impossible have no gold source."""
    number = 0
    for article_number, article in enumerate(articles):
        paragraphs = article.get("paragraphs") if isinstance(article, dict) else None
        for paragraph_number, paragraph in enumerate(paragraphs or ()):
            place = f"{where}, article {article_number}, paragraph {paragraph_number}"
            questions = paragraph.get("qas") if isinstance(paragraph, dict) else None
            for question in questions or ():
                with bad:
                    yield _example(paragraph, question, number, place)
                number += 1


def sentences(text: str) -> list[tuple[int, str]]:
    """The sentences of a text with the place of their first character; a simple rule.

    Examples
    --------
    >>> sentences("It rained. We left.")
    [(0, 'It rained.'), (11, 'We left.')]
    """
    starts = [0, *(match.end() for match in _END_OF_SENTENCE.finditer(text))]
    ends = [*starts[1:], len(text)]
    return [
        (start, text[start:end].strip())
        for start, end in zip(starts, ends, strict=True)
        if text[start:end].strip()
    ]


def _example(paragraph: Any, question: Any, number: int, where: str) -> CitationExample:
    try:
        context, asked = paragraph["context"], question["question"]
        answers = question.get("answers") or []
        answer = answers[0]["text"] if answers else ""
        start = int(answers[0]["answer_start"]) if answers else -1
        name = str(question.get("id", f"row/{number}"))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InputError(
            f"{where}, question {number}: not as in SQuAD ({type(error).__name__}: {error}); "
            "expected context, and qas with question and answers (text, answer_start)."
        ) from error
    found = sentences(context)
    gold = None
    if answers:
        if context[start : start + len(answer)] != answer:
            raise InputError(
                f"{where}, question {number}: the answer {answer[:40]!r} is not at character "
                f"{start} of its context."
            )
        gold = (max(index for index, (first, _) in enumerate(found) if first <= start),)
    return CitationExample(
        name, tuple(text for _, text in found), asked, answer.strip(), gold, where=where
    )
