"""Short generated texts (6 to 12 words) in which the role of every word is known.

A token id stands for a role ("key", "shortcut", …), a class and a variant. Models decide by these
roles; `Corpus` says which of them a text holds.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from attnaudit.core.contract import Batch
from attnaudit.core.randomness import derive
from attnaudit.core.special_tokens import START, UNKNOWN

MAX_CLASSES = 5
VARIANTS = 10  # words per role and class
MARK = START  # a token such as [CLS]: attended, but not one of the words
SINK, NOT = UNKNOWN + 1, UNKNOWN + 2
DECOYS = (NOT + 1, NOT + 2, NOT + 3)  # words without a class
CLASS_ROLES = ("key", "shortcut", "weak")  # words that speak for a class
AFTER_KEY = "after key"
_FIRST_CLASS_WORD = DECOYS[-1] + 1
FIRST_FILLER = _FIRST_CLASS_WORD + len(CLASS_ROLES) * MAX_CLASSES * VARIANTS
FILLERS = 60
WORDS = FIRST_FILLER + FILLERS


def token(role: str, label: int = 0, variant: int = 0) -> int:
    """Return the id of a word.

    Examples
    --------
    >>> token("sink"), token("decoy", variant=1) == token("decoy") + 1
    (4, True)
    """
    if role in CLASS_ROLES:
        return _FIRST_CLASS_WORD + (
            (CLASS_ROLES.index(role) * MAX_CLASSES + label) * VARIANTS + variant
        )
    return {"mark": MARK, "sink": SINK, "not": NOT, "decoy": DECOYS[0] + variant}[role]


@dataclass(frozen=True)
class Plant:
    """A word put into a text.

    Attributes
    ----------
    role : of the word.
    chance : share of the texts that hold it.
    agrees : share of these in which its class is the label; in the others it is another class.
    at : "anywhere", "first", or "before key" (directly before the first key word).
    variant : which word of the role; drawn if None.
    """

    role: str
    chance: float = 1.0
    agrees: float = 1.0
    at: str = "anywhere"
    variant: int | None = None


@dataclass(frozen=True)
class Corpus:
    """What the texts are made of.

    Attributes
    ----------
    plants : the words put into the texts; all others are fillers. The key comes first.
    classes : number of classes, equally frequent.
    mark : whether each text begins with a mark.
    labels : whether the texts have labels. "not" before a key turns the label of two classes.
    evidence : the role that is annotated as evidence, `AFTER_KEY` for the words after keys, or None
        for texts without annotation.
    """

    plants: tuple[Plant, ...] = (Plant("key"),)
    classes: int = 2
    mark: bool = False
    labels: bool = True
    evidence: str | None = "key"
    shortest: int = 6
    longest: int = 12

    def texts(self, count: int, seed: int = 0, name: str = "text") -> Batch:
        """Make texts; the first ones are the same whatever the count.

        Returns
        -------
        Batch
            Of `count` texts.

        Examples
        --------
        >>> Corpus().texts(3).tokens.shape[0]
        3
        """
        rows = [self._text(random.Random(derive(seed, name, index))) for index in range(count)]
        width = self.longest + self.mark
        tokens, evidence = torch.zeros(2, count, width, dtype=torch.int64)
        for index, (words, marked, _) in enumerate(rows):
            tokens[index, : len(words)] = torch.tensor(words)
            evidence[index, : len(words)] = torch.tensor(marked)
        return Batch(
            tuple(f"{name}/{index}" for index in range(count)),
            tokens,
            tokens > 0,
            labels=torch.tensor([label for *_, label in rows]) if self.labels else None,
            evidence=None if self.evidence is None else evidence.bool(),
        )

    def _text(self, draw: random.Random) -> tuple[list[int], list[bool], int]:
        """Return the words, which of them are evidence, and the label."""
        label = draw.randrange(self.classes)
        length = draw.randint(self.shortest, self.longest)
        words = [FIRST_FILLER + draw.randrange(FILLERS) for _ in range(length)]
        roles = ["filler"] * length
        turned, key_at = False, None
        # One word after the last planted one, so that a model can be off by one.
        free = list(range(1, length - 1))
        draw.shuffle(free)
        for plant in self.plants:
            chosen, agrees = draw.random() < plant.chance, draw.random() < plant.agrees
            other = (label + 1 + draw.randrange(self.classes - 1)) % self.classes
            variant = draw.randrange(VARIANTS) if plant.variant is None else plant.variant
            if not chosen:
                continue
            if plant.at == "first":
                place = 0
            elif plant.at == "before key":
                assert key_at is not None, "The key comes first among the plants."
                place, turned = key_at - 1, True
                free = [each for each in free if each != place]
            else:
                place = free.pop()
            if plant.role == "key" and key_at is None:
                key_at = place
                if any(each.at == "before key" for each in self.plants):
                    free = [each for each in free if each != place - 1]
            words[place] = token(plant.role, label if agrees else other, variant)
            roles[place] = plant.role
        if self.evidence == AFTER_KEY:
            marked = [False, *(role == "key" for role in roles[:-1])]
        else:
            marked = [role == self.evidence for role in roles]
        if self.mark:
            words, marked = [MARK, *words], [False, *marked]
        return words, marked, 1 - label if turned else label


def without_labels(corpus: Corpus) -> Corpus:
    """Return the corpus with neither labels nor evidence."""
    return replace(corpus, labels=False, evidence=None)


def role_table(default: float, values: dict[str, float], classes: int) -> Tensor:
    """Return one number per word (WORDS,) from numbers per role.

    Parameters
    ----------
    default : the number of all words that are not named.
    values : by role ("key"), role and class ("key1"), or decoy ("decoy2"); the more special name
        counts.
    classes : number of classes.
    """
    table = torch.full((WORDS,), default, dtype=torch.float64)
    for role in CLASS_ROLES:
        for label in range(classes):
            number = values.get(f"{role}{label}", values.get(role, default))
            start = token(role, label)
            table[start : start + VARIANTS] = number
    for role in ("mark", "sink", "not"):
        table[token(role)] = values.get(role, default)
    for variant in range(len(DECOYS)):
        number = values.get(f"decoy{variant}", values.get("decoy", default))
        table[token("decoy", variant=variant)] = number
    table[0] = 0.0
    return table
