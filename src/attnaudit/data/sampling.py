"""Fewer examples than there are: stratified by label, the same for the same seed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from attnaudit.core.errors import InputError
from attnaudit.core.randomness import derive


class Labelled(Protocol):
    @property
    def example_id(self) -> str: ...
    @property
    def label(self) -> Any: ...


One = TypeVar("One", bound=Labelled)


def sampled(examples: Sequence[One], count: int | None, seed: int) -> Sequence[One]:
    """`count` of the examples in their order, each label in its share (to within one); all of them where there are no more or count is None.

    Which ones hangs on (seed, example_id) only, so a larger sample of one label holds the smaller one.
    """
    if count is None or count >= len(examples):
        return examples
    if count < 1:
        raise InputError(f"A sample needs at least one example, got {count}.")
    by_label: dict[Any, list[int]] = defaultdict(list)
    for at, example in enumerate(examples):
        by_label[example.label].append(at)
    # Largest remainders: the shares rounded down, then one more for those that lost most.
    exact = {label: count * len(members) / len(examples) for label, members in by_label.items()}
    taken = {label: int(share) for label, share in exact.items()}
    for label in sorted(exact, key=lambda each: taken[each] - exact[each])[
        : count - sum(taken.values())
    ]:
        taken[label] += 1
    chosen: list[int] = []
    for label, members in by_label.items():
        ranked = sorted(members, key=lambda at: derive(seed, "sample", examples[at].example_id))
        chosen += ranked[: taken[label]]
    return [examples[at] for at in sorted(chosen)]
