"""The questions that are audited: all with an answer, and some held out to choose heads on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attnaudit.auditing.head_choice import choose_heads, hold_out
from attnaudit.auditing.selection import Choice
from attnaudit.core.errors import InputError
from attnaudit.data.citations import CitationExample
from attnaudit.measures.citations import DEFAULT_CITATION_MEASURES


def answered_questions(
    model: Any,
    examples: Sequence[CitationExample],
    measures: Sequence[Choice] | None,
    *,
    choose: int,
    held_out: float,
    max_new_tokens: int,
    seed: int,
    show_progress: bool,
) -> tuple[list[CitationExample], list[Choice]]:
    """The questions to audit with their answers, and the measures with the heads chosen.

    Parameters
    ----------
    model, examples, measures, choose, held_out, max_new_tokens, seed : as for `cite`.
    """
    listed: list[Choice] = list(DEFAULT_CITATION_MEASURES if measures is None else measures)
    answered = answer_missing(model, examples, max_new_tokens, show_progress=show_progress)
    if choose:
        held, answered = hold_out(answered, held_out, seed)
        heads = choose_heads(model, held, count=choose, show_progress=show_progress)
        listed.append(f"named_heads:heads={heads}")
    return answered, listed


def answer_missing(
    model: Any,
    examples: Sequence[CitationExample],
    max_new_tokens: int,
    *,
    show_progress: bool,
) -> list[CitationExample]:
    """The examples with an answer, generated if there was none; those without any are rejected."""
    if all(example.answer for example in examples):
        return list(examples)
    generate = getattr(model, "with_answers", None)
    if generate is None:
        first = next(example for example in examples if not example.answer)
        raise InputError(
            f"{first.where or first.example_id}: there is no answer, and this model cannot "
            "generate one."
        )
    answered = generate(examples, max_new_tokens=max_new_tokens, show_progress=show_progress)
    empty = [example for example in answered if not example.answer]
    if empty:
        raise InputError(
            f"{empty[0].where or empty[0].example_id}: the model says nothing in answer to this "
            "question. Leave the question out, or give an answer."
        )
    return list(answered)
