"""How a model is trained: epochs, optimiser, and which epoch is kept."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from attnaudit.core import option_limits
from attnaudit.core.errors import InputError
from attnaudit.core.option_limits import COUNT, NOT_NEGATIVE, Number

OPTIMISERS = ("amsgrad", "adam", "sgd")
SCORES = ("auto", "accuracy", "roc_auc", "f1")
# Names that run.json and the names of run directories keep from earlier versions.
_STORED_NAMES = {"target_score": "good_enough"}


@dataclass(frozen=True)
class Recipe:
    """How to train. The defaults are those of the code that Jain & Wallace released.

    Parameters
    ----------
    epochs, batch_size, learning_rate, weight_decay : as usual.
    attention_learning_rate : of the scorer; None for the same as elsewhere.
    attention_weight_decay : of the scorer.
    optimiser : "amsgrad" (Adam with AMSGrad), "adam" or "sgd".
    select : score on dev by which the best epoch is chosen: "accuracy", "roc_auc", "f1", or "auto"
        (ROC AUC for two classes, accuracy for more).
    patience : stop after this many epochs without a better dev score; None for never.
    target_score : stop once the dev score has reached this value; None for never.
    """

    epochs: int = 8
    batch_size: int = 32
    learning_rate: float = 1e-3
    weight_decay: float = 1e-5
    attention_learning_rate: float | None = None
    attention_weight_decay: float = 0.0
    optimiser: str = "amsgrad"
    select: str = "auto"
    patience: int | None = None
    target_score: float | None = None

    def __post_init__(self) -> None:
        option_limits.check(
            {
                "epochs": Number(above=0, whole=True),
                "batch_size": Number(above=0, whole=True),
                "learning_rate": Number(above=0),
                "attention_learning_rate": Number(above=0),
                "weight_decay": NOT_NEGATIVE,
                "attention_weight_decay": NOT_NEGATIVE,
                "patience": COUNT,
                "target_score": Number(least=0, most=1),
            },
            vars(self),
        )
        for name, known in (("optimiser", OPTIMISERS), ("select", SCORES)):
            if getattr(self, name) not in known:
                raise InputError(
                    f"There is no {name} {getattr(self, name)!r}. Choose from: {', '.join(known)}."
                )

    def as_dict(self) -> dict[str, Any]:
        """As stored in run.json, under the names that are stored."""
        return {_STORED_NAMES.get(key, key): value for key, value in asdict(self).items()}
