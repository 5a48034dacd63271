"""From the truth about texts to the truth about a model: yes, no, not yes, or open."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from benchmarks.calibration import truth
from benchmarks.calibration.truth import NO, NOT_YES, OPEN, YES, TextTruth


class Pointing(Protocol):
    """What some scores show of one text; see truth.py."""

    @property
    def predicted(self) -> int: ...
    @property
    def capture(self) -> float: ...
    @property
    def chance(self) -> float: ...


@dataclass(frozen=True)
class PointingTruth:
    """Whether scores point at what a model uses, over its texts: `points` as in `ModelTruth`."""

    capture: float
    chance: float
    skill: float
    worst_skill: float
    points: str


@dataclass(frozen=True)
class ModelTruth:
    """The truth about a model, over its texts; worst_* is that of the worst predicted class.

    `points` and `matters` are "yes", "no", "not yes" (a whole class fails: a yes is wrong, a no is
    not) or "open" (every answer is allowed). `faithful` is "yes" if both are, "no" if one is "no"
    or "not yes", else "open".
    """

    texts: int
    capture: float
    chance: float
    skill: float
    worst_skill: float
    effect: float
    worst_effect: float
    flips: float
    removed: float
    kept: float
    margin: float
    points: str
    matters: str
    faithful: str


def truth_of_model(texts: list[TextTruth]) -> ModelTruth:
    """Summarise the truth about texts; thresholds are stated in truth.py.

    Examples
    --------
    >>> one = TextTruth(0, capture=1, chance=0.2, effect=0.9, flips=True, removed=1, kept=1,
    ...                 margin=3)
    >>> truth_of_model([one] * 20).faithful
    'yes'
    """
    classes = _classes(texts)
    effect = _mean(texts, "effect")
    worst_effect = min((_mean(group, "effect") for group in classes), default=effect)
    calm = any(_is_inert(group) for group in classes)
    pointing, matters = truth_of_pointing(texts), _matters(texts, worst_effect, calm)
    points = pointing.points
    return ModelTruth(
        texts=len(texts),
        capture=pointing.capture,
        chance=pointing.chance,
        skill=pointing.skill,
        worst_skill=pointing.worst_skill,
        effect=effect,
        worst_effect=worst_effect,
        flips=_mean(texts, "flips"),
        removed=_mean(texts, "removed"),
        kept=_mean(texts, "kept"),
        margin=_mean(texts, "margin"),
        points=points,
        matters=matters,
        faithful=both(points, matters),
    )


def truth_of_pointing(texts: Sequence[Pointing]) -> PointingTruth:
    """Do the shown words of these texts have the Shapley values that the best words have?

    The same definition for attention and for any other scores.

    Examples
    --------
    >>> one = TextTruth(0, capture=1, chance=0.2, effect=0.9, flips=True, removed=1, kept=1,
    ...                 margin=3)
    >>> truth_of_pointing([one] * 20).points
    'yes'
    """
    skill, chance = _skill(texts), _mean(texts, "chance")
    worst = min((_skill(group) for group in _classes(texts)), default=skill)
    return PointingTruth(
        capture=_mean(texts, "capture"),
        chance=chance,
        skill=skill,
        worst_skill=worst,
        points=_points(skill, worst, chance),
    )


def both(points: str, matters: str) -> str:
    """May the attention be shown as an explanation?

    Examples
    --------
    >>> both("yes", "yes"), both("yes", "not yes"), both("open", "yes")
    ('yes', 'no', 'open')
    """
    answers = {points, matters}
    if answers & {NO, NOT_YES}:
        return NO
    return YES if answers == {YES} else OPEN


def _classes(texts: Sequence[Any]) -> list[list[Any]]:
    """The texts of every predicted class that is judged on its own."""
    groups = defaultdict(list)
    for text in texts:
        groups[text.predicted].append(text)
    return [group for group in groups.values() if len(group) >= truth.MIN_TEXTS]


def _points(skill: float, worst: float, chance: float) -> str:
    if math.isnan(skill) or chance > truth.MAX_CHANCE:
        return OPEN
    if skill <= truth.SKILL_NO:
        return NO
    if worst <= truth.CLASS_SKILL_NO:
        return NOT_YES
    return YES if skill >= truth.SKILL_YES and worst >= truth.CLASS_SKILL_YES else OPEN


def _matters(texts: list[TextTruth], worst: float, a_class_is_inert: bool) -> str:
    effect = _mean(texts, "effect")
    if effect <= truth.EFFECT_NO and _mean(texts, "flips") <= truth.FLIPS_NO:
        return NO
    if a_class_is_inert:
        return NOT_YES
    return YES if effect >= truth.EFFECT_YES and worst >= truth.CLASS_EFFECT_YES else OPEN


def _is_inert(group: list[TextTruth]) -> bool:
    return (
        _mean(group, "effect") <= truth.CLASS_EFFECT_NO and _mean(group, "flips") <= truth.FLIPS_NO
    )


def _skill(texts: Sequence[Pointing]) -> float:
    capture, chance = _mean(texts, "capture"), _mean(texts, "chance")
    return (capture - chance) / (1 - chance) if chance < 1 else math.nan


def _mean(texts: Sequence[Any], name: str) -> float:
    values = np.array([getattr(text, name) for text in texts], dtype=float)
    return float(np.nanmean(values)) if not np.isnan(values).all() else math.nan
