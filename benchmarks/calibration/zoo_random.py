"""Handmade models with numbers drawn at random: nobody chose what is true of them.

Only the enumeration in truth.py tells whether their attention is faithful.
"""

from __future__ import annotations

import random

from benchmarks.calibration.corpus import Corpus, Plant
from benchmarks.calibration.design import Design, Numbers
from benchmarks.calibration.entry import Entry, handmade

from attnaudit.core.randomness import derive

COUNT = 32
_ROLES = ("key", "weak", "shortcut", "decoy0", "decoy1", "sink")


def entries(count: int = COUNT) -> list[Entry]:
    """Return `count` models; the first ones are the same whatever the count."""
    return [_entry(f"random-{index:02d}") for index in range(count)]


def _entry(name: str) -> Entry:
    draw = random.Random(derive(0, "calibration", name))
    classes = draw.choice((2, 2, 2, 3, 4))
    rows = draw.choice((1, 1, 1, 2, 3))
    # A trained attention tends to follow what a word says; how closely is drawn.
    follows = draw.random() ** 0.5
    design = Design(
        scores=tuple({} for _ in range(rows)),
        values=tuple({} for _ in range(rows)),
        bypass=_numbers(draw, ("key", "shortcut"), 0.25, 4.0),
        gate=draw.choice(("sum", "sum", "tanh", "any")),
        mix=draw.choice((0.0, 0.0, 0.0, 0.3, 0.7)),
        shifted=draw.choice((0.0, 0.0, 0.0, 0.0, 0.5)),
        first=draw.choice((0.0, 0.0, 0.0, 2.0)),
        score_noise=draw.choice((0.2, 0.5, 1.0)),
        value_noise=draw.choice((0.1, 0.5, 1.5)),
        scale=draw.choice((0.7, 1.0, 1.0, 3.0)),
        classes=classes,
    )
    for row in range(rows):
        values = _numbers(draw, ("key", "weak", "shortcut"), 0.7, 8.0)
        said = {role: values.get(role, 0.0) for role in _ROLES}
        scores = {
            role: follows * 0.6 * said[role] + (1 - follows) * draw.uniform(-1, 4)
            for role in _ROLES
        }
        design.values[row].update(values)
        design.scores[row].update(scores)
    plants = (
        Plant("key", agrees=0.9),
        Plant("weak", chance=0.7, agrees=0.6),
        Plant("shortcut", chance=0.6, agrees=0.8),
        Plant("decoy", chance=0.7, variant=draw.randrange(2)),
        *([Plant("sink", at="first")] if draw.random() < 0.3 else []),
    )
    evidence = draw.choice(("key", "shortcut", None))
    labels = evidence is not None or draw.random() < 0.5
    corpus = Corpus(plants, classes=classes, evidence=evidence, labels=labels)
    return handmade(name, 0, corpus, design)


def _numbers(draw: random.Random, roles: tuple[str, ...], chance: float, largest: float) -> Numbers:
    """Return numbers up to `largest` for some of the roles."""
    drawn = {role: round(draw.uniform(0, largest), 2) for role in roles if draw.random() < chance}
    return drawn or {roles[0]: largest / 2}
