"""The order and split of 20 Newsgroups in the released notebook of Jain & Wallace (2019), had again from the names of the posts.

The notebook takes the posts as scikit-learn gives them: those of all 20 groups, sorted and shuffled twice with fixed seeds.
Where the posts of two groups end up depends on how many the others have, which is known; the others need not be there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnaudit.core.errors import InputError
from attnaudit.data.splits import Example

POSTS = {  # group -> posts in train, in test
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
    """Group after group, each as shuffled. `names` has all posts of "train/rec.autos" and so on, the empty ones too."""
    shuffled: list[str] = []
    for at, part in enumerate(("train", "test")):
        places = [
            f"{part}/{group}/{number}" for group in GROUPS for number in range(POSTS[group][at])
        ]
        shuffled += _shuffle(places, _WITHIN_PART)
    rank = {place: number for number, place in enumerate(_shuffle(shuffled, _OVERALL))}
    ranks = {
        f"{where}/{name}": rank.get(f"{where}/{number}", len(rank))
        for where, posts in names.items()
        for number, name in enumerate(sorted(posts))
    }
    return sorted(
        examples,
        key=lambda each: (
            chosen.index(each.example_id.split("/")[1]),
            ranks[each.example_id],
            each.example_id,
        ),
    )


def notebook_split(
    examples: Sequence[Example],
) -> tuple[tuple[Example, ...], tuple[Example, ...], tuple[Example, ...]]:
    """Train, dev and test. The second split is of the first one's train in the order in which it was drawn."""
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
            "Take the corpus anew, whole, or split=bydate."
        ) from error
    return tuple(examples[i] for i in rest), tuple(examples[i] for i in fifth)


def _shuffle(values: Sequence[Any], seed: int) -> list[Any]:
    order = np.arange(len(values))
    np.random.RandomState(seed).shuffle(order)
    return [values[i] for i in order.tolist()]
