"""Glass models: hand-built, no training, everything visible. What is true of them is known, so they test the audits.

One token of each text decides the class (token 1: class 0, token 2: class 1).

- Oracle: attention sits on that token and only its vector carries the class. Attention is the explanation.
- Inert: the same attention, but all item vectors are equal. Attention looks right and cannot matter.
- Shifted: attention decides, but the vector at t + 1 carries token t. Attention matters and points at the wrong word.

With `quality` below 1 the attention sits on the right token in that share of the texts only, and on a wrong one in the others: models of
known quality, from perfect to always wrong, which every number about where attention points must put in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from attnaudit.core import masking, randomness
from attnaudit.core.contract import Batch, Record
from attnaudit.core.errors import InputError

Kind = Literal["oracle", "inert", "shifted"]
KINDS: tuple[Kind, ...] = ("oracle", "inert", "shifted")
DECIDING = (1, 2)
_WORDS = 50


@dataclass(frozen=True)
class Glass:
    kind: Kind
    strength: float = 6.0  # of the deciding vectors
    focus: float = 4.0  # score of the deciding item; the others score 0
    dtype: torch.dtype = torch.float32
    quality: float = 1.0  # share of the texts in which the focus is on the deciding item

    def __post_init__(self) -> None:
        if not 0 <= self.quality <= 1:
            raise InputError(
                f"The quality of a glass model is between 0 and 1, got {self.quality}."
            )
        if self.kind not in KINDS:
            raise InputError(
                f"There is no glass model {self.kind!r}. Choose from: {', '.join(KINDS)}."
            )

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        if embeddings is None:
            embeddings = self._table(batch.tokens.device)[batch.tokens]
        deciding = (
            torch.isin(batch.tokens, torch.tensor(DECIDING, device=batch.tokens.device))
            & batch.mask
        )
        scores = self.focus * self._pointed_at(batch, deciding).to(self.dtype)
        carried = embeddings * batch.mask[..., None]
        if self.kind == "inert":
            hidden = carried.sum(1, keepdim=True).expand_as(carried)
        elif self.kind == "shifted":
            hidden, scores = _one_later(carried), _one_later(scores)
        else:
            hidden = carried
        alpha = masking.softmax(scores, batch.mask)[:, None]
        readout = hidden + self._bias(batch.tokens.device)
        place = torch.arange(batch.tokens.shape[1], device=batch.tokens.device).expand_as(
            batch.tokens
        )
        return Record(
            batch=batch,
            embeddings=embeddings,
            hidden=hidden,
            alpha=alpha,
            mask=batch.mask[:, None],
            content=batch.mask,
            item_of_token=place.masked_fill(~batch.mask, -1),
            logits=(alpha @ hidden)[:, 0] + self._bias(batch.tokens.device),
            readout=readout,
        )

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        assert record.hidden is not None  # read() always sets it
        hidden = record.hidden[:, None] if alpha.dim() == 4 else record.hidden
        return (alpha @ hidden).squeeze(-2) + self._bias(alpha.device)

    def _pointed_at(self, batch: Batch, deciding: Tensor) -> Tensor:
        """(B,T) bool: the deciding items, or in the texts that are got wrong the next real item but one, going round."""
        if self.quality == 1:
            return deciding
        # By the text itself, so that padding and the other texts of a batch change nothing.
        draw = (batch.tokens * batch.mask).sum(-1) * 7919 % 1000 / 1000
        length = batch.mask.sum(-1, keepdim=True).clamp_min(1)
        place = torch.arange(batch.tokens.shape[1], device=batch.tokens.device)
        wrong = torch.zeros_like(deciding).scatter(
            1, (deciding.long().argmax(-1, keepdim=True) + 2) % length, True
        )
        wrong = wrong & (place < length) & deciding.any(-1, keepdim=True)
        return torch.where((draw < self.quality)[:, None], deciding, wrong)

    def _table(self, device: torch.device) -> Tensor:
        table = torch.zeros(_WORDS, 2, dtype=self.dtype, device=device)
        for label, token in enumerate(DECIDING):
            table[token, label] = self.strength
        return table

    def _bias(self, device: torch.device | None = None) -> Tensor:
        # Class 0 wins where nothing is said.
        return torch.tensor([0.5, 0.0], dtype=self.dtype, device=device)


def glass_batch(
    examples: int = 64, *, shortest: int = 8, longest: int = 14, seed: int = 0
) -> Batch:
    """Random fillers and one deciding token, never among the last two, so that Shifted has somewhere to carry it."""
    draw = randomness.generator(seed, "glass")
    length = torch.randint(shortest, longest + 1, (examples, 1), generator=draw)
    mask = torch.arange(longest) < length
    tokens = torch.randint(5, _WORDS, (examples, longest), generator=draw)
    labels = torch.randint(0, 2, (examples,), generator=draw)
    place = (torch.rand(examples, 1, generator=draw) * (length - 2)).long()
    evidence = torch.zeros_like(mask).scatter(1, place, True)
    tokens = tokens.scatter(1, place, torch.tensor(DECIDING)[labels][:, None]) * mask
    names = tuple(f"glass/{at}" for at in range(examples))
    return Batch(names, tokens, mask, labels=labels, evidence=evidence)


def _one_later(values: Tensor) -> Tensor:
    """Position t gets what stood at t - 1; nothing wraps round, so position 0 gets 0."""
    shifted = torch.zeros_like(values)
    shifted[:, 1:] = values[:, :-1]
    return shifted
