"""F1 over tokens and over runs of tokens, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from sklearn.metrics import f1_score

from attnaudit.statistics.retrieval import iou_f1, token_f1


def runs_of(chosen: list[bool]) -> list[set[int]]:
    found: list[set[int]] = []
    for index, each in enumerate(chosen):
        if each and index and chosen[index - 1]:
            found[-1].add(index)
        elif each:
            found.append({index})
    return found


def test_f1_over_tokens_and_over_runs_equals_plain_python() -> None:
    draw = np.random.default_rng(5)
    for _ in range(200):
        count = int(draw.integers(1, 14))
        chosen, truth = draw.random(count) < 0.4, draw.random(count) < 0.4
        mask = torch.ones(1, count, dtype=torch.bool)
        tokens = float(token_f1(torch.tensor(chosen)[None], torch.tensor(truth)[None], mask))
        spans = float(iou_f1(torch.tensor(chosen)[None], torch.tensor(truth)[None], mask))
        if not truth.any():
            assert math.isnan(tokens)
            assert math.isnan(spans)
            continue
        assert tokens == pytest.approx(f1_score(truth, chosen, zero_division=0))
        ours, theirs = runs_of(list(chosen)), runs_of(list(truth))
        fits = lambda a, b: len(a & b) / len(a | b) >= 0.5  # noqa: E731
        precision = np.mean([any(fits(a, b) for b in theirs) for a in ours]) if ours else 0
        recall = np.mean([any(fits(a, b) for a in ours) for b in theirs])
        expected = 2 * precision * recall / (precision + recall) if precision + recall else 0
        assert spans == pytest.approx(expected)
