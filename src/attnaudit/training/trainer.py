"""A plain training loop that keeps the best epoch on dev; equal seeds give equal models."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from attnaudit import statistics
from attnaudit.core import progress, randomness
from attnaudit.core.adam import Adam, Group, gradients_by_row
from attnaudit.core.contract import Batch, Record
from attnaudit.core.errors import InputError
from attnaudit.data.batching import collate, in_batches
from attnaudit.data.splits import Example, Splits
from attnaudit.data.vocabulary import Vocabulary
from attnaudit.statistics.classification import performance, selection_score
from attnaudit.training.objectives import Objective, cross_entropy
from attnaudit.training.recipe import Recipe

_BLOCK = 2**15  # examples that are held at once to measure performance


@dataclass(frozen=True)
class History:
    """Training loss and dev score of each epoch; the weights of `best_epoch` are kept.

    trained_in: name of the run whose model was used; None if it was trained here. device: on which
    it was trained; None if that is not known.
    """

    losses: tuple[float, ...]
    dev_scores: tuple[float, ...]
    score_name: str
    best_epoch: int
    trained_in: str | None = None
    device: str | None = None


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
    """Train a model in place and leave it in evaluation mode.

    Parameters
    ----------
    objective : (model, batch) -> loss, a scalar to minimise.
    keep : "best" leaves the model with the weights of its best epoch on dev, "last" with those of
        the last epoch. With "last" the dev score stops nothing.
    """
    _check(splits)
    optimiser = make_optimiser(model, recipe)
    losses: list[float] = []
    scores: list[float] = []
    best: dict[str, Tensor] = {}
    name = ""
    model.to(device)
    with progress.bar("Training", recipe.epochs, show=show_progress) as advance:
        for epoch in range(recipe.epochs):
            model.train()
            shuffle = randomness.generator(seed, "batches", epoch)
            groups = in_batches(splits.train, recipe.batch_size, generator=shuffle)
            batches = (collate(group, vocabulary, len(splits.classes)) for group in groups)
            per_batch = train_epoch(model, batches, optimiser, objective, device=device)
            total = sum(loss * len(group) for loss, group in zip(per_batch, groups, strict=True))
            losses.append(total / len(splits.train))
            _check_finite(epoch, losses[-1], model.parameters())
            labels, probs = predictions(model, splits.dev, vocabulary, len(splits.classes))
            _check_finite(epoch, losses[-1], [probs])
            name, score = selection_score(labels, probs, wanted=recipe.select)
            scores.append(score)
            if keep == "last" or score >= max(scores):
                best = copy.deepcopy(model.state_dict())
            advance(f"epoch {epoch + 1}: loss {losses[-1]:.3f}, dev {name} {score:.3f}")
            best_epoch = scores.index(max(scores))
            stale = recipe.patience is not None and epoch - best_epoch >= recipe.patience
            reached = recipe.target_score is not None and score >= recipe.target_score
            if keep == "best" and (stale or reached):
                break
    model.load_state_dict(best)
    model.eval()
    kept = len(scores) - 1 if keep == "last" else len(scores) - 1 - scores[::-1].index(max(scores))
    return History(tuple(losses), tuple(scores), name, kept, device=str(device))


def _check_finite(epoch: int, loss: float, numbers: Iterable[Tensor]) -> None:
    """Stop a training that diverged: before predictions, which some projections fail to make."""
    if not (math.isfinite(loss) and all(bool(part.isfinite().all()) for part in numbers)):
        raise InputError(
            f"Training diverged in epoch {epoch + 1}: the loss is {loss}, and weights or "
            "predictions may not be finite. Lower the learning rate."
        )


def train_epoch(
    model: nn.Module,
    batches: Iterable[Batch],
    optimiser: Adam | torch.optim.Optimizer,
    objective: Objective = cross_entropy,
    *,
    device: torch.device | str = "cpu",
) -> list[float]:
    """One step of the optimiser per batch; the loss of each before its step."""
    losses = []
    with gradients_by_row(model) if isinstance(optimiser, Adam) else nullcontext():
        for batch in batches:
            loss = objective(model, batch.to(device))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.detach().item())
    return losses


def predictions(
    model: nn.Module,
    examples: Sequence[Example],
    vocabulary: Vocabulary,
    classes: int,
    *,
    batch_size: int = 256,
) -> tuple[Tensor, Tensor]:
    """Labels (B,) and probabilities (B,C) of the examples, in the order given."""
    device = next(model.parameters()).device
    labels = torch.empty(len(examples), dtype=torch.int64)
    probs = torch.empty(len(examples), classes)
    training = model.training
    model.eval()
    with torch.no_grad():
        for start in range(0, len(examples), _BLOCK):  # which may be made on access
            block = examples[start : start + _BLOCK]
            position = {example.example_id: start + index for index, example in enumerate(block)}
            for group in in_batches(block, batch_size):
                batch: Batch = collate(group, vocabulary, classes)
                indices = torch.tensor([position[name] for name in batch.example_id])
                record: Record = model.read(batch.to(device))  # type: ignore[operator]
                probs[indices] = record.probs.float().cpu()
                if batch.labels is None:
                    raise InputError("Measuring performance needs a label for every example.")
                labels[indices] = batch.labels
    model.train(training)
    return labels, probs


def make_optimiser(model: nn.Module, recipe: Recipe) -> Adam | torch.optim.Optimizer:
    """The optimiser of a recipe; the scorer has a learning rate and a decay of its own."""
    inner = getattr(model, "inner", model)  # of a model with imposed attention
    attention = {id(parameter) for parameter in getattr(inner, "scorer", nn.Module()).parameters()}
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    groups: list[Group] = [
        {
            "params": [parameter for parameter in trained if id(parameter) not in attention],
            "weight_decay": recipe.weight_decay,
            "lr": recipe.learning_rate,
        },
        {
            "params": [parameter for parameter in trained if id(parameter) in attention],
            "weight_decay": recipe.attention_weight_decay,
            "lr": recipe.attention_learning_rate or recipe.learning_rate,
        },
    ]
    groups = [group for group in groups if group["params"]]
    if recipe.optimiser == "sgd":
        return torch.optim.SGD([dict(group) for group in groups])
    return Adam(groups, amsgrad=recipe.optimiser == "amsgrad")


def _check(splits: Splits) -> None:
    for name in ("train", "dev"):
        examples = getattr(splits, name)
        if not examples:
            raise InputError(f"{splits.name}: the {name} split is empty; training needs it.")
        if any(example.label is None for example in examples):
            raise InputError(f"{splits.name}: every {name} example needs a label.")


def scores_on_test(model: Any, splits: Splits, vocabulary: Vocabulary, seed: int) -> dict[str, Any]:
    """Scores on the test split, and an interval of the accuracy (None with fewer than 10)."""
    labels, probs = predictions(model, splits.test, vocabulary, len(splits.classes))
    correct = (probs.argmax(-1) == labels).double()
    interval = statistics.bootstrap(correct, limits=(0.0, 1.0), seed=seed)
    return {
        **performance(labels, probs),
        "accuracy_interval": None
        if interval.low.isnan()
        else [float(interval.low), float(interval.high)],
        "majority": float(torch.bincount(labels).max() / len(labels)),
    }
