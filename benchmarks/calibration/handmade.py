"""Models built by hand: attention and output are read off a table of words, by role.

    logits = scale · (Σ_r alpha_r @ values_r + bypass + bias)

`Design` holds the numbers of one model. What a word says through attention (`values`), what it says
past the attention (`bypass`) and how much it is attended (`scores`) are independent, so that every
way of being right or wrong can be built. The embedding of a word is all of its numbers, so that
gradients and noise on embeddings reach the scores too.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import torch
from benchmarks.calibration.corpus import (
    CLASS_ROLES,
    DECOYS,
    FIRST_FILLER,
    MARK,
    MAX_CLASSES,
    NOT,
    VARIANTS,
    WORDS,
    role_table,
    token,
)
from benchmarks.calibration.design import Design
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.contract import Batch, Record
from attnaudit.core.randomness import generator
from attnaudit.core.special_tokens import END
from attnaudit.models.projections import PROJECTIONS


class Handmade:
    """A model with the numbers of a design.

    Examples
    --------
    >>> from benchmarks.calibration.corpus import Corpus
    >>> from benchmarks.calibration.design import Design
    >>> Handmade(Design()).read(Corpus().texts(3)).logits.shape
    torch.Size([3, 2])
    """

    def __init__(self, design: Design, name: str = "handmade") -> None:
        self.design = design
        self.about: dict[str, Any] = {"model": name}
        self.rows, self.classes = len(design.scores), design.classes
        self._project = PROJECTIONS[design.projection]()

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        """Run the model on a batch; `embeddings` (B,T,E) replace its own."""
        design, mask, tokens = self.design, batch.mask, batch.tokens
        if embeddings is None:
            embeddings = self._table[tokens]
        through, scores, past = embeddings.split(
            (self.rows * self.classes, self.rows, self.classes), -1
        )
        own = masking.fill(through, mask[..., None].expand_as(through))
        own = own.unflatten(-1, (self.rows, self.classes))  # (B,T,R,C)
        past = masking.fill(past, mask[..., None].expand_as(past))
        if design.frequency is not None:
            scores = max(design.scores[0].values()) * torch.cos(design.frequency * scores)
        if design.negation:
            turned = (_next(tokens == NOT) & mask)[..., None]
            own = torch.where(turned[..., None], own.flip(-1), own)
            past = torch.where(turned, past.flip(-1), past)
        if design.shifted:
            moves = self._is_shifted(tokens) & mask & ~_is_last(mask)
            own = own * ~moves[..., None, None] + _next(own * moves[..., None, None])
            scores = scores * ~moves[..., None] + _next(scores * moves[..., None])
        content = mask & (tokens > END)
        own = self._gather(own, mask, tokens)
        words_before = content.cumsum(-1)
        scores = scores + design.first * (content & (words_before == 1))[..., None]
        scores = scores + design.last * _is_last(mask)[..., None]
        attended = mask[:, None].expand(-1, self.rows, -1)
        alpha = self._project(scores.transpose(1, 2).flatten(0, 1), attended.flatten(0, 1))
        alpha = alpha.view(attended.shape)
        base = self._bypass(past) + self._bias
        hidden = own.flatten(2)
        item = torch.arange(tokens.shape[1]).expand_as(tokens)
        return Record(
            batch=batch,
            embeddings=embeddings,
            hidden=hidden,
            alpha=alpha,
            mask=attended,
            content=content,
            item_of_token=item.masked_fill(~content, -1),
            logits=self._logits(alpha[:, None], hidden, base)[:, 0],
            readout=design.scale * (hidden + base[:, None]) if self.rows == 1 else None,
            state=base,
        )

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        """Return the logits under other attention: (B,R,N) -> (B,C), (B,K,R,N) -> (B,K,C)."""
        assert record.hidden is not None  # read() always sets it
        several = alpha if alpha.dim() == 4 else alpha[:, None]
        logits = self._logits(several, record.hidden, record.state)
        return logits if alpha.dim() == 4 else logits[:, 0]

    def _logits(self, alpha: Tensor, hidden: Tensor, base: Tensor) -> Tensor:
        """Return the logits (B,K,C) under alpha (B,K,R,N)."""
        values = hidden.unflatten(-1, (self.rows, self.classes))
        return self.design.scale * (torch.einsum("bkrn,bnrc->bkc", alpha, values) + base[:, None])

    def _gather(self, own: Tensor, mask: Tensor, tokens: Tensor) -> Tensor:
        """Put the sum over the text into the items that hold it."""
        design = self.design
        share = torch.tensor(design.mix, dtype=own.dtype)
        summed = own.sum(1, keepdim=True) * mask[..., None, None]
        mixed = (1 - share) * own + share * summed
        if not design.gather:
            return mixed
        place = tokens == MARK if design.gather == "mark" else _is_last(mask)
        return mixed + design.gathered * place[..., None, None] * summed

    def _bypass(self, past: Tensor) -> Tensor:
        """Return the logits past the attention (B,C) from those of each word (B,T,C)."""
        total = past.sum(1)
        if self.design.gate == "tanh":
            return total.abs().amax(-1, keepdim=True).detach() * torch.tanh(3 * total)
        return past.amax(1).clamp_min(0) if self.design.gate == "any" else total

    def _is_shifted(self, tokens: Tensor) -> Tensor:
        start = token("key")
        is_key = (tokens >= start) & (tokens < token("shortcut"))
        return is_key & ((tokens - start) % VARIANTS < round(self.design.shifted * VARIANTS))

    @cached_property
    def _bias(self) -> Tensor:
        return torch.tensor(self.design.bias or (0.0,) * self.classes, dtype=torch.float64)

    @cached_property
    def _table(self) -> Tensor:
        """The embeddings (WORDS,E): values by row and class, scores by row, bypass by class."""
        design, classes = self.design, self.classes
        draw = generator(0, "calibration", "words")
        noise = torch.randn(WORDS, 1 + MAX_CLASSES, generator=draw, dtype=torch.float64)
        noise[:FIRST_FILLER] = 0.0
        values_of_fillers = noise[:, 1 : 1 + classes]
        values_of_fillers = values_of_fillers - values_of_fillers.mean(-1, keepdim=True)
        own_class = _own_class(classes)
        columns = []
        bypass = role_table(0.0, design.bypass, classes)[:, None] * own_class
        passes = _first_words(design.through)[:, None]
        for numbers in design.values:
            value = role_table(0.0, numbers, classes)[:, None] * own_class
            columns.append(value * passes + design.value_noise * values_of_fillers)
            bypass = bypass + value * ~passes
        for row, numbers in enumerate(design.scores):
            score = role_table(0.0, numbers, classes)
            score = torch.where(_first_words(design.right), score, torch.zeros_like(score))
            if design.frequency is not None:  # cos is 1 at phase 0 and -1 at half a turn
                score = torch.where(score > 0, 0.0, torch.pi / design.frequency)
            score[FIRST_FILLER:] += design.score_noise * noise[FIRST_FILLER:, 0].roll(row)
            largest = columns[row].abs().amax(-1)
            columns.append((score + design.focus_on_value * largest)[:, None])
        columns.append(bypass)
        table = torch.cat(columns, -1)
        table[0] = 0.0
        return table


def _own_class(classes: int) -> Tensor:
    """1 for the class a word speaks for, 0 elsewhere (WORDS,C).

    Decoy i speaks for class i mod C; the other words without a class for class 0.
    """
    table = torch.zeros(WORDS, classes, dtype=torch.float64)
    for role in CLASS_ROLES:
        for label in range(classes):
            start = token(role, label)
            table[start : start + VARIANTS, label] = 1.0
    for role in ("mark", "sink", "not"):
        table[token(role), 0] = 1.0
    for variant, decoy in enumerate(DECOYS):
        table[decoy, variant % classes] = 1.0
    return table


def _first_words(share: float) -> Tensor:
    """Of each class role's words, the first share (WORDS,); True for all other words."""
    right = torch.ones(WORDS, dtype=torch.bool)
    start = token("key")
    variants = torch.arange(FIRST_FILLER - start) % VARIANTS
    right[start:FIRST_FILLER] = variants < round(share * VARIANTS)
    return right


def _next(values: Tensor) -> Tensor:
    """Move every value one position to the right; position 0 becomes 0."""
    moved = torch.zeros_like(values)
    moved[:, 1:] = values[:, :-1]
    return moved


def _is_last(mask: Tensor) -> Tensor:
    """The last real position of each text (B,T)."""
    return mask & (mask.cumsum(-1) == mask.sum(-1, keepdim=True))
