"""What the models of unseen.py share: a table of words, softmax attention and an output."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from benchmarks.calibration.corpus import (
    CLASS_ROLES,
    FIRST_FILLER,
    MAX_CLASSES,
    VARIANTS,
    WORDS,
    token,
)
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.contract import Batch, Record
from attnaudit.core.randomness import generator
from attnaudit.core.special_tokens import END

# Scores (B,R,T), values (B,T,R·C), and logits past the attention (B,C) or 0.
Parts = tuple[Tensor, Tensor, Tensor | float]


class Plain:
    """A model given by its parts; the embedding of a word is 1 for its class, small for fillers."""

    classes: ClassVar[int] = 2
    rows: ClassVar[int] = 1
    spread: ClassVar[float] = 0.05  # of the fillers' embeddings

    def __init__(self, name: str) -> None:
        self.about: dict[str, Any] = {"model": f"unseen-{name}"}

    def parts(self, batch: Batch, x: Tensor) -> Parts:
        """Return scores, values and bypass, from embeddings x (B,T,C) that are 0 on padding."""
        raise NotImplementedError

    def output(self, logits: Tensor) -> Tensor:
        """Squash the logits (…,C); the identity unless a model has its own."""
        return logits

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        """Run the model on a batch; `embeddings` (B,T,C) replace its own."""
        if embeddings is None:
            embeddings = self._table()[batch.tokens]
        real = batch.mask[..., None].expand_as(embeddings)
        scores, hidden, base = self.parts(batch, masking.fill(embeddings, real))
        base = embeddings.new_zeros(len(batch), self.classes) + base
        attended = batch.mask[:, None].expand(-1, self.rows, -1)
        alpha = masking.softmax(scores.to(embeddings.dtype), attended)
        content = batch.mask & (batch.tokens > END)
        item = torch.arange(batch.tokens.shape[1]).expand_as(batch.tokens)
        is_linear = self.rows == 1 and type(self).output is Plain.output
        return Record(
            batch=batch,
            embeddings=embeddings,
            hidden=hidden,
            alpha=alpha,
            mask=attended,
            content=content,
            item_of_token=item.masked_fill(~content, -1),
            logits=self._logits(alpha[:, None], hidden, base)[:, 0],
            readout=hidden + base[:, None] if is_linear else None,
            state=base,
        )

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        """Return the logits under other attention: (B,R,N) -> (B,C), (B,K,R,N) -> (B,K,C)."""
        assert record.hidden is not None  # read() always sets it
        several = alpha if alpha.dim() == 4 else alpha[:, None]
        logits = self._logits(several, record.hidden, record.state)
        return logits if alpha.dim() == 4 else logits[:, 0]

    def _logits(self, alpha: Tensor, hidden: Tensor, base: Tensor) -> Tensor:
        values = hidden.unflatten(-1, (self.rows, self.classes))
        return self.output(torch.einsum("bkrn,bnrc->bkc", alpha, values) + base[:, None])

    def _table(self) -> Tensor:
        draw = generator(0, "calibration", "unseen")
        noise = torch.randn(WORDS, MAX_CLASSES, generator=draw, dtype=torch.float64)
        table = self.spread * noise[:, : self.classes]
        table[:FIRST_FILLER] = 0.0
        for role in CLASS_ROLES:
            for label in range(self.classes):
                start = token(role, label)
                table[start : start + VARIANTS, label] = 1.0
        return table


def is_role(batch: Batch, role: str) -> Tensor:
    """The words of a class role (B,T) bool."""
    start = token(role)
    inside = (batch.tokens >= start) & (batch.tokens < start + MAX_CLASSES * VARIANTS)
    return inside & batch.mask


def is_class(batch: Batch) -> Tensor:
    """The words that speak for a class (B,T) bool."""
    return (batch.tokens >= token("key")) & (batch.tokens < FIRST_FILLER) & batch.mask
