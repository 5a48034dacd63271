"""A lesson for the classroom: try the arguments of the debate on three audited glass models."""

from __future__ import annotations

from pathlib import Path

import torch

from attnaudit.auditing.audit import audit
from attnaudit.core.contract import Batch
from attnaudit.core.output_files import check_file, check_writable, recovery_advice
from attnaudit.models.glass import DECIDING, KINDS, Glass, glass_batch
from attnaudit.report.lesson import write_lesson
from attnaudit.results.card import Card
from attnaudit.results.results import Results

CLASSES = ("negative", "positive")
SENTENCES = (
    "the film was delightful from the first scene to the last",
    "we saw it twice and found the music delightful both times",
    "a slow start but what a delightful second half it has",
    "critics called the second half dreadful and left early",
)
_DECIDING_WORDS = ("dreadful", "delightful")
_FIRST_FILLER = 5


def make_lesson(path: str | Path) -> Path:
    """Write the lesson, one HTML page. Does what `attnaudit lesson` does.

    The glass models are audited on random texts for the cards, and on four sentences to play with.

    Examples
    --------
    >>> make_lesson("lesson.html")  # doctest: +SKIP
    """
    check_file(Path(path), kind="lesson")
    check_writable(Path(path).parent)
    batch, words = sentences()
    played: dict[str, Results] = {kind: _audit(Glass(kind), batch, words) for kind in KINDS}
    cards: dict[str, Card] = {
        kind: _audit(Glass(kind), glass_batch(256), None).card() for kind in KINDS
    }
    with recovery_advice("No page was written."):
        return write_lesson(played, cards, Path(path))


def sentences() -> tuple[Batch, list[str]]:
    """The sentences as a batch for a glass model, and the word of each token number."""
    texts = [sentence.split() for sentence in SENTENCES]
    fillers = list(
        dict.fromkeys(word for text in texts for word in text if word not in _DECIDING_WORDS)
    )
    words = ["" for _ in range(_FIRST_FILLER)] + fillers
    for token, word in zip(DECIDING, _DECIDING_WORDS, strict=True):
        words[token] = word
    longest = max(map(len, texts))
    tokens = torch.tensor(
        [[words.index(word) for word in text] + [0] * (longest - len(text)) for text in texts]
    )
    evidence = torch.isin(tokens, torch.tensor(DECIDING))
    labels = (tokens == DECIDING[1]).any(-1).long()
    names = tuple(f"sentence {number}" for number in range(1, len(texts) + 1))
    return Batch(names, tokens, tokens > 0, labels=labels, evidence=evidence), words


def _audit(model: Glass, batch: Batch, words: list[str] | None) -> Results:
    return audit(model, batch, words=words, class_names=CLASSES, show_progress=False)
