"""Models of known truth on which the first version of the card was wrong, and this one is not.

One or more per principle of the card (docs/card.md). `first` is the verdict that the rules of the
first version gave on the same 200 texts; it is kept for the record and not computed again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import pytest
import torch
from benchmarks.calibration.card_audit import CARD_AUDITS, CARD_MEASURES
from benchmarks.calibration.labels import ModelTruth, truth_of_model
from benchmarks.calibration.truth import truth_of_texts
from benchmarks.calibration.zoo import zoo

import attnaudit
from attnaudit.results.card import Card
from attnaudit.results.questions import NO, PARTLY, YES


@dataclass(frozen=True)
class Principle:
    """A principle, a model that shows it, its truth, what the cards say, and the reason shown."""

    words: str
    model: str
    faithful: str
    first: str
    now: tuple[str, ...]
    reason: str = ""


PRINCIPLES = (
    Principle("faithful is not plausible", "annotated-2", NO, "Yes, for this model", (NO,)),
    Principle(
        "evidence elsewhere is no argument against attention",
        "right-misleading-evidence",
        YES,
        "Not as an explanation",
        (YES,),
    ),
    Principle(
        "what is attended is what is used, whatever is annotated",
        "shortcut-attended",
        YES,
        "Not as an explanation",
        (YES,),
    ),
    Principle(
        "a negation that is not attended", "negation-overlooked-3", NO, "Yes, for this model", (NO,)
    ),
    Principle(
        "words that back each other up", "redundancy-both", YES, "Not on its own", (YES, PARTLY)
    ),
    Principle(
        "a mark that holds the weight and says nothing",
        "mark-empty-3",
        YES,
        "Not as an explanation",
        (YES, PARTLY),
    ),
    Principle(
        "a sure model is not excused, nor condemned",
        "sure-right-3",
        YES,
        "Not as an explanation",
        (YES, PARTLY),
    ),
    Principle(
        "stable under small noise, from one saved model",
        "unstable-3",
        YES,
        "Yes, for this model",
        (PARTLY,),
        "it changes with the least noise",
    ),
    Principle(
        "every class: one is inert",
        "class-inert-3",
        NO,
        "Not on its own: other attention fits",
        (NO, PARTLY),
        "predicted",
    ),
    Principle(
        "every class: attention is wrong for one",
        "class-wrong-3",
        NO,
        "Not on its own: how well it points at what matters is unclear",
        (NO, PARTLY),
        "point",
    ),
)


@cache
def truth(name: str) -> ModelTruth:
    entry = next(entry for entry in zoo() if entry.name == name)
    with torch.no_grad():
        return truth_of_model(truth_of_texts(entry.make(), entry.corpus.texts(40, name="truth")))


@cache
def card(name: str) -> Card:
    entry = next(entry for entry in zoo() if entry.name == name)
    texts = entry.corpus.texts(200, seed=200, name="audit")
    results = attnaudit.audit(
        entry.make(),
        texts,
        audits=CARD_AUDITS,
        measures=CARD_MEASURES,
        keep_examples=0,
        show_progress=False,
    )
    return results.card()


@pytest.mark.parametrize("principle", PRINCIPLES, ids=lambda each: each.model)
def test_the_card_follows_the_principle_that_the_first_version_missed(principle: Principle) -> None:
    assert truth(principle.model).faithful == principle.faithful
    found = card(principle.model)
    assert found.decision in principle.now
    assert principle.reason in found.verdict
    assert not found.verdict.startswith(principle.first)
