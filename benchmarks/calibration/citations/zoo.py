"""The readers that are audited: all combinations of knobs are possible, each is drawn once."""

from __future__ import annotations

import random

from benchmarks.calibration.citations.readers import BOTH, EITHER, ONE, TWO_OF_THREE, Program

COUNT = 120  # per half
_FIRST_HELD_OUT = 1200  # their numbers; drawn when rules and thresholds were fixed
FIT, HELD_OUT = "fit", "held out"
# (points, place): what attention follows, from always the source used to never
_FOLLOWS = [
    (1.0, 0.0),
    (0.95, 0.05),
    (0.9, 0.0),
    (0.85, 0.1),
    (0.8, 0.2),
    (0.6, 0.2),
    (0.5, 0.5),
    (0.3, 0.0),
    (0.25, 0.7),
    (0.1, 0.8),
    (0.0, 1.0),
    (0.0, 0.0),
]
_KNOWS = (0.0, 0.0, 0.0, 0.1, 0.3, 0.6, 0.9, 1.0)
_NEEDS = (ONE, ONE, ONE, ONE, EITHER, EITHER, BOTH, BOTH, BOTH, TWO_OF_THREE)


def zoo() -> list[Program]:
    """The programs, always the same; those that the error rates are of first."""
    return [_program(first + number) for first in (_FIRST_HELD_OUT, 0) for number in range(COUNT)]


def half_of(program: Program) -> str:
    """The half that thresholds are tried on, or the one that the error rates are of."""
    return FIT if int(program.name.rpartition("-")[2]) < _FIRST_HELD_OUT else HELD_OUT


def _program(number: int) -> Program:
    draw = random.Random(f"reader {number}")
    points, place = _FOLLOWS[number % len(_FOLLOWS)]
    needs = draw.choice(_NEEDS)
    return Program(
        f"reader-{number:04d}",
        points,
        place,
        at=draw.choice((0, 0, -1, 1)),
        knows=draw.choice(_KNOWS),
        needs=needs,
        sources=draw.choice((5, 8) if needs == TWO_OF_THREE else (3, 5, 10)),
        guess=draw.choice((0.001, 0.05, 0.25)),
        read=draw.choice((0.6, 0.95)),
        peak=draw.choice((0.5, 0.7, 0.9)),
        noise=draw.choice((0.0, 0.1, 0.3)),
    )
