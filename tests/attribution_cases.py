"""Random models of every kind, with their probabilities for any subset of items."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from attnaudit.core import masking
from attnaudit.core.contract import Batch, Record
from attnaudit.measures import MEASURES
from random_models import random_model, short_texts
from word_pairs import random_matrices, word_pairs

TEXTS = ([5, 6, 7, 8, 9, 10], [12, 5, 5, 13], [7, 14], [15], [20, 21, 22, 23, 24])


FEW = {"shap": {"n_samples": 40}, "lime": {"n_samples": 40}}


def batch_of(*, query: bool = False, candidates: bool = False) -> Batch:
    return short_texts(TEXTS, query=query, candidates=candidates)


def made(classes: int = 2, query: bool = False, **choices: Any) -> Any:
    return random_model(classes, query, spread=0.8, **choices)


class Pairs:
    """Every two words are one item; start and end belong to none. Holds modules, is none."""

    def __init__(self) -> None:
        self.table, self.inner, self.score, self.out = random_matrices(
            (30, 4), (4, 5), (5, 1), (5, 2)
        )
        self.bend = nn.Tanh()

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        embeddings = self.table[batch.tokens] if embeddings is None else embeddings
        item_of_token, belongs = word_pairs(batch)
        content = belongs.any(-1)
        hidden = belongs @ self.bend(embeddings @ self.inner)
        alpha = masking.softmax((hidden @ self.score)[..., 0], content)[:, None]
        logits = (alpha @ hidden @ self.out)[:, 0]
        return Record(
            batch, embeddings, hidden, alpha, content[:, None], content, item_of_token, logits
        )

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        return (alpha @ record.hidden @ self.out).squeeze(-2)


MAKE: dict[str, Callable[[], tuple[Any, Batch]]] = {
    "linear": lambda: (made(encoder="none", projection="uniform"), batch_of()),
    "bilstm": lambda: (made(), batch_of()),
    "query, candidates": lambda: (made(4, True), batch_of(query=True, candidates=True)),
    "sparsemax": lambda: (made(projection="sparsemax", encoder="mlp:hidden=4"), batch_of()),
    "transformer": lambda: (made(3, encoder="transformer:hidden=6,heads=2"), batch_of()),
    "pairs": lambda: (Pairs(), batch_of()),
}


every_case = pytest.mark.parametrize("name", MAKE)


@cache
def case(name: str) -> tuple[Any, Record]:
    model, batch = MAKE[name]()
    with torch.no_grad():
        return model, model.read(batch)


def items_of(record: Record, index: int) -> list[int]:
    return record.content[index].nonzero()[:, 0].tolist()


@torch.no_grad()
def with_items(model: Any, record: Record, index: int, there: Any) -> np.ndarray:
    """p(predicted class) of one text for each row of `there` (M,items).

    Items that are not there have embeddings of 0, in place.
    """
    there = np.asarray(there)
    embeddings = record.embeddings[index].repeat(len(there), 1, 1)
    for column, item in enumerate(items_of(record, index)):
        for token in (record.item_of_token[index] == item).nonzero()[:, 0].tolist():
            embeddings[torch.tensor(there[:, column] == 0), token] = 0
    logits = model.read(
        record.batch.rows(torch.full((len(there),), index)), embeddings
    ).logits.numpy()
    allowed = np.ones(logits.shape[1], bool)
    if record.batch.classes is not None:
        allowed = record.batch.classes[index].numpy()
    weight = np.exp(logits) * allowed
    top = np.where(allowed, record.logits[index].numpy(), -np.inf).argmax()
    return weight[:, top] / weight.sum(-1)


def subsets(count: int) -> np.ndarray:
    return np.array(list(itertools.product([0, 1], repeat=count)))


def shapley(model: Any, record: Record, index: int) -> np.ndarray:
    """By the definition: every item joins every company, weighted by its size."""
    count = len(items_of(record, index))
    there = subsets(count)
    value = dict(zip(map(tuple, there), with_items(model, record, index, there), strict=True))
    found = np.zeros(count)
    for company in value:
        size = sum(company)
        for item in range(count):
            if not company[item]:
                joined = tuple(1 if each == item else company[each] for each in range(count))
                weight = (
                    math.factorial(size) * math.factorial(count - size - 1) / math.factorial(count)
                )
                found[item] += weight * (value[joined] - value[company])
    return found


def difference(model: Any, record: Record, index: int) -> float:
    count = len(items_of(record, index))
    full, empty = with_items(model, record, index, [[1] * count, [0] * count])
    return float(full - empty)


def along_the_path(model: Any, record: Record, points: int) -> np.ndarray:
    """(x - x̄) ∂p/∂x (points,B,N) at evenly spaced points from the empty text to the text."""
    removed = torch.zeros_like(record.batch.mask)
    for index in range(len(TEXTS)):
        for item in items_of(record, index):
            removed[index] |= record.item_of_token[index] == item
    found = []
    for t in (np.arange(points) + 0.5) / points:
        words = torch.where(
            removed[..., None], record.embeddings * t, record.embeddings
        ).requires_grad_()
        p = model.read(record.batch, words).probs.gather(1, record.predicted[:, None]).sum()
        slope = torch.autograd.grad(p, words)[0]
        per_token = (slope * record.embeddings * removed[..., None]).sum(-1)
        found.append(
            masking.to_items(per_token, record.item_of_token, record.content.shape[1]).numpy()
        )
    return np.stack(found)


CAPTUM = {
    "integrated_gradients": {},
    "shap": {"n_samples": 40},
    "shap:gradient": {"kind": "gradient", "n_samples": 10},
    "lime": {"n_samples": 40},
    "deeplift": {"tolerance": 1e9},
}


def scores_of(name: str, model: Any, record: Record, seed: int = 0) -> Tensor:
    return MEASURES[name.split(":")[0]](model, record, seed, **CAPTUM[name])
