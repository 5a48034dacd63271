"""The search for the best words, against trying every set."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
import torch
from torch import Tensor

from attnaudit.audits.set_search import Goal, Search, all_sets, beam_search, run_searches
from attnaudit.core import memory_budget
from attnaudit.models.glass import Glass, glass_batch


def made_up(words: int, seed: int):
    """Log-odds of what is left of a text: effects of words and of pairs of words."""
    draw = np.random.default_rng(seed)
    single, pair = draw.normal(size=words), draw.normal(size=(words, words)) * 0.4

    def odds(deleted: Tensor) -> Tensor:
        left = (~deleted).double().numpy()
        return torch.tensor(left @ single + np.einsum("ki,ij,kj->k", left, pair, left))

    return odds


def finish(search: Search, odds) -> tuple[float, int, set[int]]:
    """The result of a search, the number of sets read, and the sizes deleted."""
    read, sizes = 0, set()
    asked = next(search)
    while True:
        read += len(asked)
        sizes |= set(asked.sum(-1).tolist())
        try:
            asked = search.send(odds(asked))
        except StopIteration as stop:
            return stop.value, read, sizes


GOALS = [Goal(keep, highest, 1e-9) for keep in (False, True) for highest in (False, True)]


@pytest.mark.parametrize("goal", GOALS)
def test_sets_of_one_word_are_read_in_parts(goal: Goal, monkeypatch: pytest.MonkeyPatch) -> None:
    odds = made_up(30, 3)
    whole = finish(beam_search(goal, 30, 6, width=3, passes=200), odds)
    monkeypatch.setattr(memory_budget, "NUMBERS_AT_ONCE", 120)
    first = next(beam_search(goal, 30, 6, width=3, passes=200))
    assert first.shape == (4, 30)
    assert first.sum(-1).tolist() == [29 if goal.keep else 1] * 4
    assert finish(beam_search(goal, 30, 6, width=3, passes=200), odds) == whole


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_wide_beam_finds_the_best_of_all_sets(goal: Goal, size: int) -> None:
    for seed in range(5):
        odds = made_up(7, seed)
        every = [set(each) for each in combinations(range(7), size)]
        values = []
        for each in every:
            gone = [(n in each) != goal.keep for n in range(7)]
            values.append(float(odds(torch.tensor([gone]))))
        expected = max(values) if goal.highest else min(values)
        found, _, _ = finish(beam_search(goal, 7, size, width=40, passes=10**6), odds)
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("goal", GOALS)
def test_a_narrow_beam_is_seldom_far_below_the_best_and_never_above(goal: Goal) -> None:
    """The gap as a share of the distance between the mean and the best of all sets."""
    gaps = []
    for seed in range(40):
        odds = made_up(12, seed)
        every = odds(goal.to_delete(all_sets(12, 4)))
        found, _, _ = finish(beam_search(goal, 12, 4, width=3, passes=500), odds)
        best = goal.best(every)
        gaps.append((best - found) / (best - float(every.mean())))
    assert min(gaps) >= -1e-12
    assert np.mean(gaps) < 0.02
    assert max(gaps) < 0.25


def test_few_passes_make_a_narrow_search() -> None:
    """Of 140 of 700 words: a word is looked at once, and then one more for each step."""
    odds = made_up(700, 0)
    singles = odds(torch.eye(700, dtype=torch.bool))
    search = beam_search(GOALS[1], 700, 140, width=3, passes=28, singles=singles)
    found, read, _ = finish(search, odds)
    assert 140 <= read < 230
    by_singles = torch.zeros(1, 700, dtype=torch.bool)
    by_singles[0, singles.argsort(descending=True)[:140]] = True
    assert found > float(odds(by_singles)) + 1


@pytest.mark.parametrize(
    ("words", "size", "width"), [(20, 4, 3), (40, 8, 3), (200, 40, 3), (61, 17, 2), (9, 8, 3)]
)
@pytest.mark.parametrize("goal", GOALS)
def test_the_search_reads_about_as_many_texts_as_allowed_and_beats_random_sets(
    goal: Goal, words: int, size: int, width: int
) -> None:
    odds = made_up(words, 0)
    found, read, sizes = finish(beam_search(goal, words, size, width=width, passes=300), odds)
    assert read <= 300 + words + 1 + 8 * width * (width + 1 + math.ceil(size / 8))
    assert (words - size if goal.keep else size) in sizes
    drawn = torch.rand(200, words, generator=torch.Generator().manual_seed(0)).argsort(-1) < size
    at_random = odds(goal.to_delete(drawn))
    ahead = found - at_random if goal.highest else at_random - found
    assert (ahead >= 0).all()


def test_known_sets_of_one_word_are_not_read_again() -> None:
    odds, goal = made_up(10, 1), GOALS[0]
    singles = odds(torch.eye(10, dtype=torch.bool))
    asked, read, sizes = finish(beam_search(goal, 10, 3, width=2, passes=100), odds)
    again, fewer, others = finish(
        beam_search(goal, 10, 3, width=2, passes=100, singles=singles), odds
    )
    assert (again, fewer) == (asked, read - 10)
    assert sizes - others == {1}


def test_log_odds_that_differ_by_rounding_are_taken_in_the_order_of_the_words() -> None:
    goal = Goal(keep=False, highest=True, rounding=1e-5)
    assert goal.order(torch.tensor([1.0, 2.0, 1.0 + 1e-7, 2.0 - 1e-7])).tolist() == [1, 3, 0, 2]


@pytest.mark.parametrize(("words", "size"), [(1, 1), (5, 2), (8, 3)])
def test_all_sets_are_all_there(words: int, size: int) -> None:
    sets = all_sets(words, size)
    assert len({tuple(each) for each in sets.tolist()}) == len(sets) == math.comb(words, size)
    assert (sets.sum(-1) == size).all()


def test_searches_of_several_texts_run_side_by_side() -> None:
    model = Glass("oracle", dtype=torch.float64)
    record = model.read(glass_batch(4))
    words = record.content
    steps: list[int] = []

    def without(*places: int) -> Search[list[float]]:
        found = []
        for place in places:
            drop = torch.zeros(1, int(words[len(places)].sum()), dtype=torch.bool)
            drop[0, place] = True
            odds = yield drop
            steps.append(place)
            found += odds.tolist()
        return found

    found = run_searches(model, record, words, [(2, without(0, 1)), (1, without(3))])
    assert steps == [0, 3, 1]
    for example, places, odds in ((2, (0, 1), found[0]), (1, (3,), found[1])):
        for place, value in zip(places, odds, strict=True):
            tokens = record.batch.tokens[example][record.batch.mask[example]].tolist()
            del tokens[place]
            batch = record.batch.rows(torch.tensor([example]))
            drop = torch.zeros_like(batch.mask)
            drop[0, place] = True
            logits = model.read(batch.without(drop)).logits[0]
            own = int(record.predicted[example])
            assert value == pytest.approx(float(logits[own] - logits[1 - own]), abs=1e-12)
            assert batch.without(drop).tokens[0].tolist() == tokens
