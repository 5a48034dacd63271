"""Examples kept whole: what of an example is stored for the page."""

from __future__ import annotations

import numpy as np
import pytest

from attnaudit.auditing.audit import audit
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.models.huggingface import from_huggingface
from attnaudit.results.results import Results
from attnaudit.results.store import load_results
from tiny_transformers import TEXTS, tiny

PAIRS = [("the film was good", "we liked it"), ("a dull one", "not good at all , very bad")]


def audited(family: str, texts: list[object]) -> tuple[object, Results]:
    model = from_huggingface(*tiny(family))
    return model, audit(
        model, texts, audits=["permutation"], measures=["random"], show_progress=False
    )


@pytest.mark.parametrize(
    "family", ["bert", "distilbert", "t5"]
)  # with types, without, without a mark between the texts
def test_every_word_of_a_pair_knows_its_text(family: str) -> None:
    _, found = audited(family, list(PAIRS))
    for line, (first, second) in zip(found.examples.itertuples(), PAIRS, strict=True):
        assert list(line.tokens) == [*first.split(), *second.split()]
        assert list(line.pair) == [0] * len(first.split()) + [1] * len(second.split())


def test_single_texts_have_no_second() -> None:
    _, found = audited("bert", [TEXTS[0], PAIRS[0]])
    assert [line.pair is None for line in found.examples.itertuples()] == [True, False]


def test_weight_on_marks_is_what_the_words_do_not_have() -> None:
    model, found = audited("bert", list(TEXTS))
    for batch in model.batches(TEXTS):  # type: ignore[attr-defined]
        record = model.read(batch)  # type: ignore[attr-defined]
        for at, name in enumerate(batch.example_id):
            line = found.examples.set_index("example_id").loc[name]
            of_words = np.asarray(line["attention"]).reshape(len(record.alpha[at]), -1).sum(-1)
            marks = np.asarray(line["weight_on_marks"])
            np.testing.assert_allclose(marks, 1 - of_words, atol=1e-6)
            special = batch.special[at] & batch.mask[at]
            on_special = record.alpha[at].detach()[:, record.item_of_token[at][special]].sum(-1)
            np.testing.assert_allclose(marks, on_special, atol=1e-6)
            assert (marks > 0.01).any()


def test_what_was_not_searched_for_is_not_stored_and_reads_back_so(tmp_path: object) -> None:
    found = audit(Glass("oracle"), glass_batch(6), audits=["permutation"], show_progress=False)
    back = load_results(found.save(f"{tmp_path}/run"))
    for examples in (found.examples, back.examples):
        assert all(each is None for each in examples["furthest"])
        assert examples["furthest_jsd"].isna().all()
        assert all(list(each) == [0.0] for each in examples["weight_on_marks"])
