"""Rules that split a set of examples into two or three without overlap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.splits import SPLITS, Example

Halves = tuple[tuple[Example, ...], tuple[Example, ...]]
LEAST = 4  # texts per class, so that some are left after two stratified draws


def divide(
    examples: Sequence[Example], share: float, *, seed: int, stratified: bool = True
) -> Halves:
    """(the rest, a share of the examples), by scikit-learn's train_test_split; order kept.

    Called as in the released notebooks of Jain & Wallace (2019).
    """
    check_share("a split", share)
    if share in (0, 1):
        return (tuple(examples), ()) if share == 0 else ((), tuple(examples))
    from sklearn.model_selection import train_test_split  # takes a second

    labels = [-1 if example.label is None else example.label for example in examples]
    try:
        rest, part = train_test_split(
            range(len(examples)),
            test_size=share,
            random_state=seed,
            stratify=labels if stratified else None,
        )
    except ValueError as error:
        raise InputError(
            f"Cannot split off {share:.0%} of {len(examples)} examples: {error}. "
            "Give more examples, or splits of your own."
        ) from error
    return tuple(examples[i] for i in sorted(rest)), tuple(examples[i] for i in sorted(part))


def divide_together(examples: Sequence[Example], share: float, *, seed: int) -> Halves:
    """As `divide`, stratified, but identical texts stay together; `share` is of distinct texts."""
    check_share("a split", share)
    distinct = _distinct(examples)
    count = round(share * len(distinct))
    # scikit-learn rounds up: half a text less gives exactly this count.
    _, part = divide(distinct, max(0, count - 0.5) / max(1, len(distinct)), seed=seed)
    texts = {(example.tokens, example.query) for example in part}
    in_part = [(example.tokens, example.query) in texts for example in examples]
    return (
        tuple(example for example, taken in zip(examples, in_part, strict=True) if not taken),
        tuple(example for example, taken in zip(examples, in_part, strict=True) if taken),
    )


def _distinct(examples: Sequence[Example]) -> tuple[Example, ...]:
    """The first example of each text."""
    first: dict[Any, Example] = {}
    for example in examples:
        first.setdefault((example.tokens, example.query), example)
    return tuple(first.values())


def fill_splits(
    given: dict[str, tuple[Example, ...]], classes: Sequence[str], *, corpus: str, seed: int
) -> tuple[dict[str, tuple[Example, ...]], str]:
    """(splits, the rule in words): dev and test are a tenth of train each if they are missing.

    Draws are stratified, and identical texts stay together.
    """
    splits = {split: given.get(split, ()) for split in SPLITS}
    missing = [split for split in ("test", "dev") if not splits[split]]
    if not missing:
        return splits, "as given"
    _check_enough(splits["train"], classes, corpus)
    for already, split in enumerate(missing):
        splits["train"], splits[split] = divide_together(
            splits["train"], 1 / (10 - already), seed=seed
        )
    rule = (
        f"{' and '.join(reversed(missing))}: a tenth of the training texts given each, "
        f"stratified, seed {seed}, identical texts kept together"
    )
    return splits, rule


def _check_enough(train: Sequence[Example], classes: Sequence[str], corpus: str) -> None:
    texts = Counter(example.label for example in _distinct(train))
    advice = "Give more examples, or splits of your own."
    if sum(texts.values()) < 10 * len(classes):
        raise InputError(
            f"{corpus}: {sum(texts.values())} different texts are too few to take a tenth for dev "
            f"and test each: {len(classes)} classes need at least {10 * len(classes)}. {advice}"
        )
    for label, name in enumerate(classes):
        if texts[label] < LEAST:
            raise InputError(
                f"{corpus}: the class {name!r} has {texts[label]} different texts in train, "
                f"at least {LEAST} are needed to take dev and test from it. {advice}"
            )


def check_share(what: str, share: Any) -> None:
    """Reject anything but a number from 0 to 1; `what` names the option."""
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise InputError(f"{what}: a share must be from 0 to 1, got {share!r}.")
