"""What is true of a reader, from the knobs of its program alone.

No probability, no attention weight and no number of the card is used: a share of questions says
from what the program takes its answers, and what its attention follows.
"""

from __future__ import annotations

from benchmarks.calibration.citations.readers import BOTH, EITHER, ONE, TWO_OF_THREE, Program
from benchmarks.calibration.truth import NO, OPEN, YES

USES = (0.6, 0.15)  # share of the answers that are read from sources: yes from, no up to
CITES = (0.75, 0.3)  # share of those with attention on a source that is used, chance removed
FOLLOWS = (0.8, 0.3)  # share of the questions in which attention follows a source
_COPIES = {ONE: 1, EITHER: 2, BOTH: 2, TWO_OF_THREE: 3}


def truth_of(program: Program) -> dict[str, str]:
    """The truth of every question of the card, and of the verdict: "yes", "no" or "open".

    Examples
    --------
    >>> truth_of(Program("a", points=1.0, place=0.0))["verdict"]
    'yes'
    >>> truth_of(Program("b", points=0.1, place=0.9))["follows_source"]
    'no'
    """
    by_chance = _COPIES[program.needs] / program.sources  # a place is right so often
    right = program.points + program.place * by_chance
    found = {
        "uses_sources": _judged(1 - program.knows, USES),
        "cites_used": _judged((right - by_chance) / (1 - by_chance), CITES),
        "follows_source": _judged(1 - program.place, FOLLOWS),
    }
    if program.knows >= 1:  # nothing is used
        found["cites_used"] = OPEN
    answers = set(found.values())
    found["verdict"] = NO if NO in answers else YES if answers == {YES} else OPEN
    return found


def _judged(value: float, limits: tuple[float, float]) -> str:
    yes, no = limits
    return YES if value >= yes - 1e-9 else NO if value <= no + 1e-9 else OPEN
