"""How well a model does its task: accuracy, F1, ROC-AUC."""

from __future__ import annotations

from sklearn import metrics
from torch import Tensor


def performance(labels: Tensor, probs: Tensor) -> dict[str, float]:
    """labels (B,), probs (B,C). F1 is of class 1 for two classes and macro for more; ROC-AUC for two classes only."""
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
    """What the best epoch is chosen by. auto: ROC-AUC for two classes, accuracy otherwise (Jain & Wallace's released code)."""
    scores = performance(labels, probs)
    name = (
        wanted
        if wanted in scores
        else "roc_auc"
        if wanted == "auto" and "roc_auc" in scores
        else "accuracy"
    )
    return name, scores[name]
