"""The models of the zoo keep the laws and have the truth that construction promises."""

from __future__ import annotations

import pytest
import torch
from benchmarks.calibration.entry import Entry
from benchmarks.calibration.labels import truth_of_model
from benchmarks.calibration.truth import truth_of_texts
from benchmarks.calibration.unseen import unseen
from benchmarks.calibration.unseen_second import unseen_second
from benchmarks.calibration.zoo import zoo

from attnaudit import check_model
from attnaudit.laws import check_record

ENTRIES = {entry.name: entry for entry in zoo()}
UNSEEN = {entry.name: entry for entry in (*unseen(), *unseen_second())}
HANDMADE = [name for name, entry in ENTRIES.items() if entry.axis != "trained"]
PROMISED = [name for name, entry in ENTRIES.items() if entry.expected]
# One per axis here; the others are among the slow tests.
QUICK = {ENTRIES[name].axis: name for name in PROMISED}.values()


def has_its_truth(entry: Entry, texts: int) -> bool:
    found = truth_of_model(truth_of_texts(entry.make(), entry.corpus.texts(texts, name="truth")))
    return found.faithful == entry.expected


def test_there_are_enough_models_of_every_kind() -> None:
    assert len(ENTRIES) >= 60
    assert {entry.corpus.classes for entry in ENTRIES.values()} >= {2, 3, 5}
    halves = [entry.half for entry in ENTRIES.values()]
    assert 0.4 < halves.count("fit") / len(halves) < 0.6
    expected = [ENTRIES[name].expected for name in PROMISED]
    assert min(expected.count("yes"), expected.count("no")) >= 25


@pytest.mark.parametrize("name", [*HANDMADE, *UNSEEN])
def test_handmade_models_keep_the_laws(name: str) -> None:
    entry = {**ENTRIES, **UNSEEN}[name]
    batch = entry.corpus.texts(4)
    report = check_model(entry.make(), batch)
    assert [law.name for law in report.laws if law.verdict == "broken"] == []
    check_record(entry.make().read(batch))


@pytest.mark.parametrize("name", ["trained-key-bilstm", "trained-avoid-none"])
def test_trained_models_keep_the_laws_and_are_the_same_each_time(name: str) -> None:
    entry = ENTRIES[name]
    batch = entry.corpus.texts(6)
    model = entry.make()
    assert check_model(model, batch).kept
    assert torch.equal(model.read(batch).logits, entry.make().read(batch).logits)


@pytest.mark.parametrize("name", QUICK)
def test_construction_and_enumeration_agree(name: str) -> None:
    assert has_its_truth(ENTRIES[name], texts=60)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(PROMISED) - set(QUICK)))
def test_construction_and_enumeration_agree_for_all_others(name: str) -> None:
    assert has_its_truth(ENTRIES[name], texts=100)


def test_texts_depend_on_their_number_only() -> None:
    corpus = ENTRIES["negation-seen-2"].corpus
    few, many = corpus.texts(5), corpus.texts(50)
    assert torch.equal(few.tokens, many.tokens[:5])
    assert not torch.equal(few.tokens, corpus.texts(5, seed=1).tokens)
    lengths = many.mask.sum(-1)
    assert lengths.min() >= 6
    assert lengths.max() <= 12
