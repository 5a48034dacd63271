"""Is it stable? Under small noise on the embeddings, and in other trainings."""

from __future__ import annotations

from typing import Any

from attnaudit.results.card import Answer
from attnaudit.results.number_formats import number, percent
from attnaudit.results.questions import (
    NOISE_DISTANCE,
    PARTLY,
    TOP_WEIGHT_KEPT,
    TRAINING_DISTANCE,
    UNKNOWN,
    YES,
    Question,
)
from attnaudit.results.rules.judging import (
    OPEN,
    ORDER,
    TOO_WIDE,
    Judgement,
    in_group,
    judge,
    make_answer,
)
from attnaudit.results.rules.numbers import Numbers

_MIN_AGREEMENT = 0.2  # tau of two trainings, below which they rank the words differently
_MIN_SAME = 0.9  # decisions that other trainings share; the card says so if there are fewer
_OTHERS = (
    "noise_stability/top_k_overlap",
    "stability/tau",
    "stability/same_decision",
)


def stable(numbers: Numbers, about: dict[str, Any]) -> Answer:
    """Answer from noise and from other trainings, the least favourable of all."""
    question = Question.STABLE
    kept = judge(numbers, question, TOP_WEIGHT_KEPT)
    moved = judge(numbers, question, NOISE_DISTANCE)
    training = judge(numbers, question, TRAINING_DISTANCE)
    findings = numbers.known(TOP_WEIGHT_KEPT, NOISE_DISTANCE, TRAINING_DISTANCE, *_OTHERS)
    judged: list[tuple[Judgement, str, str]] = []  # with its reason and answer
    if kept is not None and moved is not None:
        noise = min(kept, moved, key=lambda each: ORDER.index(each.answer))
        judged.append((noise, _under_noise(kept, moved, noise), noise.answer))
    if training is not None:
        judged.append((training, *_in_training(numbers, training)))
    if not judged:
        ran = next((name for name in ("noise_stability", "stability") if numbers.ran(name)), None)
        name = TRAINING_DISTANCE if ran == "stability" else TOP_WEIGHT_KEPT
        reason = numbers.why_unknown(ran or "noise_stability", name)
        return make_answer(question, UNKNOWN, reason, findings)
    deciding, _, answer = min(judged, key=lambda each: (ORDER.index(each[2]), each[0].is_open))
    findings = (deciding.finding, *(finding for finding in findings if finding != deciding.finding))
    reasons = [reason for _, reason, _ in judged]
    if training is None and not numbers.ran("stability"):
        reasons.append(_how_to_compare(about))
    is_open = deciding.is_open
    partly = "it is stable only in part"
    if is_open and answer == PARTLY:
        partly = f"its stability is unclear {TOO_WIDE}"
    return make_answer(
        question, answer, "; ".join(reasons), findings, partly=partly, is_open=is_open
    )


def _under_noise(kept: Judgement, moved: Judgement, noise: Judgement) -> str:
    share, distance = max(kept.finding.relative, 0.0), moved.finding.value
    words = (
        f"under small noise the most attended words keep {percent(share)} of their lead, and the "
        f"weights move by {percent(distance)} of the maximum distance"
    )
    return words + (in_group(noise) or (OPEN if noise.is_open else ""))


def _in_training(numbers: Numbers, training: Judgement) -> tuple[str, str]:
    """The reason, and the answer: nearly uniform attention is close to itself in every training,
    however its weights are ranked, so that a yes needs the same ranking, too."""
    tau, same = numbers("stability/tau"), numbers("stability/same_decision")
    answer = training.answer
    because = (
        "where another training decides the same, its attention is "
        f"{percent(training.finding.value)} of the maximum distance away"
    )
    if answer == YES and not (tau is not None and tau.low > _MIN_AGREEMENT):
        answer = PARTLY
        if tau is None or tau.value <= _MIN_AGREEMENT:
            because += ", but it ranks the words differently"
        else:
            because += "; whether it ranks the words alike is unclear"
        because += f" (tau {number(None if tau is None else tau.value, 2)})"
    if same is not None and same.value < _MIN_SAME:
        because += f"; only {percent(same.value)} of the decisions are the same"
    return because + (in_group(training) or (OPEN if training.is_open else "")), answer


def _how_to_compare(about: dict[str, Any]) -> str:
    """How to give other trainings, in the interface that made these results."""
    how = "pass others as other_models=[…]"
    # All results that were read back have "run"; only those of `attnaudit run` have choices.
    if "choices" in about.get("run", {}):
        how = "train two more with --other-seeds 2"
    elif "texts" in about:
        how = "name the folder of another with --other-models"
    return f"what another training would attend to is not known ({how})"
