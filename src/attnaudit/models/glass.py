"""Glass models: synthetic reference models, built by hand so that the right audit answer is known.

One token of each text determines the class (token 1: class 0, token 2: class 1).

- `oracle`: attention is on that token, and only its vector carries the class. Attention is the
  explanation.
- `inert`: the same attention, but all item vectors are equal. Attention looks right and has no
  effect.
- `shifted`: attention determines the output, but the vector at position t + 1 carries token t.
  Attention has an effect and points at the wrong word.

With `quality` below 1, attention is on the right token in that share of the texts only. Every
metric of where attention points must rank such models by their quality.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

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
    """A synthetic reference model whose attention is known to be right or wrong.

    Parameters
    ----------
    kind : {"oracle", "inert", "shifted"}
        What is true of the attention; see the module's docstring.
    strength : float, default 6.0
        Length of the vectors that carry the class.
    focus : float, default 4.0
        Attention score of the deciding item; all other items score 0.
    dtype : torch.dtype, default torch.float32
        Type of all computations.
    quality : float, default 1.0
        Share of the texts in which attention is on the deciding item.

    Examples
    --------
    >>> from attnaudit.models import Glass, glass_batch
    >>> record = Glass("oracle").read(glass_batch(3))
    >>> record.alpha.shape
    torch.Size([3, 1, 14])
    """

    kind: Kind
    strength: float = 6.0
    focus: float = 4.0
    dtype: torch.dtype = torch.float32
    quality: float = 1.0

    replacement_token: ClassVar[int] = 3  # a filler that no text holds

    def __post_init__(self) -> None:
        if not 0 <= self.quality <= 1:
            raise InputError(
                f"The quality of a glass model must be between 0 and 1, got {self.quality}."
            )
        if self.kind not in KINDS:
            raise InputError(
                f"There is no glass model {self.kind!r}. Choose from: {', '.join(KINDS)}."
            )

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        """Run the model on a batch; `embeddings` (B,T,2) replace its own."""
        if embeddings is None:
            embeddings = self._table(batch.tokens.device)[batch.tokens]
        deciding = (
            torch.isin(batch.tokens, torch.tensor(DECIDING, device=batch.tokens.device))
            & batch.mask
        )
        scores = self.focus * self._attended(batch, deciding).to(self.dtype)
        carried = embeddings * batch.mask[..., None]
        if self.kind == "inert":
            hidden = carried.sum(1, keepdim=True).expand_as(carried)
        elif self.kind == "shifted":
            hidden, scores = _shift_right(carried), _shift_right(scores)
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
        """Return the logits under other attention: (B,1,N) -> (B,C), (B,K,1,N) -> (B,K,C)."""
        assert record.hidden is not None  # read() always sets it
        hidden = record.hidden[:, None] if alpha.dim() == 4 else record.hidden
        return (alpha @ hidden).squeeze(-2) + self._bias(alpha.device)

    def _attended(self, batch: Batch, deciding: Tensor) -> Tensor:
        """Return the item attention is on (B,T): in a wrong text, two after the deciding one.

        Past the end of a text it continues at the start.
        """
        if self.quality == 1:
            return deciding
        # Drawn from the text itself, so that it depends neither on padding nor on the batch.
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
        # Class 0 wins if the text holds no deciding token.
        return torch.tensor([0.5, 0.0], dtype=self.dtype, device=device)


def glass_batch(
    examples: int = 64, *, shortest: int = 8, longest: int = 14, seed: int = 0
) -> Batch:
    """Make texts of random filler tokens and one deciding token.

    Parameters
    ----------
    examples : int, default 64
        Number of texts.
    shortest, longest : int
        Range of their lengths.
    seed : int, default 0
        Seed of the random draws.

    Returns
    -------
    Batch
        With labels, and with the deciding token as evidence. It is never among the last two
        tokens, so that the `shifted` model can move it.

    Examples
    --------
    >>> from attnaudit.models import glass_batch
    >>> glass_batch(3).tokens.shape
    torch.Size([3, 14])
    """
    draw = randomness.generator(seed, "glass")
    length = torch.randint(shortest, longest + 1, (examples, 1), generator=draw)
    mask = torch.arange(longest) < length
    tokens = torch.randint(5, _WORDS, (examples, longest), generator=draw)
    labels = torch.randint(0, 2, (examples,), generator=draw)
    place = (torch.rand(examples, 1, generator=draw) * (length - 2)).long()
    evidence = torch.zeros_like(mask).scatter(1, place, True)
    tokens = tokens.scatter(1, place, torch.tensor(DECIDING)[labels][:, None]) * mask
    names = tuple(f"glass/{index}" for index in range(examples))
    return Batch(names, tokens, mask, labels=labels, evidence=evidence)


def _shift_right(values: Tensor) -> Tensor:
    """Move every value one position to the right; position 0 becomes 0."""
    shifted = torch.zeros_like(values)
    shifted[:, 1:] = values[:, :-1]
    return shifted
