"""Handmade models that differ in which words they attend: right words and wrong words."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.calibration.corpus import AFTER_KEY, Corpus, Plant, without_labels
from benchmarks.calibration.design import Design
from benchmarks.calibration.entry import Entry, handmade

KEY = Corpus()
WITH_DECOYS = Corpus((Plant("key"), Plant("decoy", variant=0), Plant("decoy", variant=1)))
WITH_SHORTCUT = Corpus((Plant("key", agrees=0.5), Plant("shortcut")))
BOTH_KEYS = Corpus((Plant("key"), Plant("weak")))
WITH_AGAINST = Corpus((Plant("key"), Plant("weak", agrees=0.0)))


def entries() -> list[Entry]:
    """Return all models of this file."""
    return [
        *_right(),
        *_shortcut(),
        *_annotated(),
        *_polarity(),
        *_redundancy(),
        *_negation(),
        *_share_of_texts(),
        *_bag(),
    ]


def _right() -> list[Entry]:
    """One word decides and is attended."""
    yes = {"expected": "yes"}
    several = {
        classes: (replace(KEY, classes=classes), Design(classes=classes)) for classes in (3, 5)
    }
    return [
        handmade("right-plain", 0, KEY, Design(), only_story="yes", **yes),
        handmade("right-mild", 0, KEY, Design(scores=({"key": 3.0},)), **yes),
        handmade("right-no-labels", 0, without_labels(KEY), Design(), only_story="yes", **yes),
        handmade("right-no-evidence", 0, replace(KEY, evidence=None), Design(), **yes),
        handmade(
            "right-misleading-evidence", 0, replace(WITH_DECOYS, evidence="decoy"), Design(), **yes
        ),
        handmade("right-three-classes", 0, *several[3], **yes),
        handmade("right-five-classes", 0, *several[5], **yes),
        handmade("sharp-right-1", 0, KEY, _sharp(7.0), only_story="yes", **yes),
        handmade("sharp-right-2", 0, KEY, _sharp(10.0), only_story="yes", **yes),
        handmade("sharp-right-3", 0, KEY, _sharp(14.0), only_story="yes", **yes),
        handmade("sharp-right-sparse", 0, KEY, replace(_sharp(4.0), projection="sparsemax"), **yes),
        *(
            handmade(
                f"sharp-wrong-{strength}",
                strength,
                WITH_DECOYS,
                replace(_sharp(focus), scores=({"decoy0": focus},), bypass={"key": 6.0}),
                expected="no",
            )
            for strength, focus in enumerate((7.0, 10.0, 14.0), 1)
        ),
    ]


def _sharp(focus: float) -> Design:
    """All fillers tie, and the attention is all but one-hot."""
    return Design(scores=({"key": focus},), score_noise=0.0, value_noise=0.0, bias=(0.3, 0.0))


def _shortcut() -> list[Entry]:
    """The annotated word is attended, and a shortcut decides: with a low weight, or past it."""
    made = []
    for strength, own in enumerate((2.0, 1.0, 0.0), 1):
        weak = Design(scores=({"key": 4.0},), values=({"key": own, "shortcut": 120.0},))
        past = Design(values=({"key": own},), bypass={"shortcut": 6.0})
        for name, design in (("weight", weak), ("bypass", past)):
            made.append(
                handmade(
                    f"shortcut-{name}-{strength}", strength, WITH_SHORTCUT, design, expected="no"
                )
            )
    attended = Design(scores=({"shortcut": 4.0},), values=({"shortcut": 6.0},))
    three = replace(WITH_SHORTCUT, classes=3)
    return [
        *made,
        handmade("shortcut-attended", 0, WITH_SHORTCUT, attended, expected="yes"),
        handmade("shortcut-attended-three", 0, three, replace(attended, classes=3), expected="yes"),
        handmade(
            "shortcut-bypass-three",
            3,
            three,
            Design(values=({"key": 0.0},), bypass={"shortcut": 6.0}, classes=3),
            expected="no",
        ),
    ]


def _annotated() -> list[Entry]:
    """The annotated word is attended and carries the decision, which the word before it makes."""
    corpus = replace(KEY, evidence=AFTER_KEY)
    three = replace(corpus, classes=3)
    one_off = Design(shifted=1.0)
    rows = replace(one_off, scores=({"key": 4.0},) * 2, values=({"key": 3.0},) * 2)
    return [
        handmade("annotated-1", 1, corpus, Design(shifted=0.8), expected="no"),
        handmade("annotated-2", 2, corpus, one_off, expected="no"),
        handmade("annotated-3", 3, corpus, replace(one_off, scale=2.0), expected="no"),
        handmade("annotated-three", 3, three, replace(one_off, classes=3), expected="no"),
        handmade("annotated-rows", 3, corpus, rows, expected="no"),
        handmade("annotated-right", 0, corpus, Design(), expected="yes"),
        handmade("annotated-right-three", 0, three, Design(classes=3), expected="yes"),
    ]


def _polarity() -> list[Entry]:
    """The attended word speaks against the decision."""
    made = [
        handmade(
            f"polarity-wrong-{strength}",
            strength,
            WITH_AGAINST,
            Design(scores=({"weak": focus},), values=({"weak": 1.0},), bypass={"key": 5.0}),
            expected="no",
        )
        for strength, focus in enumerate((2.5, 4.0, 6.0), 1)
    ]
    low_weight = Design(
        scores=({"weak": 4.0},), values=({"weak": 1.5, "key": 160.0},), value_noise=0.1
    )
    right = Design(scores=({"key": 4.0},), values=({"key": 6.0, "weak": 6.0},))
    graded = Design(scores=({"key": 4.0, "weak": 2.0},), values=({"key": 6.0, "weak": 6.0},))
    return [
        *made,
        handmade("polarity-low-weight", 3, WITH_AGAINST, low_weight, expected="no"),
        handmade("polarity-right", 0, WITH_AGAINST, right, expected="yes"),
        handmade("polarity-graded", 0, WITH_AGAINST, graded, expected="yes"),
    ]


def _redundancy() -> list[Entry]:
    """Two words, each of which would do."""
    values = ({"key": 6.0, "weak": 6.0},)
    half = Design(scores=({"key": 8.0, "weak": 8.0},), values=values, bias=(0.3, 0.0))
    one = replace(half, scores=({"key": 8.0, "weak": 5.0},))
    lonely = replace(half, scores=({"key": 8.0, "decoy": 6.0, "weak": 5.0},))
    with_decoys = Corpus((*BOTH_KEYS.plants, Plant("decoy", variant=0), Plant("decoy", variant=1)))
    return [
        handmade("redundancy-both", 0, BOTH_KEYS, half, expected="yes", only_story="no"),
        handmade("redundancy-both-one-first", 0, BOTH_KEYS, one, expected="yes", only_story="no"),
        handmade("redundancy-one", 1, with_decoys, lonely, only_story="no"),
        *(
            handmade(
                f"redundancy-neither-{strength}",
                strength,
                with_decoys,
                Design(
                    scores=({"decoy0": focus},),
                    values=({"key": 1.0, "weak": 1.0},),
                    bypass={"key": 5.0, "weak": 5.0},
                    gate="any",
                ),
                expected="no",
            )
            for strength, focus in ((2, 4.0), (3, 7.0))
        ),
    ]


def _negation() -> list[Entry]:
    """ "not" turns the word after it; it is attended or overlooked."""
    made = []
    for strength, share in enumerate((0.3, 0.6, 1.0), 1):
        corpus = Corpus((Plant("key"), Plant("not", chance=share, at="before key")))
        overlooked = Design(scores=({"key": 4.0, "not": -3.0},), negation=True)
        seen = Design(scores=({"key": 4.0, "not": 2.5},), negation=True)
        known = {"expected": "no"} if share == 1 else {}
        made.append(
            handmade(f"negation-overlooked-{strength}", strength, corpus, overlooked, **known)
        )
        made.append(handmade(f"negation-seen-{strength}", 0, corpus, seen, expected="yes"))
    often = Corpus((Plant("key"), Plant("not", chance=0.8, at="before key")))
    overlooked = Design(scores=({"key": 5.0, "not": -3.0},), negation=True)
    rows = replace(overlooked, scores=overlooked.scores * 2, values=({"key": 4.0},) * 2)
    return [
        *made,
        handmade(
            "negation-overlooked-sure", 3, often, replace(overlooked, scale=2.0), expected="no"
        ),
        handmade("negation-overlooked-rows", 3, often, rows, expected="no"),
        handmade(
            "negation-overlooked-no-labels", 3, without_labels(often), overlooked, expected="no"
        ),
    ]


def _share_of_texts() -> list[Entry]:
    """Attention is right, or of any effect, in a share of the texts only."""
    made = []
    for strength, share in enumerate((0.3, 0.6, 1.0), 1):
        known = {"expected": "no"} if share == 1 else {}
        made.append(handmade(f"shifted-{strength}", strength, KEY, Design(shifted=share), **known))
    for strength, share in enumerate((0.7, 0.4, 0.1), 1):
        past = Design(right=share, bypass={"key": 4.0}, values=({"key": 3.0},), first=2.0)
        made.append(handmade(f"share-right-{strength}", strength, KEY, past))
    for strength, share in enumerate((0.7, 0.5, 0.3), 1):
        made.append(handmade(f"share-used-{strength}", strength, KEY, Design(through=share)))
    return made


def _bag() -> list[Entry]:
    """Every word speaks a little: attention is flat, or follows how much each word says."""
    corpus = Corpus((), evidence=None, labels=False)
    flat = Design(scores=({},), values=({},), value_noise=6.0, bias=(0.5, 0.0))
    made = [
        handmade(
            f"bag-flat-{strength}",
            strength,
            corpus,
            replace(flat, score_noise=noise),
            **({"expected": "no", "stable": "no"} if strength == 3 else {}),
        )
        for strength, noise in enumerate((0.6, 0.2, 0.02), 1)
    ]
    return [
        *made,
        *(
            handmade(f"bag-focused-{index}", 0, corpus, replace(flat, focus_on_value=focus))
            for index, focus in enumerate((0.2, 0.4, 0.8), 1)
        ),
    ]
