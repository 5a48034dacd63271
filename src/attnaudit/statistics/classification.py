"""Classification performance: accuracy, F1, ROC-AUC."""

from __future__ import annotations

from sklearn import metrics
from torch import Tensor


def performance(labels: Tensor, probs: Tensor) -> dict[str, float]:
    """Accuracy, F1 and, for two classes, ROC-AUC of probs (B,C) against labels (B,).

    F1 is that of class 1 for two classes, and the macro average for more.
    """
    truth, predicted = labels.numpy(), probs.argmax(-1).numpy()
    two = probs.shape[1] == 2
    scores = {
        "accuracy": float(metrics.accuracy_score(truth, predicted)),
        "f1": float(
            metrics.f1_score(
                truth, predicted, average="binary" if two else "macro", zero_division=0.0
            )
        ),
    }
    if two and len(set(truth.tolist())) == 2:
        scores["roc_auc"] = float(metrics.roc_auc_score(truth, probs[:, 1].numpy()))
    return scores


def selection_score(labels: Tensor, probs: Tensor, *, wanted: str = "auto") -> tuple[str, float]:
    """The score that selects the best epoch, and its name.

    auto: ROC-AUC for two classes, accuracy otherwise, as in the code that Jain & Wallace released.
    """
    scores = performance(labels, probs)
    name = "roc_auc" if wanted == "auto" else wanted
    if name not in scores:
        name = "accuracy"
    return name, scores[name]
