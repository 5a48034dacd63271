"""Reading texts without sets of words, against reading each shortened text alone."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import torch

from attnaudit.audits.deletions import (
    _distinct,
    chosen_texts,
    log_odds_without,
    log_odds_without_each,
    ranks,
    read_without,
    share_of,
    whole_log_odds,
    words_of,
)
from attnaudit.core import memory_budget
from attnaudit.core.contract import Batch
from attnaudit.models import with_readout
from attnaudit.models.glass import Glass, glass_batch
from audit_cases import case, every_case
from deletion_cases import odds_by_hand, read_alone


@every_case
def test_log_odds_without_sets_equal_texts_shortened_by_hand(name: str) -> None:
    chosen = case(name)
    record, draw = chosen.record, np.random.default_rng(1)
    drop = torch.tensor(draw.random((len(record.batch), 5, record.content.shape[1])) < 0.5)
    drop[:, 1] = drop[:, 0]
    drop[:, 2] = True  # nothing is left
    found = log_odds_without(chosen.model, record, drop)
    rows = torch.arange(len(drop)).repeat_interleave(5)
    flips = read_without(chosen.model, record, rows, drop.flatten(0, 1)).flipped.view(len(drop), 5)
    assert torch.equal(found[:, 0].nan_to_num(), found[:, 1].nan_to_num())
    seen = {False: 0, True: 0}
    for index in range(len(drop)):
        words = record.content[index].nonzero()[:, 0].tolist()
        for place in range(5):
            gone = [n for n in words if drop[index, place, n]]
            if len(gone) == len(words):
                assert found[index, place].isnan()
                assert not flips[index, place]
                continue
            logits = read_alone(chosen, index, gone)
            expected = odds_by_hand(chosen, index, logits)
            assert float(found[index, place]) == pytest.approx(expected, abs=1e-9)
            among = np.where(chosen.allowed(index), logits, -np.inf)
            flipped = int(np.argmax(among)) != int(record.predicted[index])
            assert bool(flips[index, place]) == flipped
            seen[flipped] += 1
    assert min(seen.values()) > 3


@every_case
def test_log_odds_without_each_word_are_those_of_the_sets_of_one(name: str) -> None:
    chosen = case(name)
    items = chosen.record.content.shape[1]
    each = torch.eye(items, dtype=torch.bool).expand(len(chosen.record.batch), items, items)
    each = each & chosen.record.content[:, None]
    expected = log_odds_without(chosen.model, chosen.record, each)
    expected = expected.masked_fill(~chosen.record.content, torch.nan)
    torch.testing.assert_close(
        log_odds_without_each(chosen.model, chosen.record), expected, equal_nan=True
    )
    for index, odds in enumerate(whole_log_odds(chosen.record).tolist()):
        logits = chosen.record.logits[index].numpy()
        assert odds == pytest.approx(odds_by_hand(chosen, index, logits), abs=1e-12)


@pytest.mark.parametrize("tokens", [1, 20, 1000])
def test_texts_are_read_once_in_parts_and_without_a_readout(
    tokens: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Watched(Glass):
        def read(self, batch: Batch, embeddings: torch.Tensor | None = None):
            sizes.append(batch.tokens.shape)
            return super().read(batch, embeddings)

    sizes: list[torch.Size] = []
    model = with_readout(Watched("oracle", dtype=torch.float64))
    record = model.read(glass_batch(3))
    drop = torch.rand(3, 6, 14, generator=torch.Generator().manual_seed(0)) < 0.4
    drop[:, 3:] = drop[:, :3]
    expected = log_odds_without(model, record, drop)
    sizes.clear()
    monkeypatch.setattr(memory_budget, "TOKENS_AT_ONCE", tokens)
    unread = replace(record)  # of this one, nothing is known
    assert torch.equal(log_odds_without(model, unread, drop), expected)
    assert sum(size[0] for size in sizes) == 9
    assert all(size.numel() <= max(tokens, size[1]) for size in sizes)
    assert [size[1] for size in sizes] == sorted((size[1] for size in sizes), reverse=True)


@every_case
def test_long_texts_are_shortened_a_few_at_a_time(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = case(name)
    record, draw = chosen.record, np.random.default_rng(2)
    shape = (len(record.batch), 7, record.content.shape[1])
    drop = torch.tensor(draw.random(shape) < draw.random((*shape[:2], 1)))
    expected = log_odds_without(chosen.model, record, drop)
    tokens, taken = record.batch.tokens.shape[1], []
    rows = Batch.rows
    monkeypatch.setattr(
        Batch, "rows", lambda self, index: taken.append(len(index)) or rows(self, index)
    )
    monkeypatch.setattr(memory_budget, "NUMBERS_AT_ONCE", 2 * tokens)
    found = log_odds_without(chosen.model, replace(record), drop)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5, equal_nan=True)
    assert max(taken) == 2


@pytest.mark.parametrize(
    "share", ["1", "5", "7", "10", "14", "20", "29", "50", "55", "0.7", "99.9"]
)
def test_a_share_of_the_words_is_rounded_up_exactly(share: str) -> None:
    counts = torch.arange(0, 2001)
    expected = [math.ceil(Fraction(share) * n / 100) for n in range(2001)]
    assert share_of(share, counts).tolist() == expected
    assert share_of(float(share), counts).tolist() == expected


def test_ranks_are_by_the_mean_over_rows_and_ties_are_random_but_not_by_batch() -> None:
    chosen = case("two rows")
    words = words_of(chosen.record)
    rank, unknown = ranks(chosen.record, chosen.record.alpha, 0)
    mean = chosen.record.alpha.mean(1)
    for index in range(len(rank)):
        items = sorted(words[index].nonzero()[:, 0].tolist(), key=lambda n: rank[index, n])
        assert [int(rank[index, n]) for n in items] == list(range(len(items)))
        assert all(mean[index, a] >= mean[index, b] for a, b in pairwise(items))
    assert not unknown.any()
    level = torch.zeros(words.shape)
    tied = [ranks(chosen.record, level, seed)[0] for seed in range(200)]
    firsts = torch.stack([rank[3].argmin() for rank in tied]).bincount(minlength=11)[1:10]
    assert (firsts > 8).all()  # of 9 words and 200 draws, each some 22 times first
    level[3, 2] = torch.nan
    assert ranks(chosen.record, level, 0)[1].tolist() == [index == 3 for index in range(12)]


def test_about_as_many_texts_are_chosen_as_asked_for_and_fewer_are_among_more() -> None:
    record = Glass("oracle").read(glass_batch(1000))
    few, many = (chosen_texts(record, 0, texts, 1000) for texts in (50, 300))
    assert 30 < int(few.sum()) < 70
    assert 250 < int(many.sum()) < 350
    assert not (few & ~many).any()
    assert chosen_texts(record, 0, 5, None).all()
    assert chosen_texts(record, 0, 1000, 1000).all()
    alone = Glass("oracle").read(record.batch.rows(torch.arange(7, 9)))
    assert torch.equal(chosen_texts(alone, 0, 300, 1000), many[7:9])


@pytest.mark.parametrize("items", [1, 8, 9, 64, 65, 130])
def test_equal_deletions_are_found_among_texts_of_any_length(items: int) -> None:
    source = torch.Generator().manual_seed(items)
    rows = torch.randint(0, 4, (60,), generator=source)
    drop = torch.rand(60, items, generator=source) < 0.5
    drop[::2, :-1] = False  # these differ in the last item alone
    copied = torch.randint(0, 60, (40,), generator=source)
    rows, drop = torch.cat([rows, rows[copied]]), torch.cat([drop, drop[copied]])
    lines = [(int(row), tuple(line.int().tolist())) for row, line in zip(rows, drop, strict=True)]
    kinds = sorted(set(lines))
    first, which = _distinct(rows, drop)
    assert first.tolist() == [lines.index(kind) for kind in kinds]
    assert which.tolist() == [kinds.index(line) for line in lines]
