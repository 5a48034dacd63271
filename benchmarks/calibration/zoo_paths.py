"""Handmade models that differ in what the weights do: sinks, marks, inert classes, rows."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.calibration.corpus import Corpus, Plant, without_labels
from benchmarks.calibration.design import Design, Numbers
from benchmarks.calibration.entry import Entry, handmade

KEY = Corpus()
WITH_DECOYS = Corpus((Plant("key"), *(Plant("decoy", variant=variant) for variant in range(3))))
WITH_SINK = Corpus((Plant("key"), Plant("sink")))
WITH_MARK = Corpus(mark=True)


def entries() -> list[Entry]:
    """Return all models of this file."""
    return [
        *_inert(),
        *_inert_class(),
        *_mark(),
        *_sink(),
        *_rows(),
        *_saturation(),
        *_circular(),
        *_unstable(),
    ]


def _inert() -> list[Entry]:
    """The weights have less and less effect."""
    made = [
        handmade(
            f"inert-{strength}",
            strength,
            KEY,
            Design(mix=mix),
            **({"expected": "no", "only_story": "no"} if mix == 1 else {}),
        )
        for strength, mix in enumerate((0.4, 0.8, 1.0), 1)
    ]
    three = replace(without_labels(KEY), classes=3)
    return [
        *made,
        handmade(
            "inert-three", 3, three, Design(mix=1.0, classes=3), expected="no", only_story="no"
        ),
        handmade("inert-slight", 0, KEY, Design(mix=0.1), expected="yes"),
    ]


def _inert_class() -> list[Entry]:
    """One class is decided without the weights, or with its key words overlooked."""
    made = []
    for strength, mix in enumerate((0.8, 0.95, 1.0), 1):
        design = Design(mix=(0.0, mix), bias=(0.0, 0.5))
        known = {"expected": "no"} if mix == 1 else {}
        made.append(handmade(f"class-inert-{strength}", strength, KEY, design, **known))
    for strength, past in enumerate((2.0, 4.0, 8.0), 1):
        design = Design(
            scores=({"key0": 4.0, "key1": -1.0, "decoy0": 2.0},),
            values=({"key0": 6.0, "key1": 1.0},),
            bypass={"key1": past},
        )
        made.append(
            handmade(f"class-wrong-{strength}", strength, WITH_DECOYS, design, expected="no")
        )
    for classes in (3, 5):
        mix = (0.0,) * (classes - 1) + (1.0,)
        design = Design(mix=mix, classes=classes)
        corpus = replace(KEY, classes=classes)
        made.append(handmade(f"class-inert-of-{classes}", 3, corpus, design, expected="no"))
    return made


def _mark() -> list[Entry]:
    """A mark holds the weight: empty, or in place of the words."""
    made = []
    for strength, (focus, value) in enumerate(((2.0, 12.0), (4.0, 30.0), (6.0, 150.0)), 1):
        scores = ({"key": 2.5, "mark": focus},)
        carries = Design(scores=scores, values=({"key": 6.0},), gather="mark")
        flat = replace(carries, scores=({"mark": focus + 1},))
        empty = Design(scores=scores, values=({"key": value},), value_noise=0.1)
        known = {"expected": "no"} if strength == 3 else {}
        made.append(handmade(f"mark-carries-{strength}", strength, WITH_MARK, carries, **known))
        made.append(handmade(f"mark-flat-{strength}", strength, WITH_MARK, flat, expected="no"))
        made.append(handmade(f"mark-empty-{strength}", 0, WITH_MARK, empty, expected="yes"))
    return made


def _sink() -> list[Entry]:
    """A word or a position is attended whatever the text says."""
    made = []
    for strength, focus in enumerate((2.0, 4.0, 6.0), 1):
        word = Design(
            scores=({"sink": focus, "key": -1.0},), values=({"key": 20.0},), bypass={"key": 3.0}
        )
        place = Design(scores=({},), values=({"key": 2.0},), bypass={"key": 4.0}, first=focus)
        last = Design(scores=({},), values=({"key": 6.0},), last=focus, gather="last")
        made.append(handmade(f"sink-word-{strength}", strength, WITH_SINK, word, expected="no"))
        made.append(handmade(f"sink-first-{strength}", strength, KEY, place))
        made.append(handmade(f"sink-last-{strength}", strength, KEY, last, expected="no"))
    mild = Design(scores=({"key": 4.0, "sink": 3.0},), values=({"key": 6.0},))
    return [
        *made,
        handmade("sink-mild", 0, WITH_SINK, mild, expected="yes"),
        handmade("sink-mild-first", 0, KEY, Design(first=2.0), expected="yes"),
    ]


def _rows() -> list[Entry]:
    """Several rows: they cancel, some are idle, or all are right."""
    key: Numbers = {"key": 4.0}
    made = []
    for strength, share in enumerate((0.6, 0.9, 1.0), 1):
        cancel = Design(
            scores=(key, key),
            values=({"key": 6.0}, {"key": -6.0 * share}),
            bypass={"key": 3.0},
            value_noise=0.05,
        )
        known = {"expected": "no"} if share == 1 else {}
        made.append(handmade(f"rows-cancel-{strength}", strength, KEY, cancel, **known))
    decoys: list[Numbers] = [{f"decoy{variant}": 5.0} for variant in range(3)]
    for strength, idle in enumerate((1, 2, 3), 1):
        design = Design(scores=({"key": 3.0}, *decoys[:idle]), values=({"key": 8.0}, *({},) * idle))
        made.append(handmade(f"rows-idle-{strength}", strength, WITH_DECOYS, design))
    both = Design(scores=(key, key), values=({"key": 3.0}, {"key": 3.0}))
    four = Design(scores=(key,) * 4, values=({"key": 2.0},) * 4, classes=3)
    quiet = Design(scores=(key, {}), values=({"key": 6.0}, {}))
    wrong = Design(scores=tuple(decoys[:2]), values=({}, {}), bypass={"key": 5.0})
    return [
        *made,
        handmade("rows-wrong", 3, WITH_DECOYS, wrong, expected="no"),
        handmade("rows-both", 0, KEY, both, expected="yes"),
        handmade("rows-four", 0, replace(KEY, classes=3), four, expected="yes"),
        handmade("rows-quiet", 0, KEY, quiet, expected="yes"),
    ]


def _saturation() -> list[Entry]:
    """Very sure models, with right and wrong attention."""
    made = []
    for strength, scale in enumerate((3.0, 10.0), 2):
        past = Design(scores=({"decoy0": 4.0},), bypass={"key": 5.0}, scale=scale)
        made += [
            handmade(f"sure-right-{strength}", 0, KEY, Design(scale=scale), expected="yes"),
            handmade(f"sure-wrong-{strength}", strength, WITH_DECOYS, past, expected="no"),
            handmade(
                f"sure-shifted-{strength}",
                strength,
                KEY,
                Design(scale=scale, shifted=1.0),
                expected="no",
            ),
            handmade(
                f"sure-inert-{strength}",
                strength,
                KEY,
                Design(scale=scale, mix=1.0),
                expected="no",
                only_story="no",
            ),
        ]
    biased = Design(scale=10.0, bias=(0.0, 1.0))
    return [*made, handmade("sure-right-biased", 0, KEY, biased, expected="yes")]


def _circular() -> list[Entry]:
    """What decides is saturated, so that gradients see the attended words only."""
    return [
        handmade(
            f"circular-{strength}",
            strength,
            WITH_DECOYS,
            Design(
                scores=({"decoy0": 3.0, "decoy1": 2.0},),
                values=({"decoy0": 1.5, "decoy1": 1.5},),
                bypass={"key": past},
                gate="tanh",
            ),
            expected="no",
        )
        for strength, past in enumerate((3.0, 5.0, 8.0), 1)
    ]


def _unstable() -> list[Entry]:
    """Small noise on the embeddings turns the scores; without it they are right."""
    made = [
        handmade(
            f"unstable-{strength}",
            strength,
            KEY,
            Design(frequency=frequency, score_noise=0.0),
            expected="yes",
            **({"stable": "no"} if strength == 3 else {}),
        )
        for strength, frequency in enumerate((3.0, 30.0, 300.0), 1)
    ]
    calm = Design(frequency=0.3, score_noise=0.0)
    return [*made, handmade("unstable-calm", 0, KEY, calm, expected="yes", stable="yes")]
