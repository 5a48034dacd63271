"""Simulated texts whose label depends on planted words, so that the evidence is known exactly."""

from __future__ import annotations

from itertools import accumulate, product
from random import Random

from attnaudit.core.errors import InputError
from attnaudit.data.generated_examples import GeneratedExamples
from attnaudit.data.reading.options import whole_number
from attnaudit.data.splits import Example, Splits

CLASSES = ("negative", "positive")
# Made-up words, which no pretrained vectors have.
EVIDENCE = (
    ("dreffle", "glathe", "murnel", "sorvic", "wragt"),
    ("brisel", "jolvin", "merrow", "plendor", "sunlo"),
)
DISTRACTORS = ("brathe", "dorvic", "glisel", "jormel", "mefflo", "plerrow", "sulvin", "wrendor")
_FIRST = ("ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "zo")
_SECOND = (
    *("bon", "dal", "fen", "gim", "kor", "lun", "mas", "net"),
    *("pil", "rod", "sut", "tav", "ven", "zig", "ka"),
)
FILLERS = tuple(first + second for second, first in product(_SECOND, _FIRST))[:200]
_ZIPF = tuple(accumulate(1 / rank for rank in range(1, len(FILLERS) + 1)))


def keyword(
    *,
    evidence: int = 1,
    distractors: int = 3,
    length: int = 20,
    jitter: int = 5,
    train: int = 2_000,
    dev: int = 500,
    test: int = 500,
    seed: int = 0,
) -> Splits:
    """Texts of evidence words for the class, distractors and filler; only evidence is informative.

    Parameters
    ----------
    evidence : int
        Evidence words per text, any of which is enough to tell the class.
    distractors : int
        Rare words per text that occur in both classes.
    length, jitter : int
        A text has length ± jitter tokens.
    train, dev, test : int
        Number of texts.
    seed : int
        Each text depends on the seed, its id and the options above only.
    """
    whole_number("keyword", "evidence", evidence, least=1)
    for name, value in {
        "distractors": distractors,
        "jitter": jitter,
        "dev": dev,
        "test": test,
    }.items():
        whole_number("keyword", name, value, least=0)
    whole_number("keyword", "length", length, least=1)
    whole_number("keyword", "train", train, least=2)
    if evidence + distractors > length - jitter:
        raise InputError(
            f"keyword: {evidence} evidence words and {distractors} distractors do not fit into the "
            f"shortest text of {length - jitter} tokens (length={length}, jitter={jitter}). "
            "Raise length, or lower jitter, evidence or distractors."
        )

    def generated(split: str, count: int) -> GeneratedExamples:
        return GeneratedExamples(
            count,
            lambda number: keyword_example(
                f"{split}/{number}", number % 2, evidence, distractors, length, jitter, seed
            ),
        )

    return Splits(
        name="keyword",
        train=tuple(generated("train", train)),  # gone through once per epoch
        dev=tuple(generated("dev", dev)),
        test=generated("test", test),
        classes=CLASSES,
        tokeniser="blanks",
        notes={
            "source": "simulated",
            "evidence": evidence,
            "distractors": distractors,
            "seed": seed,
        },
        checked=True,  # as they are made
    )


def keyword_example(
    example_id: str,
    label: int,
    evidence: int,
    distractors: int,
    length: int,
    jitter: int,
    seed: int,
) -> Example:
    """One text; the words around the evidence do not depend on the label."""
    from attnaudit.core.randomness import derive  # imports torch

    rng = Random(derive(seed, "keyword", example_id))
    count = length + rng.randint(-jitter, jitter)
    tokens = rng.choices(FILLERS, cum_weights=_ZIPF, k=count)
    places = rng.sample(range(count), evidence + distractors)
    planted = rng.choices(EVIDENCE[label], k=evidence) + rng.choices(DISTRACTORS, k=distractors)
    for place, word in zip(places, planted, strict=True):
        tokens[place] = word
    decisive = set(places[:evidence])
    return Example(
        example_id=example_id,
        tokens=tuple(tokens),
        label=label,
        evidence=tuple(place in decisive for place in range(count)),
    )
