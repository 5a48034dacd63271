"""Readers of known truth for the card of citations: they do what their programs say."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import torch
from benchmarks.calibration.citations.readers import (
    BOTH,
    EITHER,
    NEEDS,
    ONE,
    TWO_OF_THREE,
    Program,
    ProgramReader,
    questions,
)
from benchmarks.calibration.citations.run import audit_reader
from benchmarks.calibration.citations.truth import truth_of
from benchmarks.calibration.citations.zoo import FIT, HELD_OUT, half_of, zoo
from benchmarks.calibration.evaluate import rates_of_verdict

from attnaudit.data.citations import FIRST_SOURCE
from attnaudit.results.questions import CITATION, RULES
from attnaudit.results.reliability import CITATION_FILE, reliability

ROOT = Path(__file__).parents[2]
RIGHT = Program("right-0", points=1.0, place=0.0)


def log_probs(program: Program, kept: list[list[bool]]) -> list[float]:
    """Of one question with these sets of sources, from the logits."""
    model = ProgramReader(program)
    (batch,) = model.batches(questions(program, 1, seed=3))
    keep = torch.tensor([[[False] * FIRST_SOURCE + each for each in kept]])
    return model.keep_only(model.read(batch), keep)[0].log_softmax(-1)[:, 0].exp().tolist()


@pytest.mark.parametrize("needs", NEEDS)
def test_an_answer_is_read_from_the_sources_that_it_needs(needs: str) -> None:
    program = replace(RIGHT, needs=needs, sources=5)
    (example,) = questions(program, 1, seed=3)
    assert len(example.sources) == 5
    gold = example.gold or ()
    assert len(gold) == {ONE: 1, EITHER: 2, BOTH: 2, TWO_OF_THREE: 3}[needs]
    every = [True] * 5
    alone = [[n == one for n in range(5)] for one in gold]
    without = [[n != one for n in range(5)] for one in gold]
    found = log_probs(program, [every, [False] * 5, *alone, *without])
    read, guess = pytest.approx(0.95), pytest.approx(0.001)
    assert found[:2] == [read, guess]
    assert found[2 : 2 + len(gold)] == [read if needs in (ONE, EITHER) else guess] * len(gold)
    assert found[2 + len(gold) :] == [guess if needs in (ONE, BOTH) else read] * len(gold)


def test_attention_follows_the_source_the_place_or_another_source() -> None:
    for points, place, right, moved in ((1, 0, 1.0, 1.0), (0, 1, 0.2, 0.0), (0, 0, 0.0, 1.0)):
        program = Program("attends-1", points, place, at=1)
        model = ProgramReader(program)
        asked = questions(program, 200, seed=1)
        cited = [model.cited(each) for each in asked]
        hits = sum(c in (e.gold or ()) for c, e in zip(cited, asked, strict=True)) / 200
        assert hits == pytest.approx(right, abs=0.08)
        if place:
            assert set(cited) == {1}
        order = (1, 2, 3, 4, 0)
        after = [model.cited(each.reordered(order)) for each in asked]
        same = sum(order[a] == c for a, c in zip(after, cited, strict=True)) / 200
        assert same == moved
        (batch,) = model.batches(asked)
        top = model.read(batch).alpha[:, 0, FIRST_SOURCE:].argmax(-1).tolist()
        assert top == cited


def test_the_truth_is_that_of_the_knobs() -> None:
    assert truth_of(RIGHT) == dict.fromkeys(
        ("uses_sources", "cites_used", "follows_source", "verdict"), "yes"
    )
    assert truth_of(replace(RIGHT, knows=0.9))["verdict"] == "no"
    assert truth_of(replace(RIGHT, knows=1.0))["cites_used"] == "open"
    assert truth_of(replace(RIGHT, points=0.1, place=0.9))["cites_used"] == "no"
    # Of three sources two are right: a place is right in two thirds of the questions.
    lucky = replace(RIGHT, points=0.75, place=0.25, needs=EITHER, sources=3)
    assert truth_of(lucky)["cites_used"] == "yes"
    assert truth_of(lucky)["follows_source"] == truth_of(lucky)["verdict"] == "open"


def test_both_halves_of_the_zoo_hold_every_kind() -> None:
    programs = zoo()
    assert len({each.name for each in programs}) == len(programs)
    for half in (FIT, HELD_OUT):
        part = [each for each in programs if half_of(each) == half]
        assert len(part) == len(programs) / 2
        assert {each.needs for each in part} == set(NEEDS)
        assert {truth_of(each)["verdict"] for each in part} == {"yes", "no", "open"}


def test_clear_readers_get_the_card_they_deserve() -> None:
    clear = {
        "yes": RIGHT,
        "no": replace(RIGHT, points=0.0, place=1.0),
    }
    for expected, program in clear.items():
        *_, verdict = audit_reader(program, 50)
        assert (verdict["answer"], verdict["truth"]) == (expected, expected)
    # No source is of use alone, and none is missed: it cannot be said which was used.
    together = audit_reader(replace(RIGHT, needs=TWO_OF_THREE), 50)
    assert {line["question"]: line["answer"] for line in together} == {
        "uses_sources": "yes",
        "cites_used": "cannot tell",
        "follows_source": "yes",
        "verdict": "cannot tell",
    }
    first, *_ = audit_reader(replace(RIGHT, knows=1.0), 50)
    assert (first["question"], first["answer"], first["truth"]) == ("uses_sources", "no", "no")


def test_the_rates_in_the_package_are_those_of_the_stored_table() -> None:
    stored = json.loads((ROOT / "src/attnaudit/results" / CITATION_FILE).read_text("utf-8"))
    errors = pd.read_csv(ROOT / "benchmarks/calibration/results/citation_errors.csv")
    assert rates_of_verdict(errors) == stored
    assert "says yes wrongly in" in reliability(RULES, CITATION)
    readers = pd.read_csv(ROOT / "benchmarks/calibration/results/citation_readers.csv")
    assert list(readers["name"]) == [each.name for each in zoo()]
    assert list(readers["verdict"]) == [truth_of(each)["verdict"] for each in zoo()]
