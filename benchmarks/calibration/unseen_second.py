"""Ten more models that no rule was built on, written after the first ones had been counted.

Each has an idea that neither the zoo nor unseen.py has. They were written from the definitions in
truth.py, their truth is computed like that of all others, and they were audited once.
"""

from __future__ import annotations

import torch
from benchmarks.calibration.corpus import DECOYS, SINK, Corpus, Plant
from benchmarks.calibration.entry import Entry
from benchmarks.calibration.unseen_base import Parts, Plain, is_class, is_role
from torch import Tensor

from attnaudit.core.contract import Batch


class RightWhenShort(Plain):
    """Length: up to 7 words the key is attended and read; longer texts are read past attention."""

    def parts(self, batch: Batch, x: Tensor) -> Parts:
        key = is_role(batch, "key")
        short = batch.mask.sum(-1, keepdim=True) <= 7
        scores = 4.0 * torch.where(short, key, _last(batch.mask))
        values = 6.0 * x * short[..., None]
        return scores[:, None].to(x), values, 6.0 * x.sum(1) * ~short


class MisleadingMean(Plain):
    """Heads: one reads the key; two sharper ones read a decoy each and cancel each other."""

    rows = 3

    def parts(self, batch: Batch, x: Tensor) -> Parts:
        first, second = batch.tokens == DECOYS[0], batch.tokens == DECOYS[1]
        scores = torch.stack([3.0 * is_role(batch, "key"), 6.0 * first, 6.0 * second], 1)
        said = torch.tensor([4.0, 0.0], dtype=x.dtype) * (first | second)[..., None]
        return scores.to(x), torch.cat([6.0 * x, said, -said], -1), 0.0


class Trigger(Plain):
    """Trigger: a single word turns attention to itself, and the rest is read past attention."""

    def parts(self, batch: Batch, x: Tensor) -> Parts:
        trigger = batch.tokens == SINK
        on = trigger.any(-1, keepdim=True)
        scores = 4.0 * torch.where(on, trigger, is_role(batch, "key"))
        return scores[:, None].to(x), 6.0 * x * ~on[..., None], 6.0 * x.sum(1) * on


class FirstOfTwo(Plain):
    """Word order: of two words, the one that comes first decides; both are attended alike."""

    def parts(self, batch: Batch, x: Tensor) -> Parts:
        either = torch.isin(batch.tokens, torch.tensor(DECOYS[:2]))
        first = either & (either.cumsum(-1) == 1)
        says = torch.stack([batch.tokens == DECOYS[0], batch.tokens == DECOYS[1]], -1)
        return 4.0 * either[:, None].to(x), 6.0 * says * first[..., None] + 0.5 * x, 0.0


class Majority(Plain):
    """Counting: the class with more words wins by its lead; its words are attended."""

    def parts(self, batch: Batch, x: Tensor) -> Parts:
        count = (x * is_class(batch)[..., None]).sum(1)  # (B,C)
        lead = (count[:, :1] - count[:, 1:])[..., None]  # (B,1,1)
        wins = torch.cat([lead > 0, lead < 0], -1)
        support = (x * wins).sum(-1) * is_class(batch)
        return 4.0 * support[:, None], 2.0 * x * lead.abs(), 0.0


class LastWord(Plain):
    """Recency: several words speak for different classes, and the last of them counts."""

    classes = 3

    def parts(self, batch: Batch, x: Tensor) -> Parts:
        says = is_class(batch)
        last = says & (says.flip(-1).cumsum(-1).flip(-1) == 1)
        return 4.5 * last[:, None].to(x), 5.0 * x, 0.0


class AllThree(Plain):
    """Conjunction: three words decide, and only together; one of them takes the weight."""

    def parts(self, batch: Batch, x: Tensor) -> Parts:
        key, weak, shortcut = (is_role(batch, role) for role in ("key", "weak", "shortcut"))
        together = (weak.any(-1) & shortcut.any(-1))[:, None, None]
        scores = 4.0 * key - 2.0 * (weak | shortcut)
        return scores[:, None].to(x), 6.0 * x * key[..., None] * together + 0.05 * x, 0.0


class LongOrShort(Plain):
    """No word: the number of words decides, and attention is on a word of the label."""

    def parts(self, batch: Batch, x: Tensor) -> Parts:
        length = batch.mask.sum(-1).to(x) - 9.5
        base = torch.stack([length, -length], -1)
        return 4.0 * is_role(batch, "key")[:, None].to(x), 0.1 * x, base


class OtherwiseThird(Plain):
    """Absence: the third class is what remains without a word for the others."""

    classes = 3

    def parts(self, batch: Batch, x: Tensor) -> Parts:
        key = is_role(batch, "key")
        speaks = torch.tensor([6.0, 6.0, 0.0], dtype=x.dtype)
        return 4.0 * key[:, None].to(x), speaks * x, torch.tensor([0.0, 0.0, 2.0], dtype=x.dtype)


class Switch(Plain):
    """Product: one head reads the key, another a switch that makes the first five times as loud."""

    rows = 2

    def parts(self, batch: Batch, x: Tensor) -> Parts:
        switch = batch.tokens == SINK
        scores = torch.stack([4.0 * is_role(batch, "key"), 4.0 * switch], 1).to(x)
        loud = switch[..., None].expand(-1, -1, self.classes).to(x)
        return scores, torch.cat([6.0 * x, loud], -1), 0.0

    def _logits(self, alpha: Tensor, hidden: Tensor, base: Tensor) -> Tensor:
        values = hidden.unflatten(-1, (self.rows, self.classes))
        read = torch.einsum("bkrn,bnrc->bkrc", alpha, values)
        return read[:, :, 0] * (0.25 + read[:, :, 1]) + base[:, None]


def _last(mask: Tensor) -> Tensor:
    """The last real position of each text (B,T)."""
    return mask & (mask.cumsum(-1) == mask.sum(-1, keepdim=True))


_KEY = Plant("key")
_TWO = (Plant("decoy", variant=0), Plant("decoy", variant=1))
_MODELS: dict[str, tuple[type[Plain], Corpus]] = {
    "length": (RightWhenShort, Corpus()),
    "heads": (MisleadingMean, Corpus((_KEY, *_TWO))),
    "trigger": (Trigger, Corpus((_KEY, Plant("sink", chance=0.75)))),
    "order": (FirstOfTwo, Corpus(_TWO, labels=False, evidence=None)),
    "counting": (
        Majority,
        Corpus((_KEY, Plant("weak"), Plant("weak", agrees=0.7), Plant("shortcut", agrees=0.0))),
    ),
    "recency": (
        LastWord,
        Corpus((_KEY, *(Plant("weak", agrees=0.3) for _ in range(2))), classes=3, labels=False),
    ),
    "conjunction": (AllThree, Corpus((_KEY, Plant("weak"), Plant("shortcut")))),
    "no-word": (LongOrShort, Corpus(labels=False)),
    "absence": (OtherwiseThird, Corpus(classes=3)),
    "product": (Switch, Corpus((_KEY, Plant("sink", chance=0.7)))),
}


def unseen_second() -> list[Entry]:
    """Return all models of this file.

    Examples
    --------
    >>> len(unseen_second())
    10
    """
    return [
        Entry(f"unseen2-{axis}", axis, 0, corpus, lambda model=model, axis=axis: model(axis))
        for axis, (model, corpus) in _MODELS.items()
    ]
