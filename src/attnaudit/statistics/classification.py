"""Classification performance: accuracy, F1, ROC-AUC.

By hand, from counts with one division at the end: importing them from scikit-learn would take a
third of the time in which a command starts.
"""

from __future__ import annotations

import math

import numpy as np
from torch import Tensor


def performance(labels: Tensor, probs: Tensor) -> dict[str, float]:
    """Accuracy, F1 and, for two classes, ROC-AUC of probs (B,C) against labels (B,).

    F1 is that of class 1 for two classes, and the macro average, over the classes that are labels
    or predictions, for more. All are NaN if a probability is.
    """
    truth, predicted = labels.numpy(), probs.argmax(-1).numpy()
    two = probs.shape[1] == 2
    classes = [1] if two else np.union1d(truth, predicted)
    f1 = [_f1(truth == index, predicted == index) for index in classes]
    scores = {"accuracy": float((truth == predicted).mean()), "f1": float(np.mean(f1))}
    positive = truth == 1
    if two and positive.any() and not positive.all():
        scores["roc_auc"] = _roc_auc(positive, probs[:, 1].numpy())
    return dict.fromkeys(scores, math.nan) if bool(probs.isnan().any()) else scores


def _f1(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Of one class, labels and predictions (B,) bool; 0 if there are neither."""
    either = int(truth.sum()) + int(predicted.sum())
    return 2 * int((truth & predicted).sum()) / either if either else 0.0


def _roc_auc(truth: np.ndarray, scores: np.ndarray) -> float:
    """The share of pairs of a positive and a negative in the right order, ties counting half."""
    negatives = np.sort(scores[~truth])
    below, up_to = (np.searchsorted(negatives, scores[truth], side) for side in ("left", "right"))
    return int(below.sum() + up_to.sum()) / (2 * len(negatives) * int(truth.sum()))


def selection_score(labels: Tensor, probs: Tensor, *, wanted: str = "auto") -> tuple[str, float]:
    """The score that selects the best epoch, and its name.

    auto: ROC-AUC for two classes, accuracy otherwise, as in the code that Jain & Wallace released.
    """
    scores = performance(labels, probs)
    name = "roc_auc" if wanted == "auto" else wanted
    if name not in scores:
        name = "accuracy"
    return name, scores[name]
