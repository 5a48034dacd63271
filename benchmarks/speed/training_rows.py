"""A training epoch."""

from __future__ import annotations

import copy

import torch
from benchmarks.reference import training as released
from benchmarks.speed import essentials, limits
from benchmarks.speed.row import Row
from benchmarks.speed.setting import EMBEDDING, PLAIN_BATCH, Corpus, PlainModel

from attnaudit.data.batching import collate, in_batches
from attnaudit.models import Architecture, build
from attnaudit.training.recipe import Recipe
from attnaudit.training.trainer import make_optimiser, train_epoch


def training_row(data: Corpus, device: torch.device, texts: int) -> Row:
    """One pass over training texts in the same batches: the loss curves must agree."""
    torch.manual_seed(0)
    architecture = Architecture(encoder="bilstm", embedding=EMBEDDING)
    words = len(data.vocabulary)
    start = build(architecture, words=words, classes=2, with_query=False).to(device)
    step = max(1, len(data.splits.train) // texts)
    shuffle = torch.Generator().manual_seed(0)
    groups = in_batches(data.splits.train[::step][:texts], PLAIN_BATCH, generator=shuffle)
    numbered = [
        [(data.vocabulary.encode(example.tokens), int(example.label or 0)) for example in group]
        for group in groups
    ]

    shapes = [(len(group), max(len(ids) for ids, _ in group)) for group in numbered]

    def ours() -> list[torch.Tensor]:
        model = copy.deepcopy(start)
        batches = (collate(group, data.vocabulary, 2) for group in groups)
        optimiser = make_optimiser(model, Recipe())
        return [torch.tensor(train_epoch(model, batches, optimiser, device=device))]

    def theirs() -> list[torch.Tensor]:
        return [torch.tensor(released.epoch(PlainModel(copy.deepcopy(start)), numbered))]

    return Row(
        f"training epoch, {data.name}",
        "packed network, plain Adam",
        ours,
        theirs,
        2.5,
        tolerance=1e-4,
        needed=limits.training(
            start, [len(example.tokens) for group in groups for example in group], len(groups)
        ),
        essential=essentials.training(start, shapes),
    )
