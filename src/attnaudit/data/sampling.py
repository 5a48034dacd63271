"""A sample of the examples, stratified by label; the same for the same seed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from attnaudit.core.errors import InputError
from attnaudit.core.randomness import derive


class Labelled(Protocol):
    """Anything with an id and a label."""

    @property
    def example_id(self) -> str: ...
    @property
    def label(self) -> Any: ...


LabelledExample = TypeVar("LabelledExample", bound=Labelled)


def sampled(
    examples: Sequence[LabelledExample], count: int | None, seed: int
) -> Sequence[LabelledExample]:
    """Draw `count` examples, keeping their order and (to within one) the share of each label.

    The draw depends on (seed, example_id) only, so for each label a larger sample contains the
    smaller one.

    Parameters
    ----------
    examples : sequence
        Objects with `example_id` and `label`.
    count : int or None
        Size of the sample; None, or more than there are, returns all examples.
    seed : int
        Seed of the draw.

    Examples
    --------
    >>> from attnaudit.data.splits import Example
    >>> examples = [Example(f"test/{i}", ("word",), label=i % 2) for i in range(10)]
    >>> [example.label for example in sampled(examples, 4, seed=0)].count(1)
    2
    """
    if count is None or count >= len(examples):
        return examples
    if count < 1:
        raise InputError(f"A sample needs at least one example, got {count}.")
    by_label: dict[Any, list[int]] = defaultdict(list)
    for index, example in enumerate(examples):
        by_label[example.label].append(index)
    # Largest remainders: shares rounded down, then one more for the labels that lost most.
    shares = {label: count * len(members) / len(examples) for label, members in by_label.items()}
    sizes = {label: int(share) for label, share in shares.items()}
    left_over = count - sum(sizes.values())
    for label in sorted(shares, key=lambda label: sizes[label] - shares[label])[:left_over]:
        sizes[label] += 1
    chosen: list[int] = []
    for label, members in by_label.items():
        ranked = sorted(
            members, key=lambda index: derive(seed, "sample", examples[index].example_id)
        )
        chosen += ranked[: sizes[label]]
    return [examples[index] for index in sorted(chosen)]
