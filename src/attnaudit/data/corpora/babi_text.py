"""The text format of the bAbI tasks (Weston et al. 2015): parsing, writing, making examples.

A line is "<id> sentence" or "<id> question<TAB>answer<TAB>ids of the supporting lines"; id 1 starts
a new story.
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
    """A statement, or a question if it has an answer; its id is its position in the story."""

    text: str  # with its full stop or question mark
    answer: str | None = None
    support: tuple[int, ...] = ()  # ids of the lines that give the answer


Story = tuple[Line, ...]


def as_text(stories: Iterable[Story]) -> str:
    """Stories in the official format, in which a blank precedes the first tab."""
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
    """Parse stories in the official format. `source` names the file in errors."""
    return parse_lines(
        (f"{source}, line {number}", raw)
        for number, raw in enumerate(text.splitlines(), start=1)
        if raw.strip()
    )


def parse_lines(
    lines: Iterable[tuple[str, str]], bad: AbstractContextManager[Any] | None = None
) -> tuple[Story, ...]:
    """Parse stories from (where, line); `bad` is entered per story, which one bad line spoils."""
    grouped: list[list[tuple[str, str]]] = []
    for where, raw in lines:
        if not grouped or raw.partition(" ")[0] == "1":
            grouped.append([])
        grouped[-1].append((where, raw))
    stories: list[Story] = []
    for story_lines in grouped:
        with bad or nullcontext():
            stories.append(_story(story_lines))
    return tuple(stories)


def _story(lines: Iterable[tuple[str, str]]) -> Story:
    story: list[Line] = []
    for where, raw in lines:
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
            f"{where}: expected question<TAB>answer<TAB>supporting ids, "
            f"got {len(fields)} fields in {rest[:60]!r}."
        )
    question, answer, ids = fields
    statements = {str(number) for number, line in enumerate(before, start=1) if line.answer is None}
    wrong = [line_id for line_id in ids.split() if line_id not in statements]
    if wrong:
        raise InputError(
            f"{where}: the supporting id {wrong[0]!r} is not a statement before the question."
        )
    return Line(question.strip(), answer.strip(), tuple(map(int, ids.split())))


def answers(stories: Iterable[Story]) -> tuple[str, ...]:
    """Every answer that occurs, sorted: the classes."""
    return tuple(
        sorted({line.answer for story in stories for line in story if line.answer is not None})
    )


def examples(
    stories: Iterable[Story], classes: Sequence[str], *, split: str
) -> tuple[Example, ...]:
    """One example per question: the statements before it, joined by full stops, and the question.

    Evidence is every word of the supporting sentences. A full stop belongs to the sentence before
    it and is not evidence; the question has no question mark.
    """
    labels = {name: number for number, name in enumerate(classes)}
    questions: list[Example] = []
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
                    f"bAbI: the answer {line.answer!r} is none of the classes "
                    f"{', '.join(classes)}. "
                    "Give the classes of all splits."
                )
            evidence = [False] * len(tokens)
            for line_id in line.support:
                span = spans[line_id]
                evidence[span] = [True] * (span.stop - span.start)
            questions.append(
                Example(
                    example_id=f"{split}/{len(questions)}",
                    tokens=tuple(tokens),
                    label=labels[line.answer],
                    query=tuple(words),
                    evidence=tuple(evidence),
                    segments=tuple(segments),
                )
            )
    return tuple(questions)
