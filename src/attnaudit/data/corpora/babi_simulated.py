"""bAbI tasks 1 to 3 (Weston et al. 2015), simulated: people move, take and drop things.

The rules were inferred from the released files, whose statistics the simulator reproduces
(tests/data/test_real_data_babi.py):
- A statement is drawn by rejection sampling: an action, a person and, for a move, one of the six
  places, all uniform; it is accepted if it is possible. Initial positions are not stated.
- After every second statement a question is asked, if one of the last five statements allows one;
  the statement it is about is drawn uniformly. A story ends with its fifth question.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from attnaudit.core.errors import InputError
from attnaudit.data.corpora.babi_text import Line, Story, examples
from attnaudit.data.reading.options import whole_number
from attnaudit.data.splits import Splits

PEOPLE = ("Daniel", "John", "Mary", "Sandra")
PLACES = ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office")
THINGS = ("apple", "football", "milk")
VERBS = {
    "move": ("went", "went back", "journeyed", "travelled", "moved"),
    "take": ("got", "took", "grabbed", "picked up"),
    "drop": ("left", "dropped", "discarded", "put down"),
}
QUESTIONS_PER_STORY = 5
RECENT = 5  # statements a question may start from
THERE = 0.2  # share of takes and drops that end with "there"


class Event(NamedTuple):
    """One action of a person."""

    person: str
    action: str
    what: str  # the place of a move, the thing of a take or drop


class Question(NamedTuple):
    """A question with its answer."""

    text: str
    answer: str
    facts: tuple[int, ...]  # indices of the supporting events


def babi(
    *, task: int = 1, train: int = 10_000, dev_share: float = 0.15, test: int = 1_000, seed: int = 0
) -> Splits:
    """Questions with one (task=1), two (2) or three (3) supporting facts.

    `train` counts the questions of train and dev, of which dev is dev_share.
    """
    if isinstance(task, bool) or task not in (1, 2, 3):
        raise InputError(
            f"babi: task must be 1, 2 or 3, got {task!r}. Write for example babi:task=2."
        )
    whole_number("babi", "train", train, least=1)
    whole_number("babi", "test", test, least=0)
    if (
        isinstance(dev_share, bool)
        or not isinstance(dev_share, int | float)
        or not 0 <= dev_share < 1
    ):
        raise InputError(
            f"babi: dev_share must be at least 0 and below 1, got {dev_share!r}. "
            "The default is 0.15."
        )
    dev = round(train * dev_share)
    sizes = {"train": train - dev, "dev": dev, "test": test}
    examples_of = {
        split: examples(
            simulate(task=task, questions=count, split=split, seed=seed), PLACES, split=split
        )
        for split, count in sizes.items()
    }
    return Splits(
        name=f"babi-{task}",
        train=examples_of["train"],
        dev=examples_of["dev"],
        test=examples_of["test"],
        classes=PLACES,
        tokeniser="blanks",
        notes={
            "source": "simulated after Weston et al. 2015",
            "task": task,
            "seed": seed,
            "dev": f"{dev} of the {train} train questions, from stories of their own: "
            "dev shares no story with train",
            "classes": "the six places; "
            "the released notebook takes every word for a possible answer",
        },
    )


def simulate(*, task: int, questions: int, split: str, seed: int) -> tuple[Story, ...]:
    """Stories with a total number of `questions`; each depends on its index and the seed only."""
    from attnaudit.core.randomness import derive  # imports torch

    stories = []
    for first in range(0, questions, QUESTIONS_PER_STORY):
        rng = Random(derive(seed, "babi", task, split, first))
        stories.append(_story(rng, task, min(QUESTIONS_PER_STORY, questions - first)))
    return tuple(stories)


def _story(rng: Random, task: int, questions: int) -> Story:
    person_at = {person: rng.choice(PLACES) for person in PEOPLE}
    thing_at = {thing: rng.choice(PLACES) for thing in THINGS}
    holder: dict[str, str] = {}
    events: list[Event] = []
    ids: list[int] = []  # line id of each event
    lines: list[Line] = []
    while questions:
        for _ in range(2):
            event = _next_event(rng, task, person_at, thing_at, holder)
            events.append(event)
            lines.append(Line(_sentence(rng, task, event)))
            ids.append(len(lines))
        question = _question(rng, task, events)
        if question is not None:
            support = tuple(ids[fact] for fact in question.facts)
            lines.append(Line(question.text, question.answer, support))
            questions -= 1
    return tuple(lines)


def _next_event(
    rng: Random,
    task: int,
    person_at: dict[str, str],
    thing_at: dict[str, str],
    holder: dict[str, str],
) -> Event:
    """Draw events until one is possible, and update the positions by it."""
    while True:
        action = "move" if task == 1 else rng.choice(("move", "take", "drop"))
        person = rng.choice(PEOPLE)
        if action == "move":
            place = rng.choice(PLACES)
            if place != person_at[person]:
                person_at[person] = place
                return Event(person, action, place)
            continue
        if action == "take":
            here = person_at[person]
            things = [name for name in THINGS if name not in holder and thing_at[name] == here]
        else:
            things = [name for name in THINGS if holder.get(name) == person]
        if things:
            thing = rng.choice(things)
            if action == "take":
                holder[thing] = person
            else:
                del holder[thing]
                thing_at[thing] = person_at[person]
            return Event(person, action, thing)


def _sentence(rng: Random, task: int, event: Event) -> str:
    verb = rng.choice(VERBS[event.action])
    if event.action == "move":
        return f"{event.person} {verb} to the {event.what}."
    there = (task == 2 and event.action == "take") or rng.random() < THERE
    return f"{event.person} {verb} the {event.what}{' there' if there else ''}."


def _question(rng: Random, task: int, events: list[Event]) -> Question | None:
    """A question about one of the recent events; None if none of them allows one."""
    recent = events[-RECENT:]
    if task == 1:
        person = rng.choice(recent).person
        last = max(index for index, event in enumerate(events) if event.person == person)
        return Question(f"Where is {person}?", events[last].what, (last,))
    ask = _where_is if task == 2 else _where_was
    questions = [ask(rng, event.what, events) for event in recent if event.action != "move"]
    possible = [question for question in questions if question is not None]
    return rng.choice(possible) if possible else None


def _where_is(rng: Random, thing: str, events: list[Event]) -> Question | None:
    """Facts: the last take and the last move after it, or the last drop and the move before it."""
    last = max(index for index, event in enumerate(events) if event.what == thing)
    visits = [
        index
        for index, event in enumerate(events)
        if event.person == events[last].person
        and event.action == "move"
        and (index > last) == (events[last].action == "take")
    ]
    if not visits:
        return None
    return Question(f"Where is the {thing}?", events[visits[-1]].what, (last, visits[-1]))


def _where_was(rng: Random, thing: str, events: list[Event]) -> Question | None:
    """Facts: the last take or drop and two successive moves with the thing, the later one first."""
    touched = [index for index, event in enumerate(events) if event.what == thing]
    last = touched[-1]
    first, end = (last, len(events)) if events[last].action == "take" else (touched[-2], last)
    visits = [
        index
        for index in range(first + 1, end)
        if events[index].person == events[last].person and events[index].action == "move"
    ]
    # "Before the kitchen" means the last visit, so that the answer is unambiguous.
    latest = {events[index].what: number for number, index in enumerate(visits)}
    choices = [latest[events[index].what] for index in visits if latest[events[index].what] > 0]
    if not choices:
        return None
    number = rng.choice(choices)
    after, before = visits[number], visits[number - 1]
    text = f"Where was the {thing} before the {events[after].what}?"
    return Question(text, events[before].what, (last, after, before))
