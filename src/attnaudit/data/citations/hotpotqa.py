"""Questions in the format of HotpotQA: several paragraphs, of which two or more are needed.

Yang et al. (2018), https://hotpotqa.github.io.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.citations.example import CitationExample
from attnaudit.data.reading.row_errors import BadRows

LEVELS = ("paragraph", "sentence")


def hotpotqa_examples(
    questions: list[Any], where: str, bad: BadRows, *, level: str = "paragraph"
) -> Iterator[CitationExample]:
    """The questions of a file; level: what a source is, "paragraph" or "sentence"."""
    if level not in LEVELS:
        raise InputError(f"There is no level {level!r}. Choose from: {', '.join(LEVELS)}.")
    for number, question in enumerate(questions):
        with bad:
            yield _example(question, number, f"{where}, question {number}", level)


def _example(question: Any, number: int, where: str, level: str) -> CitationExample:
    try:
        needed = {(str(title), int(at)) for title, at in question.get("supporting_facts", ())}
        texts: list[str] = []
        gold: list[int] = []
        for title, sentences in question["context"]:
            if level == "paragraph":
                if any(title == wanted for wanted, _ in needed):
                    gold.append(len(texts))
                texts.append(f"{title}: {' '.join(text.strip() for text in sentences)}")
                continue
            for at, text in enumerate(sentences):
                if not text.strip():
                    continue
                if (title, at) in needed:
                    gold.append(len(texts))
                texts.append(f"{title}: {text.strip()}")
        asked, answer = question["question"], question.get("answer", "")
        name = str(question.get("_id", question.get("id", f"row/{number}")))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"{where}: not as in HotpotQA ({type(error).__name__}: {error}); expected question, "
            "answer, context (a list of [title, sentences]) and supporting_facts (a list of "
            "[title, number of the sentence])."
        ) from error
    return CitationExample(
        name, tuple(texts), asked, str(answer).strip(), tuple(gold) if needed else None, where=where
    )
