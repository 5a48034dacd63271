"""Random BiLSTM models and a model whose items are pairs of words, for measures of words."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.contract import Batch, Record
from attnaudit.models import Architecture, Attentive, build
from word_pairs import random_matrices, word_pairs

START, END = 1, 2


STEP = 1e-5


TEXTS = (
    [5, 6, 7, 8, 9, 10, 11],
    [12, 5, 5, 13],
    [7, 14],
    [15],
    [20, 21, 22, 23, 24, 5, 6, 7, 8],
)


QUERIES = ([16, 17], [18], [5, 6, 7], [19, 5], [7])


def batch_of(
    texts: tuple[list[int], ...], queries: tuple[list[int], ...] | None = None, **more
) -> Batch:
    def padded(rows: tuple[list[int], ...]) -> Tensor:
        marked = [[START, *row, END] for row in rows]
        return torch.tensor([row + [0] * (max(map(len, marked)) - len(row)) for row in marked])

    tokens = padded(texts)
    query = padded(queries) if queries is not None else None
    names = tuple(f"text/{index}" for index in range(len(texts)))
    return Batch(names, tokens, tokens > 0, query, None if query is None else query > 0, **more)


CANDIDATES = torch.tensor([[True, True, False, True]] * 3 + [[False, True, True, False]] * 2)


CASES = {
    "two classes": (2, False, None),
    "two classes, query": (2, True, None),
    "four classes": (4, False, None),
    "four classes, query, candidates": (4, True, CANDIDATES),
}


@cache
def word_case(name: str) -> tuple[Attentive, Record]:
    classes, with_query, candidates = CASES[name]
    model = build(
        Architecture(encoder="bilstm:hidden=5", embedding=6),
        words=30,
        classes=classes,
        with_query=with_query,
    )
    draw = torch.Generator().manual_seed(len(name))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.7, generator=draw)
    model = model.double().eval()
    batch = batch_of(TEXTS, QUERIES if with_query else None, classes=candidates)
    with torch.no_grad():
        return model, model.read(batch)


def chosen(logits: Tensor, record: Record) -> np.ndarray:
    """Probability (B,) of the class predicted in the record, candidates only, in plain NumPy."""
    found = []
    for index, row in enumerate(logits.detach().numpy()):
        allowed = (
            range(len(row))
            if record.batch.classes is None
            else [c for c in range(len(row)) if record.batch.classes[index, c]]
        )
        top = max(allowed, key=lambda c, index=index: float(record.logits[index, c]))
        found.append(math.exp(row[top]) / sum(math.exp(row[c]) for c in allowed))
    return np.array(found)


def scaled(record: Record, tokens: Tensor, by: float) -> Tensor:
    """The embeddings with those of the tokens (B,T) multiplied."""
    factor = torch.where(tokens, torch.tensor(by, dtype=torch.float64), 1.0)
    return record.embeddings * factor[..., None]


class Pairs:
    """Every two words are one item, start and end none; signs within an item differ."""

    def __init__(self) -> None:
        self.table, self.inner, self.score, self.out = random_matrices(
            (30, 4), (4, 5), (5, 1), (5, 2)
        )

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        embeddings = self.table[batch.tokens] if embeddings is None else embeddings
        item_of_token, belongs = word_pairs(batch)
        content = belongs.any(-1)
        # Through another function of each token before they are added: the pair is no plain sum.
        hidden = (belongs @ (embeddings @ self.inner).tanh()) ** 2 - 1
        alpha = masking.softmax((hidden @ self.score)[..., 0], content)[:, None]
        logits = (alpha @ hidden @ self.out)[:, 0]
        return Record(
            batch,
            embeddings,
            hidden,
            alpha,
            content[:, None],
            content,
            item_of_token,
            logits,
            state=None,
        )

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        return (alpha @ record.hidden @ self.out).squeeze(-2)
