"""Models that no rule was built on: written from the definitions alone, audited once, at the end.

Their constructions differ from those of the zoo. Do not look at their cards while choosing rules
or thresholds: `python -m benchmarks.calibration.run --unseen --out FOLDER` is for afterwards.
"""

from __future__ import annotations

import torch
from benchmarks.calibration.corpus import DECOYS, MARK, NOT, Corpus, Plant
from benchmarks.calibration.entry import Entry
from benchmarks.calibration.unseen_base import Parts, Plain, is_class, is_role
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.contract import Batch


class BorrowedVoice(Plain):
    """Shortcut: the annotated key is attended, but its vector says what the shortcut says.

    Without a key, the last word takes its place.
    """

    def parts(self, batch: Batch, x: Tensor) -> Parts:
        key, shortcut = is_role(batch, "key"), is_role(batch, "shortcut")
        last = batch.mask & (batch.mask.cumsum(-1) == batch.mask.sum(-1, keepdim=True))
        speaker = torch.where(key.any(-1, keepdim=True), key, last)
        said = (x * shortcut[..., None]).sum(1, keepdim=True)
        values = 6.0 * torch.where(speaker[..., None], said, 0.05 * x)
        return 4.0 * speaker[:, None].to(x), values, 0.0


class MarkForOneClass(Plain):
    """Mark: it holds most of the weight, and all that speaks for class 0."""

    spread = 0.005

    def parts(self, batch: Batch, x: Tensor) -> Parts:
        is_mark = (batch.tokens == MARK)[..., None]
        own = x * torch.tensor([0.0, 150.0], dtype=x.dtype)
        gathered = (x * torch.tensor([6.0, 0.0], dtype=x.dtype)).sum(1, keepdim=True)
        key = is_role(batch, "key")
        return (3.0 * key + 7.0 * is_mark[..., 0])[:, None], own + is_mark * gathered, 0.0


class Middle(Plain):
    """Sink: the word in the middle is attended, whatever it is; all words count past attention."""

    def parts(self, batch: Batch, x: Tensor) -> Parts:
        place = torch.arange(batch.tokens.shape[1])
        middle = place == (batch.mask.sum(-1, keepdim=True) - 1) // 2
        return 3.0 * middle[:, None].to(x), 1.5 * x, 4.0 * x.sum(1)


class TwoOfFourInert(Plain):
    """Inert classes: two of four classes are decided before the weights are applied."""

    classes = 4

    def parts(self, batch: Batch, x: Tensor) -> Parts:
        inert = torch.tensor([0.0, 0.0, 1.0, 1.0], dtype=x.dtype)
        values = 6.0 * x * (1 - inert)
        return 4.0 * is_role(batch, "key")[:, None].to(x), values, 6.0 * (x * inert).sum(1)


class NotAnywhere(Plain):
    """Negation: "not" anywhere turns the text, and hardly any weight is on it."""

    def parts(self, batch: Batch, x: Tensor) -> Parts:
        turned = (batch.tokens == NOT).any(-1)[:, None, None]
        values = 6.0 * torch.where(turned, x.flip(-1), x)
        scores = 4.0 * is_role(batch, "key") - 2.0 * (batch.tokens == NOT)
        return scores[:, None].to(x), values, 0.0


class OneHot(Plain):
    """Sharp: exactly one word is attended, and it is the right one."""

    classes = 3

    def parts(self, batch: Batch, x: Tensor) -> Parts:
        return 60.0 * is_role(batch, "key")[:, None].to(x), 5.0 * x, 0.0


class Voters(Plain):
    """Rows: three rows vote through a squashed output; one of them always reads a decoy."""

    rows = 3

    def parts(self, batch: Batch, x: Tensor) -> Parts:
        key, decoy = is_role(batch, "key"), torch.isin(batch.tokens, torch.tensor(DECOYS))
        scores = torch.stack([4.0 * key, 3.0 * key, 6.0 * decoy], 1).to(x)
        return scores, torch.cat([6.0 * x, 5.0 * x, 0.0 * x], -1), 0.0

    def output(self, logits: Tensor) -> Tensor:
        return 8.0 * torch.tanh(logits / 4)


class SureOfTheWrong(Plain):
    """Saturation: a very sure model whose weights are mostly on decoys, in part on the key."""

    def parts(self, batch: Batch, x: Tensor) -> Parts:
        key, decoy = is_role(batch, "key"), torch.isin(batch.tokens, torch.tensor(DECOYS))
        return (1.0 * key + 4.0 * decoy)[:, None].to(x), 10.0 * x, 2.0 * x.sum(1)

    def output(self, logits: Tensor) -> Tensor:
        return 25.0 * torch.tanh(logits)


class OneOfThree(Plain):
    """Redundancy: three words say the same, and the first of them takes all of the weight."""

    def parts(self, batch: Batch, x: Tensor) -> Parts:
        says = is_class(batch)
        first = says & (says.cumsum(-1) == 1)
        return 6.0 * first[:, None].to(x), 6.0 * x, 0.0


class Contrarian(Plain):
    """Polarity: the attended word is taken for its opposite, and so it decides after all."""

    def parts(self, batch: Batch, x: Tensor) -> Parts:
        weak = is_role(batch, "weak")
        return 4.0 * weak[:, None].to(x), 6.0 * x.flip(-1), 0.0


class Tossed(Plain):
    """Noise: of two equal words one takes all, by a difference that any noise turns."""

    def parts(self, batch: Batch, x: Tensor) -> Parts:
        says = is_class(batch)
        scores = 5.0 * says + says * 3.0 * torch.sin(400.0 * x.sum(-1) + batch.tokens)
        return scores[:, None], 6.0 * x, 0.0


class AfterTheFact(Plain):
    """Bag: five classes; attention goes to the words that speak for the class already chosen."""

    classes, spread = 5, 1.5

    def parts(self, batch: Batch, x: Tensor) -> Parts:
        chosen = x.sum(1).argmax(-1)
        support = x.gather(-1, chosen[:, None, None].expand(-1, x.shape[1], 1))[..., 0]
        return masking.fill(2.0 * support, batch.mask)[:, None], 6.0 * x, 0.0


_KEY = Plant("key")
_MODELS: dict[str, tuple[type[Plain], Corpus]] = {
    "shortcut": (BorrowedVoice, Corpus((Plant("key", agrees=0.5), Plant("shortcut")))),
    "mark": (MarkForOneClass, Corpus(mark=True)),
    "sink": (Middle, Corpus()),
    "class": (TwoOfFourInert, Corpus(classes=4)),
    "negation": (NotAnywhere, Corpus((_KEY, Plant("not", chance=0.6)))),
    "sharp": (OneHot, Corpus(classes=3)),
    "rows": (Voters, Corpus((_KEY, Plant("decoy", variant=0)))),
    "sure": (
        SureOfTheWrong,
        Corpus((_KEY, *(Plant("decoy", variant=i) for i in range(3))), labels=False),
    ),
    "redundancy": (OneOfThree, Corpus((_KEY, Plant("weak"), Plant("shortcut")))),
    "polarity": (Contrarian, Corpus((_KEY, Plant("weak", agrees=0.0)))),
    "unstable": (Tossed, Corpus((_KEY, Plant("weak")), evidence=None)),
    "bag": (AfterTheFact, Corpus((), classes=5, labels=False, evidence=None)),
}


def unseen() -> list[Entry]:
    """Return all models of this file.

    Examples
    --------
    >>> len(unseen())
    12
    """
    return [
        Entry(f"unseen-{axis}", axis, 0, corpus, lambda model=model, axis=axis: model(axis))
        for axis, (model, corpus) in _MODELS.items()
    ]
