"""Removal until the decision flips, against plain loops and all subsets."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from torch import Tensor

import attnaudit
from attnaudit import statistics
from attnaudit.audits import AUDITS
from attnaudit.audits.flip_fraction import flip_fraction
from attnaudit.core.contract import Batch, Record
from attnaudit.models.glass import Glass, glass_batch
from audit_cases import EXAMPLES, LINEAR, Case, case, every_case, no_ties, same, scores_of
from tiny_transformers import TEXTS, tiny


def plain_fraction(chosen: Case, index: int, order: list[int]) -> float:
    """Share of items gone when the decision first flips; NaN if it never does."""
    start = chosen.decided(index, chosen.alpha[index])
    for gone in range(1, len(order)):
        left = chosen.alpha[index].copy()
        left[:, order[:gone]] = 0
        weight = left.sum(-1, keepdims=True)
        left = np.divide(left, weight, out=np.zeros_like(left), where=weight > 0)
        if weight.max() > 0 and chosen.decided(index, left) != start:
            return gone / len(order)
    return math.nan


@every_case
def test_flip_fraction_equals_removing_items_one_by_one(name: str) -> None:
    chosen = case(name)
    scores = no_ties(1, chosen)
    values = flip_fraction(chosen.model, chosen.record, scores, 0)
    for measure, score in scores.items():
        ranking = score.numpy() if score.dim() == 2 else score.numpy().mean(1)
        for index in range(EXAMPLES):
            items = np.flatnonzero(chosen.mask[index].any(0))
            order = sorted(
                items.tolist(), key=lambda item, index=index, ranking=ranking: -ranking[index, item]
            )
            fraction = plain_fraction(chosen, index, order)
            never = math.isnan(fraction)
            same(values[measure, "fraction"][index], fraction)
            same(values[measure, "removed"][index], 1.0 if never else fraction)
            same(values[measure, "flipped"][index], float(not never))
    flipped = values["attention", "flipped"]
    assert 0 < flipped.sum() < EXAMPLES


@pytest.mark.parametrize("name", LINEAR)
def test_no_ranking_beats_the_smallest_set_found_by_trying_all_subsets(name: str) -> None:
    chosen = case(name)
    scores = {**scores_of(name), **no_ties(2, chosen)}
    values = flip_fraction(chosen.model, chosen.record, scores, 0)
    least = values["smallest_set", "removed"]
    for measure in scores:
        unknown = (scores[measure].flatten(1).isnan().any(-1)) & values[measure, "removed"].isnan()
        assert ((values[measure, "removed"] >= least - 1e-12) | unknown).all()
        assert ((values[measure, "flipped"] <= values["smallest_set", "flipped"]) | unknown).all()
    for index in range(EXAMPLES):
        items = np.flatnonzero(chosen.mask[index, 0]).tolist()
        if len(items) > 7:
            continue
        start, found = chosen.decided(index, chosen.alpha[index]), math.nan
        for size in range(1, len(items)):
            for gone in combinations(items, size):
                left = chosen.alpha[index].copy()
                left[:, list(gone)] = 0
                if math.isnan(found) and chosen.decided(index, left / left.sum()) != start:
                    found = size / len(items)
        same(values["smallest_set", "fraction"][index], found)
    assert values["smallest_set", "flipped"].sum() > 0


def test_without_a_readout_there_is_no_smallest_set() -> None:
    values = flip_fraction(
        case("two rows").model, case("two rows").record, scores_of("two rows"), 0
    )
    assert ("smallest_set", "removed") not in values


def test_ties_are_broken_at_random_never_by_position() -> None:
    """Oracle with equal scores: the deciding word is removed at each turn equally often."""
    model, batch = Glass("oracle"), glass_batch(30)
    index = next(
        index
        for index in range(30)
        if batch.labels is not None
        and batch.labels[index] == 1
        and int(batch.mask[index].sum()) == 8
    )
    record = model.read(batch.rows(torch.tensor([index])))
    turns = Counter()
    for seed in range(400):
        values = flip_fraction(model, record, {"equal": torch.zeros(1, 14)}, seed)
        flipped = bool(values["equal", "flipped"])
        turns[round(float(values["equal", "removed"]) * 8) if flipped else "never"] += 1
    assert set(turns) == {
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        "never",
    }  # last of all: nothing is left to decide otherwise
    assert chisquare(list(turns.values())).pvalue > 1e-3


def flat_record(alpha: list[float], readout: list[list[float]], dtype: torch.dtype) -> Record:
    each, weight = torch.tensor([readout], dtype=dtype), torch.tensor([[alpha]], dtype=dtype)
    tokens = torch.full((1, len(alpha)), 7)
    return Record(
        batch=Batch(("flat",), tokens, tokens > 0),
        embeddings=torch.zeros(1, len(alpha), 1),
        hidden=each,
        alpha=weight,
        mask=torch.ones(1, 1, len(alpha), dtype=torch.bool),
        content=torch.ones(1, len(alpha), dtype=torch.bool),
        item_of_token=torch.arange(len(alpha))[None],
        logits=(weight @ each)[:, 0],
        readout=each,
    )


class Plain:
    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        raise AssertionError

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        hidden = record.hidden if alpha.dim() == 3 else record.hidden[:, None]  # type: ignore[index]
        return (alpha @ hidden).squeeze(-2)


@pytest.mark.parametrize("readout", [True, False])
def test_a_tie_of_two_classes_is_no_flip(readout: bool) -> None:
    record = flat_record([0.5, 0.25, 0.25], [[2.0, 0.0], [1.0, 1.0], [0.0, 0.0]], torch.float64)
    record = record if readout else replace(record, readout=None)
    values = flip_fraction(Plain(), record, {"m": torch.tensor([[3.0, 2.0, 1.0]])}, 0)
    assert float(values["m", "flipped"]) == 0
    assert float(values["m", "removed"]) == 1
    assert values["m", "fraction"].isnan().all()


@pytest.mark.parametrize("readout", [True, False])
def test_removing_all_the_weight_is_no_flip(readout: bool) -> None:
    record = flat_record([1.0, 0.0, 0.0], [[2.0, 0.0], [0.0, 9.0], [0.0, 9.0]], torch.float64)
    record = record if readout else replace(record, readout=None)
    values = flip_fraction(Plain(), record, {"m": torch.tensor([[3.0, 2.0, 1.0]])}, 0)
    assert float(values["m", "flipped"]) == 0


def test_removing_nothing_is_no_flip_if_classes_are_equal_up_to_rounding() -> None:
    """0.1·7 and 0.7 are equal in float32, but not if float32 weights are converted to float64."""
    record = flat_record([0.1, 0.2, 0.7], [[0.0, 7.0], [0.0, 0.0], [1.0, 0.0]], torch.float32)
    assert record.predicted.tolist() == [0]
    values = flip_fraction(Plain(), record, {"m": torch.tensor([[1.0, 2.0, 3.0]])}, 0)
    assert float(values["m", "removed"]) > 0
    assert float(values["m", "removed"]) >= float(values["smallest_set", "removed"]) > 0


def attended_most(record: Record, index: int, row: int) -> int:
    """The word, of those that are words."""
    return int(record.alpha[index, row].masked_fill(~record.content[index], -1).argmax())


def test_special_tokens_are_neither_ranked_nor_removed() -> None:
    """[CLS] and [SEP] hold much of the attention, and are no words."""
    model: Any = attnaudit.from_huggingface(*tiny("bert"))
    (batch,) = model.batches(TEXTS)
    with torch.no_grad():
        record = model.read(batch)
        attention = record.alpha.mean(1)
        found = AUDITS["flip_fraction"](model, record, {"attention": attention}, 0)[
            "attention", "removed"
        ]
        for index in range(3):
            words = record.content[index].nonzero()[:, 0]
            order = words[attention[index, words].argsort(descending=True)]
            expected = 1.0
            for gone in range(1, len(order) + 1):
                kept = record.alpha.clone()
                kept[index][:, order[:gone]] = 0
                kept = kept / kept.sum(-1, keepdim=True)
                if model.decode(record, kept)[index].argmax() != record.predicted[index]:
                    expected = gone / len(order)
                    break
            assert found[index] == pytest.approx(expected)
        assert (~record.content & record.mask.any(1)).any()
        found = AUDITS["top_item"](model, record, {}, 0)["", "js_reach"]
        for index, row in product(range(3), range(4)):
            other = record.alpha.clone()
            other[index, row, attended_most(record, index, row)] = 0
            other = other / other.sum(-1, keepdim=True)
            moved = model.decode(record, other)[index].softmax(-1)
            assert found[index, row] == pytest.approx(
                float(statistics.jsd(moved, record.probs[index]))
            )
        special = record.alpha.argmax(-1) != torch.tensor(
            [[attended_most(record, index, row) for row in range(4)] for index in range(3)]
        )
        assert special.any()  # in some row a mark is attended most
