"""Random models of every kind, with finite differences of their probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.contract import Batch, Record
from random_models import random_model, short_texts
from word_pairs import random_matrices, word_pairs

STEP = 1e-5


TEXTS = ([5, 6, 7, 8, 9, 10], [12, 5, 5, 13], [7, 14], [15], [20, 21, 22, 23, 24, 5, 6, 7])


SENTENCES = ([0, 0, 0, 1, 1, 2], [0, 0, 1, 1], [0, 1], [0], [0, 0, 0, 0, 1, 1, 1, 2])


def batch_of(*, query: bool = False, candidates: bool = False) -> Batch:
    return short_texts(TEXTS, sentences=SENTENCES, query=query, candidates=candidates)


def made(classes: int, query: bool, **choices: Any) -> Any:
    return random_model(classes, query, spread=0.7, **choices)


class Pairs:
    """Every two words are one item; start and end belong to none. No readout, two rows."""

    def __init__(self) -> None:
        self.table, self.inner, self.score, self.out = random_matrices(
            (30, 4), (4, 5), (5, 2), (10, 3)
        )

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        embeddings = self.table[batch.tokens] if embeddings is None else embeddings
        item_of_token, belongs = word_pairs(batch)
        content = belongs.any(-1)
        hidden = (belongs @ (embeddings @ self.inner).tanh()) ** 2 - 1
        hidden = hidden + hidden.cumsum(1) / 3
        mask = content[:, None].expand(-1, 2, -1)
        alpha = masking.softmax((hidden @ self.score).transpose(1, 2), mask)
        record = Record(
            batch,
            embeddings,
            hidden,
            alpha,
            mask,
            content,
            item_of_token,
            torch.empty(len(batch), 3),
        )
        return replace(record, logits=self.decode(record, alpha))

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        hidden = record.hidden if alpha.dim() == 3 else record.hidden[:, None]  # type: ignore[index]
        return (alpha @ hidden).flatten(-2) @ self.out


MAKE: dict[str, Callable[[], tuple[Any, Batch]]] = {
    "bilstm": lambda: (made(2, False), batch_of()),
    "query, candidates": lambda: (made(4, True), batch_of(query=True, candidates=True)),
    "tanh output": lambda: (made(3, True, output="tanh"), batch_of(query=True)),
    "sparsemax": lambda: (made(2, False, projection="sparsemax"), batch_of()),
    "transformer": lambda: (made(3, False, encoder="transformer:hidden=6,heads=2"), batch_of()),
    "pairs": lambda: (Pairs(), batch_of()),
    "sentences": lambda: (
        made(3, True, model="hierarchical:site=sentence", encoder="bigru:hidden=3"),
        batch_of(query=True),
    ),
    "words": lambda: (
        made(3, True, model="hierarchical:site=word", encoder="bigru:hidden=3"),
        batch_of(query=True),
    ),
}


every_case = pytest.mark.parametrize("name", MAKE)


@cache
def case(name: str) -> tuple[Any, Record]:
    model, batch = MAKE[name]()
    with torch.no_grad():
        return model, model.read(batch)


def chosen(logits: Tensor, record: Record) -> Tensor:
    """Probability (…,B) of the class predicted in the record, among the candidates."""
    classes = torch.ones_like(record.logits, dtype=torch.bool)
    classes = classes if record.batch.classes is None else record.batch.classes
    weight = logits.exp() * classes
    top = (record.logits.exp() * classes).argmax(-1)
    return weight.gather(-1, top[:, None])[:, 0] / weight.sum(-1)


def slopes(function: Callable[[Tensor], Tensor], index: Tensor) -> Tensor:
    """Central differences of function (B,X,Y) -> (B,) in each component, for all examples."""
    found = torch.zeros_like(index)
    for x in range(index.shape[1]):
        for y in range(index.shape[2]):
            step = torch.zeros_like(index)
            step[:, x, y] = STEP
            found[:, x, y] = (function(index + step) - function(index - step)) / (2 * STEP)
    return found


def by_item(slope: Tensor, record: Record, norm: int) -> np.ndarray:
    """The norm over all components of an item's tokens, as shares, in a plain loop."""
    found = np.full(record.content.shape, np.nan)
    for index, item in record.content.nonzero().tolist():
        numbers = slope[index][record.item_of_token[index] == item].numpy().ravel()
        found[index, item] = np.linalg.norm(numbers, norm)
    return found / np.nansum(found, 1, keepdims=True)


def same(found: Tensor, expected: Any, tolerance: float = 1e-7) -> None:
    np.testing.assert_allclose(found.numpy(), np.asarray(expected), atol=tolerance, rtol=0)


def from_hidden(name: str, model: Any, record: Record) -> Callable[[Tensor], Tensor]:
    """The logits as a function of the hidden states alone, put together from the model's parts."""
    batch = record.batch
    if name == "pairs":

        def of_pairs(hidden: Tensor) -> Tensor:
            scores = (hidden @ model.score).transpose(1, 2)
            alpha = scores.masked_fill(~record.mask, -torch.inf).softmax(-1)
            return (alpha @ hidden).flatten(1) @ model.out

        return of_pairs
    query = None
    if batch.query is not None:
        states = model.query_encoder(model.embedding(batch.query), batch.query_mask)
        query = model.query_encoder.summary(states, batch.query_mask)
    if name == "sentences":

        def of_sentences(hidden: Tensor) -> Tensor:
            alpha = model.projection(model.scorer["sentence"](hidden, query), record.mask[:, 0])
            return model.output((alpha[:, None] @ hidden)[:, 0], query)

        return of_sentences
    if name == "words":

        def of_words(hidden: Tensor) -> Tensor:
            scores = model.scorer["word"](hidden, query)[:, None].expand(record.mask.shape)
            alpha = scores.masked_fill(~record.mask, -1e30).softmax(-1) * record.mask
            there = record.mask.any(-1)
            above = model.sentence_encoder(alpha @ hidden, there)
            weights = model.projection(model.scorer["sentence"](above, query), there)
            return model.output((weights[:, None] @ above)[:, 0], query)

        return of_words

    def of_attentive(hidden: Tensor) -> Tensor:
        alpha = model.projection(model.scorer(hidden, query), record.mask[:, 0])
        return model.output((alpha[:, None] @ hidden)[:, 0], query)

    return of_attentive
