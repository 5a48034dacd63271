"""The IMDB reader on the real reviews: their number, their stars, and how many are short enough."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from attnaudit.data import load

pytestmark = [
    pytest.mark.real_data,
    pytest.mark.skipif("ATTNAUDIT_DATA" not in os.environ, reason="ATTNAUDIT_DATA is not set"),
]

STARS = {
    "train": (5100, 2284, 2420, 2696, 2496, 3009, 2263, 4732),
    "test": (5022, 2302, 2541, 2635, 2307, 2850, 2344, 4999),
}


def test_all_fifty_thousand_by_their_stars_and_again_from_the_cache() -> None:
    everything = (
        "imdb:labels=stars,more_than=null,fewer_than=null,dev_share=0,test_share=1,min_count=1"
    )
    splits = load(everything)
    for split, expected in STARS.items():
        counts = Counter(each.label for each in getattr(splits, split))
        assert tuple(counts[star] for star in range(8)) == expected
    again = load(everything)
    assert again.train[17] == splits.train[17]
    assert len(again.test) == 25_000
    # Under 400 words of Keras: the counts behind the published sizes.
    short = {
        split: Counter(each.label > 3 for each in getattr(again, split) if len(each.tokens) < 400)
        for split in STARS
    }
    assert short == {"train": {False: 10_864, True: 10_652}, "test": {False: 10_917, True: 10_814}}
