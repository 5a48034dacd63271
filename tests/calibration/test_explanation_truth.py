"""The truth about explanations: that of attention, for any scores; planted ones are as made."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from benchmarks.calibration.corpus import Corpus
from benchmarks.calibration.design import Design
from benchmarks.calibration.explanations.planted import PLANTED
from benchmarks.calibration.explanations.truth import truth_of_explanations
from benchmarks.calibration.handmade import Handmade
from benchmarks.calibration.labels import truth_of_model
from benchmarks.calibration.truth import capture_of, log_odds, share_shown, truth_of_texts
from benchmarks.calibration.zoo import zoo

from attnaudit.measures import MEASURES
from attnaudit.models import Glass, glass_batch

ENTRIES = {entry.name: entry for entry in zoo()}


@pytest.mark.parametrize("name", ["right-plain", "rows-idle-2", "mark-carries-2", "class-wrong-3"])
def test_the_truth_of_attention_as_an_explanation_is_that_of_points(name: str) -> None:
    entry = ENTRIES[name]
    model, texts = entry.make(), entry.corpus.texts(30, seed=0, name="truth")
    expected = truth_of_model(truth_of_texts(model, texts))
    found = truth_of_explanations(model, texts, {"attention": MEASURES["attention"]})["attention"]
    assert found.points == expected.points
    assert (found.skill, found.worst_skill) == pytest.approx(
        (expected.skill, expected.worst_skill), abs=1e-6
    )


def test_on_a_model_whose_attention_is_one_word_off_other_explanations_are_faithful() -> None:
    model, texts = Glass("shifted", dtype=torch.float64), glass_batch(24, shortest=6, longest=9)
    names = ("attention", "leave_one_out", "integrated_gradients", "rollout")
    found = truth_of_explanations(model, texts, {name: MEASURES[name] for name in names})
    assert {name: truth.points for name, truth in found.items()} == {
        "attention": "no",
        "leave_one_out": "yes",
        "integrated_gradients": "yes",
    }


def test_capture_is_that_of_shapley_values_over_all_orders() -> None:
    model, texts = Handmade(Design(scores=({"key": 1.0},))), Corpus(longest=6).texts(1, seed=4)
    record = model.read(texts)
    words, label = int(texts.mask.sum()), int(record.predicted[0])

    def worth(kept: list[int]) -> float:
        drop = torch.ones(1, texts.tokens.shape[1], dtype=torch.bool)
        drop[0, kept] = False
        return float(log_odds(model.read(texts.without(drop)).logits, label)[0])

    gains = np.zeros(words)
    for order in itertools.permutations(range(words)):
        for place, word in enumerate(order):
            before = sorted(order[:place])
            gains[word] += worth(sorted([*before, word])) - worth(before)
    positive = np.maximum(gains / math.factorial(words), 0)
    scores = MEASURES["leave_one_out"](model, record, 0)[0, :words].numpy()
    count = math.ceil(words / 5)
    top = np.argsort(-scores)[:count]
    expected = positive[top].sum() / np.sort(positive)[-count:].sum()
    (found,) = truth_of_explanations(model, texts, {"loo": MEASURES["leave_one_out"]}).values()
    assert found.capture == pytest.approx(expected)


def test_negative_scores_are_shown_by_their_order() -> None:
    assert share_shown(np.array([-3.0, -1.0, -2.0]), 1).tolist() == [0, 1, 0]
    assert share_shown(np.array([-1.0, -1.0, -2.0]), 1).tolist() == [0.5, 0.5, 0]
    capture, chance = capture_of(np.array([2.0, 1.0, 0.0]), np.array([-5.0, -1.0, -9.0]))
    assert (capture, chance) == (0.5, 0.5)


def test_an_unknown_score_leaves_the_text_undefined() -> None:
    capture, chance = capture_of(np.array([2.0, 1.0]), np.array([math.nan, 1.0]))
    assert math.isnan(capture)
    assert chance == 0.75


def test_planted_explanations_are_right_where_they_are_made_to_be() -> None:
    model, texts = Handmade(Design()), Corpus().texts(400, seed=2)
    record = model.read(texts)
    right = MEASURES["leave_one_out"](model, record, 0)
    words = record.content
    same = {
        name: (planted(model, record, 7) == right).where(words, True).all(-1)
        for name, planted in PLANTED.items()
    }
    assert not same["drawn"].any()
    assert same["quarter_right"].double().mean().item() == pytest.approx(0.25, abs=0.06)
    assert same["one_class"].equal(record.predicted == 0)
    moved = PLANTED["shifted"](model, record, 0)
    for index in range(20):
        own = right[index, words[index]]
        assert moved[index, words[index]].tolist() == [*own[-1:].tolist(), *own[:-1].tolist()]


def test_planted_explanations_give_the_same_scores_whatever_the_seed() -> None:
    model, texts = Handmade(Design()), Corpus().texts(5, seed=2)
    record = model.read(texts)
    for planted in PLANTED.values():
        first, second = (planted(model, record, seed)[record.content] for seed in (0, 1))
        assert first.equal(second)
