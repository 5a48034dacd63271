"""Rules by which one set of examples becomes two that share none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attnaudit.datasets.splits import Example
from attnaudit.errors import InputError

Halves = tuple[tuple[Example, ...], tuple[Example, ...]]


def divide(examples: Sequence[Example], share: float, *, seed: int, stratified: bool = True) -> Halves:
    """(the rest, `share` of the examples): scikit-learn's train_test_split, as the released notebooks call it; order kept."""
    from sklearn.model_selection import train_test_split

    check_share("a split", share)
    if share in (0, 1):
        return (tuple(examples), ()) if share == 0 else ((), tuple(examples))
    labels = [example.label for example in examples]
    try:
        rest, part = train_test_split(
            range(len(examples)), test_size=share, random_state=seed, stratify=labels if stratified else None
        )
    except ValueError as error:
        raise InputError(
            f"Cannot take {share:.0%} of {len(examples)} examples apart: {error}. Give more examples, or splits of your own."
        ) from error
    return tuple(examples[i] for i in sorted(rest)), tuple(examples[i] for i in sorted(part))


def check_share(what: str, share: Any) -> None:
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise InputError(f"{what}: a share must be from 0 to 1, got {share!r}.")
