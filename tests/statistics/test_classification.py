"""Accuracy, F1 and ROC-AUC by hand, and the score that selects the best epoch."""

from __future__ import annotations

import math

import pytest
import torch
from sklearn import metrics

from attnaudit.statistics.classification import performance, selection_score

TWO = torch.tensor([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [0.8, 0.2]])
THREE = torch.eye(3)[torch.tensor([0, 1, 1])]


def test_two_classes_have_the_f1_of_class_1_and_a_roc_auc() -> None:
    scores = performance(torch.tensor([0, 0, 1, 1]), TWO)
    assert scores == pytest.approx({"accuracy": 0.5, "f1": 0.5, "roc_auc": 0.75})


def test_more_classes_have_a_macro_f1_and_no_roc_auc() -> None:
    scores = performance(torch.tensor([0, 1, 2]), THREE)
    assert scores == pytest.approx({"accuracy": 2 / 3, "f1": (1 + 2 / 3 + 0) / 3})


def test_scores_are_those_of_scikit_learn() -> None:
    draw = torch.Generator().manual_seed(0)
    for classes in (2, 2, 3, 5):
        for count in (2, 3, 7, 60, 400):
            labels = torch.randint(classes, (count,), generator=draw)
            # Few different numbers: many ties between texts.
            probs = torch.randint(1, 9, (count, classes), generator=draw).double()
            probs /= probs.sum(-1, keepdim=True)
            truth, predicted = labels.numpy(), probs.argmax(-1).numpy()
            average = "binary" if classes == 2 else "macro"
            expected = {
                "accuracy": metrics.accuracy_score(truth, predicted),
                "f1": metrics.f1_score(truth, predicted, average=average, zero_division=0.0),
            }
            if classes == 2 and len(set(truth)) == 2:
                expected["roc_auc"] = metrics.roc_auc_score(truth, probs[:, 1].numpy())
            assert performance(labels, probs) == pytest.approx(expected, rel=1e-14, abs=0)


def test_a_probability_that_is_undefined_makes_all_scores_so() -> None:
    probs = TWO.clone()
    probs[0] = torch.nan
    scores = performance(torch.tensor([0, 0, 1, 1]), probs)
    assert set(scores) == {"accuracy", "f1", "roc_auc"}
    assert all(math.isnan(score) for score in scores.values())


def test_one_class_among_the_labels_has_no_roc_auc() -> None:
    assert "roc_auc" not in performance(torch.ones(4, dtype=torch.int64), TWO)


@pytest.mark.parametrize(
    ("labels", "probs", "wanted", "name"),
    [
        ([0, 0, 1, 1], TWO, "auto", "roc_auc"),
        ([0, 0, 1, 1], TWO, "f1", "f1"),
        ([1, 1, 1, 1], TWO, "auto", "accuracy"),
        ([0, 1, 2], THREE, "auto", "accuracy"),
        ([0, 1, 2], THREE, "roc_auc", "accuracy"),
    ],
)
def test_the_best_epoch_is_selected_by_a_score_that_exists(
    labels: list[int], probs: torch.Tensor, wanted: str, name: str
) -> None:
    truth = torch.tensor(labels)
    assert selection_score(truth, probs, wanted=wanted) == (name, performance(truth, probs)[name])
