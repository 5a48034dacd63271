"""Random scores: uniform, independent, and drawn per example id."""

from __future__ import annotations

from dataclasses import replace

import torch
from scipy.stats import kstest, spearmanr

from attnaudit.core.contract import Batch, Record
from attnaudit.measures.random import random
from word_cases import (
    word_case,
)


def nameless(names: list[str], items: int = 5) -> Record:
    """As much of a record as random scores may look at."""
    _, record = word_case("two classes")
    tokens = torch.full((len(names), items), 7)
    batch = Batch(tuple(names), tokens, tokens > 0)
    return replace(record, batch=batch, content=tokens > 0)


def test_random_scores_are_uniform_and_independent() -> None:
    model, _ = word_case("two classes")
    draws = random(model, nameless([f"text/{index}" for index in range(2000)]), 0).numpy()
    assert draws.shape == (2000, 5)
    assert kstest(draws.ravel(), "uniform").pvalue > 1e-3
    for place in range(5):
        assert kstest(draws[:, place], "uniform").pvalue > 1e-4
        assert abs(spearmanr(draws[:, place], draws[:, (place + 1) % 5])[0]) < 0.1
    assert abs(spearmanr(draws[:-1, 0], draws[1:, 0])[0]) < 0.1
    other = random(model, nameless([f"text/{index}" for index in range(2000)]), 1).numpy()
    assert abs(spearmanr(draws.ravel(), other.ravel())[0]) < 0.05


def test_random_scores_depend_on_example_and_position_not_on_the_batch() -> None:
    model, _ = word_case("two classes")
    together = random(model, nameless(["a", "b", "c"], items=9), 0)
    for index, name in ((2, "c"), (0, "a")):
        assert torch.equal(random(model, nameless([name]), 0)[0], together[index, :5])
    assert len(set(together.ravel().tolist())) == 27
