"""A small model whose attention depends on word vectors, on places, or on both; marks at the ends.

Token 1 opens and token 2 closes a text; both may be attended and do not count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.contract import Batch, Record

WORDS, SIZE = 40, 3
START, END = 1, 2


@dataclass(frozen=True)
class WordAttention:
    """Rows of attention: word · word vector + place · (1 for the first word, 0 for the others)."""

    word: float = 1.0
    place: float = 0.0
    rows: int = 2
    seed: int = 0

    def parameters(self) -> tuple[Tensor, Tensor, Tensor]:
        draw = torch.Generator().manual_seed(self.seed)
        table, score, output = (
            torch.randn(shape, generator=draw, dtype=torch.float64)
            for shape in ((WORDS, SIZE), (self.rows, SIZE), (SIZE, 2))
        )
        return table, score, output

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        table, score, output = self.parameters()
        embeddings = table[batch.tokens] if embeddings is None else embeddings
        words = batch.mask & (batch.tokens > END)
        first = (words.cumsum(-1) == 1) & words
        scores = self.word * (score @ embeddings.transpose(1, 2))
        scores = scores + self.place * first[:, None].double()
        mask = batch.mask[:, None].expand_as(scores)
        alpha = masking.softmax(scores, mask)
        place = torch.arange(batch.tokens.shape[1]).expand_as(batch.tokens)
        return Record(
            batch=batch,
            embeddings=embeddings,
            hidden=None,
            alpha=alpha,
            mask=mask,
            content=words,
            item_of_token=place.masked_fill(~batch.mask, -1),
            logits=(alpha @ embeddings).sum(1) @ output,
            state=embeddings,
        )

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        embeddings = record.state if alpha.dim() == 3 else record.state[:, None]
        return (alpha @ embeddings).sum(-2) @ self.parameters()[2]


def texts(lengths: tuple[int, ...], seed: int = 0) -> Batch:
    """Texts of so many random words, between the marks."""
    draw = np.random.default_rng(seed)
    rows = [[START, *draw.integers(3, WORDS, size=n).tolist(), END] for n in lengths]
    width = max(map(len, rows))
    tokens = torch.tensor([row + [0] * (width - len(row)) for row in rows])
    return Batch(tuple(f"text/{n}" for n in range(len(rows))), tokens, tokens > 0)


def shown_weights(record: Record, index: int) -> np.ndarray:
    """The mean over rows at the words of one text, scaled to sum to 1, in NumPy."""
    weights = record.alpha[index].double().mean(0).numpy()[record.content[index].numpy()]
    return weights / weights.sum()
