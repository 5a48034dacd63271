"""One model of the zoo, with its texts and what is known of it by construction."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.calibration.corpus import Corpus
from benchmarks.calibration.design import Design
from benchmarks.calibration.handmade import Handmade

from attnaudit.core.contract import AttentionModel


@dataclass(frozen=True)
class Entry:
    """A model of known truth.

    Attributes
    ----------
    name : unique.
    axis : the way of failing it is about.
    strength : 0 for the faithful counterpart, 1 to 3 for weak to strong failures.
    corpus : what its texts are made of.
    make : makes the model; the same one each time.
    expected : "yes" or "no" if construction alone says whether attention is faithful; the tests
        hold truth.py to it. Empty if only the enumeration can tell.
    only_story, stable : the truth of these questions ("yes" or "no"), if construction says.
    """

    name: str
    axis: str
    strength: int
    corpus: Corpus
    make: Callable[[], AttentionModel]
    expected: str = ""
    only_story: str = ""
    stable: str = ""

    @property
    def half(self) -> str:
        """The half of the zoo it belongs to, by a hash of its name: "fit" or "held out".

        Examples
        --------
        >>> Entry("a", "key", 0, Corpus(), lambda: None).half
        'fit'
        """
        digest = hashlib.blake2b(self.name.encode(), digest_size=1).digest()[0]
        return "held out" if digest % 2 else "fit"


def handmade(name: str, strength: int, corpus: Corpus, design: Design, **known: str) -> Entry:
    """Return the entry of a handmade model; its axis is the first word of the name."""
    return Entry(
        name=name,
        axis=name.split("-")[0],
        strength=strength,
        corpus=corpus,
        make=lambda: Handmade(design, name),
        **known,
    )
