"""Questions about made-up people and places, whose right sources are known."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from attnaudit.core.errors import InputError
from attnaudit.core.randomness import derive
from attnaudit.data.citations.example import CitationExample

_STARTS = ("Bren", "Tal", "Mor", "Vel", "Kas", "Dro", "Fen", "Gil", "Har", "Jor", "Lum", "Nev")
_MIDDLES = ("a", "e", "i", "o", "ari", "eno", "ila", "ov")
_PERSON_ENDS = ("n", "ra", "lin", "mir", "da", "to", "ska", "vi")
_PLACE_ENDS = ("burg", "vik", "stad", "ford", "ton", "mere", "dal", "holm")


class _Relation(NamedTuple):
    """Wordings of a fact, of a paraphrase of it, and of the questions about it."""

    fact: str
    paraphrase: str
    question: str
    indirect: str  # about the sister of a person


_RELATIONS = (
    _Relation(
        "{person} lives in {place}.",
        "The home of {person} is in {place}.",
        "Where does {person} live?",
        "Where does the sister of {person} live?",
    ),
    _Relation(
        "{person} works in {place}.",
        "The office of {person} is in {place}.",
        "Where does {person} work?",
        "Where does the sister of {person} work?",
    ),
    _Relation(
        "{person} was born in {place}.",
        "The birthplace of {person} is {place}.",
        "Where was {person} born?",
        "Where was the sister of {person} born?",
    ),
)
_SISTER, _SISTER_PARAPHRASE = "The sister of {one} is {two}.", "{two} is a sister of {one}."


def simulate(
    count: int = 100,
    *,
    sources: int = 5,
    needed: int = 1,
    position: int | None = None,
    paraphrase: float = 0.0,
    seed: int = 0,
) -> list[CitationExample]:
    """Make questions that can be answered from one source, or from two taken together.

    All names are made up, so that no model knows the answer by itself. Distractors state the same
    kind of fact about other people.

    Parameters
    ----------
    count : number of questions.
    sources : number of sources per question.
    needed : 1, or 2 for questions about the sister of a person.
    position : place of the (last) needed source, counted from 0; random if omitted.
    paraphrase : share of the sources that word the fact differently from the question.
    seed : of the random draws; question i depends on (seed, i) and the options only.

    Examples
    --------
    >>> example = simulate(1, sources=3, position=2)[0]
    >>> example.gold, example.answer in example.sources[2]
    ((2,), True)
    """
    if needed not in (1, 2):
        raise InputError(f"needed must be 1 or 2, got {needed}.")
    if sources <= needed:
        raise InputError(
            f"{needed} of the sources are needed: sources must be more, got {sources}."
        )
    if position is not None and not 0 <= position < sources:
        raise InputError(f"position must be from 0 to {sources - 1}, got {position}.")
    if not 0 <= paraphrase <= 1:
        raise InputError(f"paraphrase must be a share from 0 to 1, got {paraphrase}.")
    width = len(str(count))
    return [
        _question(
            f"simulated/{number:0{width}d}",
            random.Random(derive(seed, "citations", number)),
            sources,
            needed,
            position,
            paraphrase,
        )
        for number in range(count)
    ]


def _question(
    name: str,
    draw: random.Random,
    sources: int,
    needed: int,
    position: int | None,
    paraphrase: float,
) -> CitationExample:
    people, places = _names(draw, _PERSON_ENDS), _names(draw, _PLACE_ENDS)
    relation = draw.choice(_RELATIONS)

    def fact(person: str, place: str) -> str:
        wording = relation.paraphrase if draw.random() < paraphrase else relation.fact
        return wording.format(person=person, place=place)

    person, answer = next(people), next(places)
    texts = [fact(person, answer)]
    asked, question = person, relation.question
    if needed == 2:
        asked, question = next(people), relation.indirect
        wording = _SISTER_PARAPHRASE if draw.random() < paraphrase else _SISTER
        texts.append(wording.format(one=asked, two=person))
    texts += [fact(next(people), next(places)) for _ in range(sources - needed)]
    order = list(range(sources))  # order[i]: which text stands at place i; text 0 has the answer
    draw.shuffle(order)
    if position is not None:
        found = order.index(0)
        order[found], order[position] = order[position], order[found]
    gold = tuple(sorted(order.index(text) for text in range(needed)))
    return CitationExample(
        name,
        tuple(texts[text] for text in order),
        question.format(person=asked),
        answer,
        gold,
    )


def _names(draw: random.Random, ends: tuple[str, ...]) -> Iterator[str]:
    """Different names, without end."""
    seen: set[str] = set()
    while True:
        parts = [draw.choice(_STARTS), draw.choice(_MIDDLES), draw.choice(ends)]
        if len(seen) >= 500:  # there are 768 of one middle
            parts.insert(1, draw.choice(_MIDDLES))
        name = "".join(parts)
        if name not in seen:
            seen.add(name)
            yield name
