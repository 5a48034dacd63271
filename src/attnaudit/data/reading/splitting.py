"""Rules by which one set of examples becomes two or three that share none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.splits import Example

Halves = tuple[tuple[Example, ...], tuple[Example, ...]]
LEAST = 4  # texts of a class, so that some are left after two stratified draws


def divide(
    examples: Sequence[Example], share: float, *, seed: int, stratified: bool = True
) -> Halves:
    """(the rest, `share` of the examples): scikit-learn's train_test_split, as the released notebooks call it; order kept."""
    from sklearn.model_selection import train_test_split

    check_share("a split", share)
    if share in (0, 1):
        return (tuple(examples), ()) if share == 0 else ((), tuple(examples))
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
            f"Cannot take {share:.0%} of {len(examples)} examples apart: {error}. Give more examples, or splits of your own."
        ) from error
    return tuple(examples[i] for i in sorted(rest)), tuple(examples[i] for i in sorted(part))


def divide_together(examples: Sequence[Example], share: float, *, seed: int) -> Halves:
    """As divide, stratified, but examples of the same words stay together: `share` is of the different texts; order kept."""
    check_share("a split", share)
    different = _different(examples)
    wanted = round(share * len(different))
    # scikit-learn rounds up: half a text less than the number wanted gives just this number.
    _, part = divide(different, max(0, wanted - 0.5) / max(1, len(different)), seed=seed)
    taken = {(example.tokens, example.query) for example in part}
    there = [(example.tokens, example.query) in taken for example in examples]
    return (
        tuple(example for example, out in zip(examples, there, strict=True) if not out),
        tuple(example for example, out in zip(examples, there, strict=True) if out),
    )


def _different(examples: Sequence[Example]) -> tuple[Example, ...]:
    """The first example of each text."""
    first: dict[Any, Example] = {}
    for example in examples:
        first.setdefault((example.tokens, example.query), example)
    return tuple(first.values())


def fill_splits(
    given: dict[str, tuple[Example, ...]], classes: Sequence[str], *, corpus: str, seed: int
) -> tuple[dict[str, tuple[Example, ...]], str]:
    """(train, dev and test, the rule in words): what is missing is a tenth of train each, stratified, the same texts kept together."""
    splits = {split: given.get(split, ()) for split in ("train", "dev", "test")}
    missing = [split for split in ("test", "dev") if not splits[split]]
    if not missing:
        return splits, "as given"
    _check_enough(splits["train"], classes, corpus)
    for already, split in enumerate(missing):
        splits["train"], splits[split] = divide_together(
            splits["train"], 1 / (10 - already), seed=seed
        )
    told = " and ".join(reversed(missing))
    return (
        splits,
        f"{told}: a tenth of the training texts given each, stratified, seed {seed}, identical texts kept together",
    )


def _check_enough(train: Sequence[Example], classes: Sequence[str], corpus: str) -> None:
    texts = Counter(example.label for example in _different(train))
    advice = "Give more examples, or splits of your own."
    if sum(texts.values()) < 10 * len(classes):
        raise InputError(
            f"{corpus}: {sum(texts.values())} different texts are too few to take a tenth for dev and test each: "
            f"{len(classes)} classes need at least {10 * len(classes)}. {advice}"
        )
    for label, name in enumerate(classes):
        if texts[label] < LEAST:
            raise InputError(
                f"{corpus}: the class {name!r} has {texts[label]} different texts in train, at least {LEAST} are needed to take "
                f"dev and test from it. {advice}"
            )


def check_share(what: str, share: Any) -> None:
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise InputError(f"{what}: a share must be from 0 to 1, got {share!r}.")
