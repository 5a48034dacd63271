"""The order and split of 20 Newsgroups in the released notebook of Jain & Wallace (2019).

The notebook takes the posts in the order of scikit-learn: those of all 20 groups, sorted and
shuffled twice with fixed seeds. The positions of two groups depend on the sizes of the others,
which are known; their posts are not needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnaudit.core.errors import InputError
from attnaudit.data.splits import Example

POSTS = {  # group -> number of posts in train and test
    "alt.atheism": (480, 319),
    "comp.graphics": (584, 389),
    "comp.os.ms-windows.misc": (591, 394),
    "comp.sys.ibm.pc.hardware": (590, 392),
    "comp.sys.mac.hardware": (578, 385),
    "comp.windows.x": (593, 395),
    "misc.forsale": (585, 390),
    "rec.autos": (594, 396),
    "rec.motorcycles": (598, 398),
    "rec.sport.baseball": (597, 397),
    "rec.sport.hockey": (600, 399),
    "sci.crypt": (595, 396),
    "sci.electronics": (591, 393),
    "sci.med": (594, 396),
    "sci.space": (593, 394),
    "soc.religion.christian": (599, 398),
    "talk.politics.guns": (546, 364),
    "talk.politics.mideast": (564, 376),
    "talk.politics.misc": (465, 310),
    "talk.religion.misc": (377, 251),
}
GROUPS = tuple(POSTS)
SEED = 13478  # of both splits
_WITHIN_PART, _OVERALL = 0, 42  # seeds of scikit-learn's two shuffles


def notebook_order(
    examples: Sequence[Example], names: Mapping[str, Sequence[str]], chosen: Sequence[str]
) -> list[Example]:
    """The examples group by group, each in shuffled order.

    `names` has the names of all posts, empty ones too, by part and group ("train/rec.autos").
    """
    shuffled: list[str] = []
    for index, part in enumerate(("train", "test")):
        slots = [
            f"{part}/{group}/{number}" for group in GROUPS for number in range(POSTS[group][index])
        ]
        shuffled += _shuffle(slots, _WITHIN_PART)
    rank = {slot: number for number, slot in enumerate(_shuffle(shuffled, _OVERALL))}
    ranks = {
        f"{where}/{name}": rank.get(f"{where}/{number}", len(rank))
        for where, posts in names.items()
        for number, name in enumerate(sorted(posts))
    }
    return sorted(
        examples,
        key=lambda example: (
            chosen.index(example.example_id.split("/")[1]),
            ranks[example.example_id],
            example.example_id,
        ),
    )


def notebook_split(
    examples: Sequence[Example],
) -> tuple[tuple[Example, ...], tuple[Example, ...], tuple[Example, ...]]:
    """(train, dev, test): the second split is of the first one's rest, in the order drawn."""
    rest, test = _fifth(examples)
    train, dev = _fifth(rest)
    return train, dev, test


def _fifth(examples: Sequence[Example]) -> tuple[tuple[Example, ...], tuple[Example, ...]]:
    from sklearn.model_selection import train_test_split

    try:
        rest, fifth = train_test_split(
            range(len(examples)),
            test_size=0.2,
            random_state=SEED,
            stratify=[example.label for example in examples],
        )
    except ValueError as error:
        raise InputError(
            f"newsgroups: cannot take a fifth of {len(examples)} posts: {str(error).rstrip('.')}. "
            "Download the whole corpus again, or choose split=bydate."
        ) from error
    return tuple(examples[i] for i in rest), tuple(examples[i] for i in fifth)


def _shuffle(values: Sequence[Any], seed: int) -> list[Any]:
    order = np.arange(len(values))
    np.random.RandomState(seed).shuffle(order)
    return [values[i] for i in order.tolist()]
