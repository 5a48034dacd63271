"""The keyword simulator: only the evidence depends on the label."""

from __future__ import annotations

from collections import Counter

from attnaudit.data.corpora.keyword import DISTRACTORS, EVIDENCE, FILLERS, keyword, keyword_example
from attnaudit.data.splits import Example


def test_the_evidence_words_decide_and_are_marked() -> None:
    made = keyword(evidence=2, distractors=4, length=15, jitter=3, train=400, dev=11, test=10)
    assert (len(made.train), len(made.dev), len(made.test)) == (400, 11, 10)
    for example in (*made.train, *made.dev, *made.test):
        evidence = [
            token
            for token, true in zip(example.tokens, _known(example.evidence), strict=True)
            if true
        ]
        assert len(evidence) == 2
        assert set(evidence) <= set(EVIDENCE[_label(example)])
        assert sum(token in DISTRACTORS for token in example.tokens) == 4
        assert sum(token in FILLERS for token in example.tokens) == len(example.tokens) - 6
    assert {len(example.tokens) for example in made.train} == set(range(12, 19))
    assert Counter(example.label for example in made.train) == {0: 200, 1: 200}


def test_without_its_evidence_a_text_is_the_same_in_both_classes() -> None:
    """Exact, not statistical: the other label changes the evidence words and nothing else."""
    for number in range(50):
        one, other = (
            keyword_example(f"test/{number}", label, 2, 3, 20, 5, seed=1) for label in (0, 1)
        )
        assert one.evidence == other.evidence
        pairs = zip(one.tokens, other.tokens, _known(one.evidence), strict=True)
        assert all((first != second) == true for first, second, true in pairs)


def test_the_lexicons_share_no_word() -> None:
    words = [*EVIDENCE[0], *EVIDENCE[1], *DISTRACTORS, *FILLERS]
    assert len(words) == len(set(words)) == 5 + 5 + 8 + 200


def test_evidence_lies_anywhere_and_fillers_are_zipf_like() -> None:
    made = keyword(length=20, jitter=0, train=2000, dev=0, test=0)
    places = Counter(_known(example.evidence).index(True) for example in made.train)
    assert len(places) == 20
    assert all(60 < count < 140 for count in places.values())
    counts = Counter(token for example in made.train for token in example.tokens)
    assert 1.7 < counts[FILLERS[0]] / counts[FILLERS[1]] < 2.3
    assert 7 < counts[FILLERS[0]] / counts[FILLERS[9]] < 13


def test_keyword_depends_on_the_seed_and_on_nothing_else() -> None:
    made = keyword(train=20, dev=5, test=5, seed=3)
    assert made == keyword(seed=3, test=5, dev=5, train=20)
    assert made.train != keyword(train=20, dev=5, test=5, seed=4).train
    assert made.train == keyword(train=40, dev=5, test=5, seed=3).train[:20]


def _known(values: tuple | None) -> tuple:
    assert values is not None
    return values


def _label(example: Example) -> int:
    assert example.label is not None
    return example.label
