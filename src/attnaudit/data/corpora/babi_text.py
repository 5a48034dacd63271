"""The text format of the bAbI tasks (Weston et al. 2015), read, written, and made into examples.

A line is "<id> sentence" or "<id> question<TAB>answer<TAB>ids of the supporting lines"; id 1 starts a new story.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.splits import Example


@dataclass(frozen=True, slots=True)
class Line:
    """A statement, or a question where there is an answer. Its id is its place in the story, from 1."""

    text: str  # with its full stop or question mark
    answer: str | None = None
    support: tuple[int, ...] = ()  # ids of the lines that give the answer


Story = tuple[Line, ...]


def as_text(stories: Iterable[Story]) -> str:
    """The official format; the blank before the first tab is part of it."""
    return "".join(
        f"{number} {line.text}"
        + (
            f" \t{line.answer}\t{' '.join(map(str, line.support))}"
            if line.answer is not None
            else ""
        )
        + "\n"
        for story in stories
        for number, line in enumerate(story, start=1)
    )


def parse(text: str, *, source: str = "bAbI text") -> tuple[Story, ...]:
    """Stories of a file in the official format. `source` names the file in errors."""
    return parse_lines(
        (f"{source}, line {number}", raw)
        for number, raw in enumerate(text.splitlines(), start=1)
        if raw.strip()
    )


def parse_lines(
    lines: Iterable[tuple[str, str]], bad: AbstractContextManager[Any] | None = None
) -> tuple[Story, ...]:
    """Stories of lines that come with their places. `bad` is entered for each story: one bad line spoils the story it is in."""
    told: list[list[tuple[str, str]]] = []
    for where, raw in lines:
        if not told or raw.partition(" ")[0] == "1":
            told.append([])
        told[-1].append((where, raw))
    stories: list[Story] = []
    for each in told:
        with bad or nullcontext():
            stories.append(_story(each))
    return tuple(stories)


def _story(told: Iterable[tuple[str, str]]) -> Story:
    story: list[Line] = []
    for where, raw in told:
        number, _, rest = raw.partition(" ")
        if number != str(len(story) + 1):
            expected = f"{len(story) + 1} or 1" if story else "1"
            raise InputError(
                f"{where}: expected a line with id {expected}, got {raw[:60]!r}. "
                "Use the files of the bAbI release as they are."
            )
        story.append(_line(rest, story, where))
    return tuple(story)


def _line(rest: str, before: Sequence[Line], where: str) -> Line:
    if "\t" not in rest:
        return Line(rest.strip())
    fields = rest.split("\t")
    if len(fields) != 3 or not all(field.strip() for field in fields):
        raise InputError(
            f"{where}: expected question<TAB>answer<TAB>supporting ids, got {len(fields)} fields in {rest[:60]!r}."
        )
    question, answer, ids = fields
    statements = {str(number) for number, line in enumerate(before, start=1) if line.answer is None}
    wrong = [each for each in ids.split() if each not in statements]
    if wrong:
        raise InputError(
            f"{where}: the supporting id {wrong[0]!r} is not a statement before the question."
        )
    return Line(question.strip(), answer.strip(), tuple(map(int, ids.split())))


def answers(stories: Iterable[Story]) -> tuple[str, ...]:
    """Every answer that occurs, by alphabet: the classes."""
    return tuple(
        sorted({line.answer for story in stories for line in story if line.answer is not None})
    )


def examples(
    stories: Iterable[Story], classes: Sequence[str], *, split: str
) -> tuple[Example, ...]:
    """One example a question: all statements before it, joined with full stops, and the question without its mark.

    Evidence is every word of the supporting sentences; a full stop belongs to the sentence before it and is no evidence.
    """
    labels = {name: number for number, name in enumerate(classes)}
    made: list[Example] = []
    for story in stories:
        tokens: list[str] = []
        segments: list[int] = []
        spans: dict[int, slice] = {}  # line id -> its words among the tokens
        for number, line in enumerate(story, start=1):
            words = line.text.rstrip(".? ").lower().split()
            if line.answer is None:
                if tokens:
                    tokens.append(".")
                    segments.append(len(spans) - 1)
                spans[number] = slice(len(tokens), len(tokens) + len(words))
                tokens += words
                segments += [len(spans) - 1] * len(words)
                continue
            if line.answer not in labels:
                raise InputError(
                    f"bAbI: the answer {line.answer!r} is none of the classes {', '.join(classes)}. "
                    "Give the classes of all splits."
                )
            evidence = [False] * len(tokens)
            for each in line.support:
                evidence[spans[each]] = [True] * (spans[each].stop - spans[each].start)
            made.append(
                Example(
                    example_id=f"{split}/{len(made)}",
                    tokens=tuple(tokens),
                    label=labels[line.answer],
                    query=tuple(words),
                    evidence=tuple(evidence),
                    segments=tuple(segments),
                )
            )
    return tuple(made)
