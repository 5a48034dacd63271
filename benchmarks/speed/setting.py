"""The texts and models that are measured: SST and IMDB if they are there, else simulated texts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from benchmarks.reference.plain_model import PlainModel
from torch import Tensor

from attnaudit.core.contract import Batch, Record
from attnaudit.data import Example, Splits, Vocabulary
from attnaudit.data.batching import batches_of, collate, in_batches
from attnaudit.data.datasets import load
from attnaudit.models import Architecture, build
from attnaudit.training.recipe import Recipe
from attnaudit.training.trainer import fit

EMBEDDING = 300
PLAIN_BATCH = 32
# Simulated texts of the lengths of each corpus, used if the corpus is not there.
SIMULATED = {"sst": "keyword:length=19,jitter=10", "imdb": "keyword:length=180,jitter=120"}


@dataclass(frozen=True)
class Corpus:
    """Some texts, with the vocabulary of their training split."""

    name: str
    splits: Splits
    vocabulary: Vocabulary
    simulated: bool

    @cached_property
    def lengths(self) -> list[int]:
        """Words of each test text."""
        return [len(example.tokens) for example in self.splits.test]

    def batches(self, device: torch.device, classes: int = 2) -> list[Batch]:
        """The test texts as audits read them."""
        batches = batches_of(self.splits.test, self.vocabulary, classes)
        return [batch.to(device) for batch in batches]

    def plain_batches(self, device: torch.device) -> list[tuple[Tensor, Tensor]]:
        """Tokens and mask (32,T) of the test texts, in the same order."""
        groups = in_batches(self.splits.test, PLAIN_BATCH)
        batches = [collate(group, self.vocabulary, 2).to(device) for group in groups]
        return [(batch.tokens, batch.mask) for batch in batches]


def corpus(name: str, texts: int) -> Corpus:
    """So many test texts of SST or IMDB, every k-th of the split, so that all lengths occur."""
    simulated = not os.environ.get("ATTNAUDIT_DATA")
    splits = load(SIMULATED[name] if simulated else name)
    return Corpus(
        name,
        replace(splits, test=_spaced(splits.test, texts)),
        Vocabulary.build(splits.train, min_count=splits.min_count),
        simulated,
    )


def _spaced(examples: Any, count: int) -> tuple[Example, ...]:
    step = max(1, len(examples) // count)
    return tuple(examples[index] for index in range(0, len(examples), step))[:count]


def trained(data: Corpus, encoder: str, *, classes: int = 2, train: int = 2000) -> Any:
    """A model after one epoch on so many training texts; with more classes, not trained.

    Six classes have no labels here: the output weights are enlarged instead, so that predictions
    differ between texts.
    """
    torch.manual_seed(0)
    architecture = Architecture(encoder=encoder, embedding=EMBEDDING)
    words = len(data.vocabulary)
    model = build(architecture, words=words, classes=classes, with_query=False)
    if classes == 2:
        fewer = replace(
            data.splits, train=_spaced(data.splits.train, train), dev=data.splits.dev[:50]
        )
        fit(model, fewer, data.vocabulary, Recipe(epochs=1), show_progress=False)
    else:
        with torch.no_grad():
            model.output.context.weight *= 20
            for parameter in model.scorer.parameters():
                parameter *= 4
    return model.eval()


def plain(model: Any, device: torch.device) -> PlainModel:
    """The reference with the same weights."""
    return PlainModel(model).to(device).eval()


def records(model: Any, batches: list[Any]) -> Iterator[Record]:
    """Read each batch."""
    for batch in batches:
        with torch.no_grad():
            record = model.read(batch)
        yield record
