"""A plain training loop: the best model on dev, the same for the same seed."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from attnaudit.core import option_limits, progress, randomness
from attnaudit.core.contract import Batch
from attnaudit.core.errors import InputError
from attnaudit.core.option_limits import COUNT, NOT_NEGATIVE, Number
from attnaudit.data.batching import collate, in_batches
from attnaudit.data.splits import Example, Splits
from attnaudit.data.vocabulary import Vocabulary
from attnaudit.statistics.classification import selection_score
from attnaudit.training.objectives import Objective, cross_entropy

OPTIMISERS = ("amsgrad", "adam", "sgd")
SCORES = ("auto", "accuracy", "roc_auc", "f1")


@dataclass(frozen=True)
class Recipe:
    """How to train; defaults are Jain & Wallace's released code (Adam with amsgrad, no decay on attention)."""

    epochs: int = 8
    batch_size: int = 32
    learning_rate: float = 1e-3
    weight_decay: float = 1e-5
    attention_learning_rate: float | None = None  # of the scorer; None: the same
    attention_weight_decay: float = 0.0
    optimiser: str = "amsgrad"  # or adam, sgd
    select: str = "auto"  # the dev score: roc_auc for two classes and accuracy otherwise, or one of them always
    patience: int | None = None  # stop after so many epochs without a better dev score
    good_enough: float | None = None  # stop once the dev score is this high

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
                "good_enough": Number(least=0, most=1),
            },
            vars(self),
        )
        for name, known in (("optimiser", OPTIMISERS), ("select", SCORES)):
            if getattr(self, name) not in known:
                raise InputError(
                    f"There is no {name} {getattr(self, name)!r}. Choose from: {', '.join(known)}."
                )

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class History:
    """What happened, epoch by epoch; `best_epoch` is the one kept."""

    losses: tuple[float, ...]
    dev_scores: tuple[float, ...]
    score_name: str
    best_epoch: int


def fit(
    model: nn.Module,
    splits: Splits,
    vocabulary: Vocabulary,
    recipe: Recipe,
    objective: Objective = cross_entropy,
    *,
    keep: str = "best",
    seed: int = 0,
    device: torch.device | str = "cpu",
    show_progress: bool = True,
) -> History:
    """Train model in place and leave it, in evaluation mode, with the parameters of its best epoch on dev, or of the last."""
    _check(splits)
    optimiser = _optimiser(model, recipe)
    losses: list[float] = []
    scores: list[float] = []
    best: dict[str, Tensor] = {}
    name = ""
    model.to(device)
    with progress.bar("Training", recipe.epochs, show=show_progress) as advance:
        for epoch in range(recipe.epochs):
            model.train()
            shuffle = randomness.generator(seed, "batches", epoch)
            total = 0.0
            for group in in_batches(splits.train, recipe.batch_size, generator=shuffle):
                loss = objective(model, collate(group, vocabulary, len(splits.classes)).to(device))
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                total += loss.detach().item() * len(group)
            losses.append(total / len(splits.train))
            if not torch.isfinite(torch.tensor(losses[-1])):
                raise InputError(
                    f"Training diverged in epoch {epoch + 1}: the loss is {losses[-1]}. Lower the learning rate."
                )
            name, score = selection_score(
                *predictions(model, splits.dev, vocabulary, len(splits.classes)),
                wanted=recipe.select,
            )
            scores.append(score)
            if keep == "last" or score >= max(scores):
                best = copy.deepcopy(model.state_dict())
            advance(f"epoch {epoch + 1}: loss {losses[-1]:.3f}, dev {name} {score:.3f}")
            best_epoch = scores.index(max(scores))
            stale = recipe.patience is not None and epoch - best_epoch >= recipe.patience
            enough = recipe.good_enough is not None and score >= recipe.good_enough
            if keep == "best" and (
                stale or enough
            ):  # where dev performance is not the aim, it ends nothing
                break
    model.load_state_dict(best)
    model.eval()
    kept = len(scores) - 1 if keep == "last" else len(scores) - 1 - scores[::-1].index(max(scores))
    return History(tuple(losses), tuple(scores), name, kept)


def predictions(
    model: nn.Module,
    examples: Sequence[Example],
    vocabulary: Vocabulary,
    classes: int,
    *,
    batch_size: int = 256,
) -> tuple[Tensor, Tensor]:
    """Labels (B,) and probabilities (B,C) of the examples, in their own order."""
    device = next(model.parameters()).device
    place = {example.example_id: at for at, example in enumerate(examples)}
    labels = torch.empty(len(examples), dtype=torch.int64)
    probs = torch.empty(len(examples), classes)
    training = model.training
    model.eval()
    with torch.no_grad():
        for group in in_batches(examples, batch_size):
            batch: Batch = collate(group, vocabulary, classes)
            at = torch.tensor([place[name] for name in batch.example_id])
            probs[at] = model.read(batch.to(device)).probs.float().cpu()  # type: ignore[operator]
            if batch.labels is None:
                raise InputError("Measuring performance needs a label for every example.")
            labels[at] = batch.labels
    model.train(training)
    return labels, probs


def _optimiser(model: nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    inner = getattr(model, "inner", model)  # of a model with imposed attention
    attention = {id(parameter) for parameter in getattr(inner, "scorer", nn.Module()).parameters()}
    moving = [parameter for parameter in model.parameters() if parameter.requires_grad]
    groups: list[dict[str, Any]] = [
        {
            "params": [parameter for parameter in moving if id(parameter) not in attention],
            "weight_decay": recipe.weight_decay,
            "lr": recipe.learning_rate,
        },
        {
            "params": [parameter for parameter in moving if id(parameter) in attention],
            "weight_decay": recipe.attention_weight_decay,
            "lr": recipe.attention_learning_rate or recipe.learning_rate,
        },
    ]
    groups = [group for group in groups if group["params"]]
    if recipe.optimiser == "sgd":
        return torch.optim.SGD(groups)
    return torch.optim.Adam(groups, amsgrad=recipe.optimiser == "amsgrad")


def _check(splits: Splits) -> None:
    for name in ("train", "dev"):
        examples = getattr(splits, name)
        if not examples:
            raise InputError(f"{splits.name}: the {name} split is empty; training needs it.")
        if any(example.label is None for example in examples):
            raise InputError(f"{splits.name}: every {name} example needs a label.")
