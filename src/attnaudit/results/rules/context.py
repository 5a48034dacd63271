"""What stands around the answers: the accuracy, and what makes every answer doubtful."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attnaudit.results.groups import describe_group
from attnaudit.results.number_formats import number, percent
from attnaudit.results.questions import TOP_WORDS_CONTRAST, TRAINING_DISTANCE
from attnaudit.results.rules.numbers import MIN_GROUP, Numbers

_FEW_EXAMPLES = 50
_MANY_ON_MARKS = 0.5
_MANY_AT_POSITION = 0.5
_MANY_HIDDEN = 0.1
_LARGE_DISAGREEMENT = 0.2


def accuracy(numbers: Numbers, about: dict[str, Any]) -> str:
    """Accuracy on the audited texts next to the majority-class baseline, or why it is unknown."""
    correct, stored = numbers("uniform_attention/correct"), about.get("accuracy")
    majority = about.get("majority")
    if correct is not None:
        stored = {"mean": correct.value, "low": correct.low, "high": correct.high}
    if stored is None:
        reason = "no labels" if majority is None else "the audit uniform_attention was not run"
        return f"Accuracy unknown: {reason}."
    mean, low, high = (number(stored[key], 2) for key in ("mean", "low", "high"))
    interval = "" if stored["low"] is None else f" [{low}, {high}]"  # a single text has none
    baseline = "" if majority is None else f"; majority-class baseline {number(majority, 2)}"
    return f"Accuracy {mean}{interval} on {_texts(numbers.count)}{baseline}."


def cautions(numbers: Numbers, about: dict[str, Any]) -> Iterator[str]:
    """What makes every answer doubtful, or what the answers do not show."""
    count = numbers.count
    if count == 1:
        yield "only one example was audited, so there are no intervals"
    elif 0 < count < _FEW_EXAMPLES:
        yield (
            f"only {count} examples were audited; intervals are rough with fewer than "
            f"{_FEW_EXAMPLES}"
        )
    if cut := about.get("truncated"):
        are, were = ("is", "was") if cut == 1 else ("are", "were")
        yield f"{cut} of {_texts(count)} {are} longer than the model can read and {were} cut"
    other = numbers(TRAINING_DISTANCE)
    if other is not None and other.value == 0:
        yield (
            "the other training has exactly the same attention; check that it is not the same model"
        )
    yield from _about_accuracy(numbers, about)
    yield from _about_weights(numbers)
    if few := _small_groups(numbers):
        yield f"too few to be judged on their own (fewer than {MIN_GROUP}): {', '.join(few)}"


def _about_accuracy(numbers: Numbers, about: dict[str, Any]) -> Iterator[str]:
    correct, majority = numbers("uniform_attention/correct"), about.get("majority")
    if correct is not None and majority is not None and correct.low <= majority:
        better = "barely" if correct.value > majority else "not"
        mean, low, high = (number(share, 2) for share in (correct.value, correct.low, correct.high))
        yield (
            f"the model is {better} better than the majority-class baseline (accuracy {mean} "
            f"[{low}, {high}], baseline {number(majority, 2)}), so there may be nothing to explain"
        )


def _about_weights(numbers: Numbers) -> Iterator[str]:
    marks = numbers("position/weight_on_marks")
    if marks is not None and marks.value > _MANY_ON_MARKS:
        yield (
            f"{percent(marks.value)} of the attention is on special tokens; the answers are about "
            "the rest, the weights of the words"
        )
    stays = numbers("position/stays_at_position")
    if stays is not None and stays.low > _MANY_AT_POSITION:
        yield (
            f"in {percent(stays.value)} of the texts attention stays at its place when the word "
            "there is moved: it follows the position, not the word"
        )
    hidden = numbers("redundancy/hidden_flip")
    if hidden is not None and hidden.low > _MANY_HIDDEN:
        yield (
            f"in {percent(hidden.value)} of the texts the top words back each other up: leaving "
            "out one at a time shows less than they do"
        )
    forms = numbers("erasure_forms/disagreement")
    if forms is not None and forms.value > _LARGE_DISAGREEMENT:
        yield (
            "deleting, masking and padding the same words change the probability by amounts that "
            f"differ by {number(forms.value, 2)} on average: no form of leaving out words is a "
            "clean test here"
        )


def _small_groups(numbers: Numbers) -> list[str]:
    if len(numbers.groups) < 2 or numbers.count < _FEW_EXAMPLES:
        return []
    judged = TOP_WORDS_CONTRAST if numbers.ran("top_words") else ""
    return [
        describe_group(name)
        for name, count in numbers.groups.items()
        if (numbers.values(judged, name) if judged else count) < MIN_GROUP
    ]


def _texts(count: int) -> str:
    return f"{count} text{'' if count == 1 else 's'}"
