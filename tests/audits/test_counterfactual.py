"""Alternative attention: shuffles against closed forms, removal and decoding against loops."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from torch import Tensor

from attnaudit.audits.counterfactual import (
    flipped,
    logits_of_draws,
    number_of_orders,
    permuted,
    without_item,
)
from attnaudit.core.contract import Batch, Record
from attnaudit.core.decoding import logits_under


class Bent:
    """Only decode: a non-linear output of every row; counts how much it is given at once."""

    def __init__(self, rows: int, items: int, classes: int) -> None:
        draw = torch.Generator().manual_seed(0)
        self.weight = torch.randn(rows * items, classes, generator=draw, dtype=torch.float64) * 3
        self.largest = 0

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        raise AssertionError("alternatives need no reading")

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        self.largest = max(self.largest, alpha.numel())
        return (alpha.flatten(-2) @ self.weight).tanh() * 4


def made_record(
    seed: int,
    *,
    examples: int = 6,
    rows: int = 1,
    items: int = 9,
    classes: int = 3,
    readout: bool = True,
) -> Record:
    """Random attention with masked items in between, and whatever else a record needs."""
    draw = np.random.default_rng(seed)
    mask = draw.random((examples, rows, items)) < 0.7
    mask[:, :, draw.integers(items)] = True
    alpha = np.where(mask, draw.gamma(0.5, size=mask.shape) + 1e-6, 0.0)
    alpha /= alpha.sum(-1, keepdims=True)
    each = draw.normal(size=(examples, items, classes)) * 3
    logits = alpha[:, :1] @ each
    tokens = torch.ones(examples, items, dtype=torch.int64)
    names = tuple(f"made/{index}" for index in range(examples))
    return Record(
        batch=Batch(names, tokens, tokens > 0),
        embeddings=torch.zeros(examples, items, 1),
        hidden=None,
        alpha=torch.tensor(alpha),
        mask=torch.tensor(mask),
        content=torch.tensor(mask.any(1)),
        item_of_token=torch.arange(items).expand(examples, items),
        logits=torch.tensor(logits[:, 0]),
        readout=torch.tensor(each) if readout else None,
    )


# Shuffles


@pytest.mark.parametrize("rows", [1, 2])
def test_every_shuffle_is_a_permutation_of_the_real_weights_only(rows: int) -> None:
    record = made_record(0, rows=rows)
    shuffled = permuted(record.alpha, record.mask, 50, 3, record.batch.example_id).numpy()
    assert shuffled.shape == (6, 50, rows, 9)
    alpha, mask = record.alpha.numpy(), record.mask.numpy()
    moved = 0
    for index in range(6):
        for draw in range(50):
            for row in range(rows):
                real = mask[index, row]
                assert (shuffled[index, draw, row, ~real] == 0).all()
                assert sorted(shuffled[index, draw, row, real]) == sorted(alpha[index, row, real])
                moved += not np.array_equal(shuffled[index, draw, row], alpha[index, row])
    assert moved > 50 * 6 * rows * 0.5


def test_values_outside_the_mask_are_never_shuffled_in() -> None:
    record = made_record(1)
    dirty = torch.where(record.mask, record.alpha, torch.tensor(7.0, dtype=torch.float64))
    shuffled = permuted(dirty, record.mask, 40, 0, record.batch.example_id)
    inside = record.mask[:, None].expand_as(shuffled)
    assert (shuffled[inside] < 7).all()
    assert (shuffled[~inside] == 7).all()


def test_every_order_of_four_weights_comes_once() -> None:
    alpha = torch.tensor([[[0.1, 0.0, 0.2, 0.3, 0.4]]], dtype=torch.float64)
    mask = torch.tensor([[[True, False, True, True, True]]])
    shuffled = permuted(alpha, mask, 24, 5, ["a"])[0, :, 0].tolist()
    seen = [(a, b, c, d) for a, _, b, c, d in shuffled]
    assert sorted(seen) == sorted(permutations([0.1, 0.2, 0.3, 0.4]))


@pytest.mark.parametrize("lengths", [(1,), (5,), (2, 3), (3, 1, 3), (2, 2, 2, 2), (4, 0, 2)])
def test_few_orders_are_listed_for_all_rows_together(lengths: tuple[int, ...]) -> None:
    items = 7
    mask = torch.stack([torch.arange(items) < length for length in lengths])[None]
    alpha = mask * torch.arange(1.0, items + 1)
    count = math.prod(math.factorial(length) for length in lengths)
    assert number_of_orders(mask).tolist() == [count]
    shuffled = permuted(alpha, mask, 2 * count, 0, ["a"])[0]
    orders = [permutations(range(1, length + 1)) for length in lengths]
    expected = {
        tuple((*order, *[0] * (items - len(order))) for order in rows) for rows in product(*orders)
    }
    seen = [tuple(tuple(int(w) for w in row) for row in each) for each in shuffled.tolist()]
    assert len(expected) == count
    assert set(seen[:count]) == expected
    assert seen[count:] == seen[:count]  # again from the start
    later = permuted(alpha, mask, count, 0, ["a"], first=count // 2)[0]
    assert torch.equal(later, shuffled[count // 2 : count // 2 + count])


def test_every_order_of_six_weights_is_equally_likely_in_every_row_on_its_own() -> None:
    alpha = torch.arange(1.0, 7).expand(1, 2, 6)
    mask = torch.ones(1, 2, 6, dtype=torch.bool)
    shuffled = permuted(alpha, mask, 36_000, 5, ["a"])[0]
    for row in range(2):
        seen = Counter(map(tuple, shuffled[:, row].tolist()))
        assert set(seen) == set(permutations(range(1, 7)))
        assert chisquare(list(seen.values())).pvalue > 1e-4
    places = Counter(zip(*(shuffled[:, row, 0].tolist() for row in range(2)), strict=True))
    assert len(places) == 36
    assert chisquare(list(places.values())).pvalue > 1e-4


def test_shuffles_in_parts_are_those_of_one_call() -> None:
    record = made_record(5, rows=2)
    ids = record.batch.example_id
    whole = permuted(record.alpha, record.mask, 30, 3, ids)
    parts = [permuted(record.alpha, record.mask, 10, 3, ids, first=first) for first in (0, 10, 20)]
    assert torch.equal(torch.cat(parts, 1), whole)


def test_many_draws_are_decoded_in_parts_of_bounded_size() -> None:
    record = made_record(6, examples=2, rows=2, items=9, readout=False)
    sizes: list[int] = []

    def draw(first: int, number: int) -> Tensor:
        sizes.append(number)
        return permuted(record.alpha, record.mask, number, 0, record.batch.example_id, first=first)

    model, count = Bent(2, 9, 3), 150_000
    logits = logits_of_draws(model, record, count, draw)
    assert sum(sizes) == count
    assert len(sizes) > 1
    assert max(sizes) * record.alpha.numel() <= 2**22
    for number in (0, sizes[0] - 1, sizes[0], count - 1):
        alone = permuted(record.alpha, record.mask, 1, 0, record.batch.example_id, first=number)
        torch.testing.assert_close(logits[:, number], model.decode(record, alone[:, 0]))


@pytest.mark.parametrize("seed", range(4))
def test_mean_and_variance_over_shuffles_match_closed_forms(
    seed: int,
) -> None:
    """mean(s) and Σ(s - s̄)²·Σ(alpha - 1/N)²/(N - 1), N the real items."""
    record, count = made_record(seed), 20_000
    logits = logits_under(
        Bent(1, 9, 3),
        record,
        permuted(record.alpha, record.mask, count, seed, record.batch.example_id),
    ).numpy()
    for index in range(6):
        real = record.mask[index, 0].numpy()
        a, each = record.alpha[index, 0].numpy()[real], record.readout[index].numpy()[real]  # type: ignore[index]
        s, n = each[:, 0] - each[:, 1], real.sum()
        drawn = logits[index, :, 0] - logits[index, :, 1]
        variance = ((s - s.mean()) ** 2).sum() * ((a - 1 / n) ** 2).sum() / (n - 1)
        centred = (drawn - s.mean()) ** 2
        assert abs(drawn.mean() - s.mean()) < 5 * math.sqrt(variance / count)
        assert abs(centred.mean() - variance) < 5 * centred.std() / math.sqrt(count)


def test_one_item_has_only_one_order() -> None:
    alpha = torch.tensor([[[0.0, 1.0, 0.0]]])
    shuffled = permuted(alpha, alpha > 0, 20, 0, ["a"])
    assert torch.equal(shuffled, alpha[:, None].expand(1, 20, 1, 3))


def test_a_row_without_items_stays_empty() -> None:
    alpha, mask = torch.zeros(1, 1, 4), torch.zeros(1, 1, 4, dtype=torch.bool)
    assert (permuted(alpha, mask, 5, 0, ["a"]) == 0).all()


def test_shuffles_depend_on_seed_example_and_row_not_on_the_batch_or_its_padding() -> None:
    record = made_record(2, rows=2, items=14)
    ids = record.batch.example_id
    together = permuted(record.alpha, record.mask, 30, 9, ids)
    for index in range(6):
        one = slice(index, index + 1)
        alone = permuted(record.alpha[one], record.mask[one], 30, 9, ids[one])
        assert torch.equal(alone[0], together[index])
        for padding in ((0, 4), (3, 0)):
            wider = [
                torch.nn.functional.pad(each[one], padding).to(each.dtype)
                for each in (record.alpha, record.mask)
            ]
            start = padding[0]
            shuffled = permuted(wider[0], wider[1], 30, 9, ids[one])
            assert torch.equal(shuffled[0, ..., start : start + 14], together[index])
    assert not torch.equal(permuted(record.alpha, record.mask, 30, 10, ids), together)
    same = record.alpha[:1].expand(2, -1, -1), record.mask[:1].expand(2, -1, -1)
    first, second = permuted(*same, 30, 9, ["a", "b"])
    assert not torch.equal(first, second)


# Removal


@pytest.mark.parametrize("rows", [1, 2])
def test_the_weights_left_after_a_removal_sum_to_one(rows: int) -> None:
    record = made_record(3, rows=rows)
    drop = torch.rand(record.alpha.shape, generator=torch.Generator().manual_seed(0)) < 0.4
    left = without_item(record.alpha, record.mask, drop).numpy()
    for index in range(6):
        for row in range(rows):
            kept = [
                float(a) if m and not d else 0.0
                for a, m, d in zip(
                    record.alpha[index, row], record.mask[index, row], drop[index, row], strict=True
                )
            ]
            expected = [each / math.fsum(kept) if math.fsum(kept) else math.nan for each in kept]
            np.testing.assert_allclose(left[index, row], expected, rtol=1e-12)


def test_nothing_left_is_nan_not_zero() -> None:
    alpha = torch.tensor([[[0.0, 1.0]]])
    drop = torch.tensor([[[False, True]]])
    assert without_item(alpha, torch.ones_like(drop), drop).isnan().all()


# Decoding


def alternatives(record: Record, count: int) -> Tensor:
    raw = torch.rand(
        (len(record.alpha), count, *record.alpha.shape[1:]),
        generator=torch.Generator().manual_seed(4),
    )
    raw = raw.double() * record.mask[:, None]
    return raw / raw.sum(-1, keepdim=True)


def test_with_a_readout_logits_are_its_weighted_sums() -> None:
    record = made_record(4)
    alpha = alternatives(record, 7)
    found = logits_under(Bent(1, 9, 3), record, alpha).numpy()
    assert record.readout is not None
    for index in range(6):
        for k in range(7):
            expected = sum(
                float(alpha[index, k, 0, n]) * record.readout[index, n].numpy() for n in range(9)
            )
            np.testing.assert_allclose(found[index, k], expected, atol=1e-12)


@pytest.mark.parametrize("entries", [1, 500, 2**24])
def test_without_a_readout_the_model_decodes_in_bounded_parts(
    monkeypatch: pytest.MonkeyPatch, entries: int
) -> None:
    record, model = made_record(5, rows=2, readout=False), Bent(2, 9, 3)
    alpha = alternatives(record, 11)
    monkeypatch.setattr("attnaudit.core.decoding._ENTRIES", entries)
    found = logits_under(model, record, alpha).numpy()
    assert found.shape == (6, 11, 3)
    assert model.largest <= max(entries, alpha[:, 0].numel())
    for index in range(6):
        for k in range(11):
            plain = 4 * np.tanh(alpha[index, k].numpy().reshape(-1) @ model.weight.numpy())
            np.testing.assert_allclose(found[index, k], plain, atol=1e-12)


def test_a_flip_needs_a_candidate_strictly_above_the_decision_beyond_rounding() -> None:
    record = made_record(6, classes=4)
    classes = torch.tensor([[True, False, True, False]] * 3 + [[False, True, False, False]] * 3)
    record = replace(record, batch=replace(record.batch, classes=classes))
    alpha = alternatives(record, 5)
    logits = logits_under(Bent(1, 9, 4), record, alpha)
    found = flipped(logits, record)
    for index in range(6):
        allowed = [c for c in range(4) if classes[index, c]]
        own = max(allowed, key=lambda c, index=index: record.logits[index, c].item())
        for k in range(5):
            expected = (
                max(logits[index, k, c].item() for c in allowed)
                > logits[index, k, own].item() + 1e-9
            )
            assert bool(found[index, k]) == expected
    assert found[:3].any()
    assert not found[3:].any()  # a lone candidate is never left
    level = record.logits[:, None].clone()
    assert not flipped(level, record).any()
    assert not flipped(torch.full_like(level, math.nan), record).any()
