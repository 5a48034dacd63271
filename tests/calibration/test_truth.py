"""The exact truth: known models have the known truth, and each number its definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from benchmarks.calibration.corpus import Corpus
from benchmarks.calibration.design import Design
from benchmarks.calibration.handmade import Handmade
from benchmarks.calibration.labels import ModelTruth, both, truth_of_model
from benchmarks.calibration.shapley import subsets
from benchmarks.calibration.truth import (
    TextTruth,
    log_odds,
    share_shown,
    truth_of_texts,
    worth_of_sets,
)

from attnaudit.core.contract import Batch
from attnaudit.models import Glass, glass_batch

GOOD = TextTruth(0, capture=1.0, chance=0.2, effect=0.9, flips=True, removed=1, kept=1, margin=4)


@pytest.mark.parametrize(
    ("kind", "points", "matters"),
    [("oracle", "yes", "yes"), ("inert", "yes", "no"), ("shifted", "no", "yes")],
)
def test_glass_models_have_the_truth_they_were_built_for(
    kind: str, points: str, matters: str
) -> None:
    batch = glass_batch(24, shortest=6, longest=9)
    found = truth_of_model(truth_of_texts(Glass(kind, dtype=torch.float64), batch))
    assert (found.points, found.matters) == (points, matters)
    assert found.faithful == ("yes" if kind == "oracle" else "no")


def test_the_worth_of_a_set_is_the_log_odds_of_reading_its_words_only() -> None:
    model = Handmade(Design(classes=3, negation=False))
    batch = Corpus(classes=3, mark=True).texts(1, seed=5)
    record = model.read(batch)
    worth = worth_of_sets(model, record, subsets(int(record.length[0])))
    words = batch.tokens[0, 1 : int(batch.mask.sum())].tolist()
    assert len(worth) == 2 ** len(words)
    for number in (0, 1, 5, 2 ** len(words) - 1):
        kept = [batch.tokens[0, 0].item(), *(w for i, w in enumerate(words) if number >> i & 1)]
        tokens = torch.tensor([kept])
        logits = model.read(Batch(("kept",), tokens, tokens > 0)).logits[0]
        label = int(record.predicted[0])
        p = logits.softmax(-1)[label].item()
        assert worth[number] == pytest.approx(np.log(p / (1 - p)))


def test_a_model_that_cannot_read_nothing_is_given_the_mean_of_single_words() -> None:
    class Choosy(Handmade):
        def read(self, batch, embeddings=None):  # type: ignore[no-untyped-def]
            if not batch.mask.any(-1).all():
                raise ValueError("An empty text.")
            return super().read(batch, embeddings)

    batch = Corpus().texts(1)
    model = Choosy(Design())
    worth = worth_of_sets(model, model.read(batch), subsets(int(batch.mask.sum())))
    singles = [worth[1 << word] for word in range(int(batch.mask.sum()))]
    assert worth[0] == pytest.approx(np.mean(singles))


def test_log_odds_are_those_of_the_probabilities() -> None:
    logits = torch.randn(4, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    p = logits.softmax(-1)[:, 2]
    torch.testing.assert_close(log_odds(logits, 2), (p / (1 - p)).log())


def test_tied_words_share_the_places_that_are_left() -> None:
    assert share_shown(np.array([0.4, 0.2, 0.2, 0.2]), 3).tolist() == pytest.approx(
        [1] + [2 / 3] * 3
    )
    assert share_shown(np.full(5, 0.2), 1).tolist() == pytest.approx([0.2] * 5)


def test_the_effect_is_the_mean_over_swaps_of_the_relative_change() -> None:
    model, batch = Handmade(Design(mix=0.5)), Corpus().texts(1, seed=3)
    record = model.read(batch)
    (found,) = truth_of_texts(model, batch)
    label, places = int(record.predicted[0]), range(int(batch.mask.sum()))
    top = int(record.alpha[0, 0].argmax())
    before, changes = log_odds(record.logits, label).item(), []
    for other in places:
        if other != top:
            alpha = record.alpha.clone()
            alpha[0, 0, top], alpha[0, 0, other] = (
                alpha[0, 0, other].item(),
                alpha[0, 0, top].item(),
            )
            after = log_odds(alpha[:, 0] @ record.readout[0], label).item()
            changes.append(min(1.0, abs(after - before) / abs(before)))
    assert found.effect == pytest.approx(np.mean(changes))
    assert found.margin == pytest.approx(before)


def judged(*texts: TextTruth) -> ModelTruth:
    return truth_of_model([text for text in texts for _ in range(20)])


def test_a_class_that_fails_forbids_a_yes_but_does_not_make_a_no() -> None:
    fine = [replace(GOOD, predicted=label) for label in range(4)]
    lost = replace(GOOD, predicted=4, capture=0.1)
    calm = replace(GOOD, predicted=4, effect=0.0, flips=False)
    assert (judged(*fine).points, judged(*fine).matters) == ("yes", "yes")
    assert (judged(*fine, lost).points, judged(*fine, lost).faithful) == ("not yes", "no")
    assert (judged(*fine, calm).matters, judged(*fine, calm).faithful) == ("not yes", "no")


def test_between_the_thresholds_the_truth_is_open() -> None:
    found = judged(replace(GOOD, capture=0.6, effect=0.2))
    assert (found.points, found.matters, found.faithful) == ("open", "open", "open")
    assert judged(replace(GOOD, chance=0.9)).points == "open"
    assert both("open", "no") == "no"


def test_flips_forbid_calling_weights_without_effect() -> None:
    assert judged(replace(GOOD, effect=0.01, flips=True)).matters == "open"
    assert judged(replace(GOOD, effect=0.01, flips=False)).matters == "no"


def test_the_truth_of_a_long_text_is_close_to_that_of_all_its_deletions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, batch = Handmade(Design(scores=({"key": 1.0},))), Corpus().texts(6)
    exact = truth_of_texts(model, batch)
    monkeypatch.setattr("benchmarks.calibration.truth.MAX_EXACT", 5)
    estimated = truth_of_texts(model, batch)
    for one, other in zip(exact, estimated, strict=True):
        assert other.capture == pytest.approx(one.capture, abs=0.03)
        assert (other.effect, other.margin) == (one.effect, one.margin)
        assert np.isnan(other.removed)
