"""Examples kept whole: what of an example is stored for the page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from attnaudit.auditing.audit import audit
from attnaudit.auditing.example_store import choose_examples
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.models.huggingface import from_huggingface
from attnaudit.results.results import Results
from attnaudit.results.store import load_results
from audit_cases import (
    EXAMPLES,
    audit_model,
    batching_models,
    split_batch,
)
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
def test_every_word_of_a_pair_is_stored_with_its_text(family: str) -> None:
    _, found = audited(family, list(PAIRS))
    for line, (first, second) in zip(found.examples.itertuples(), PAIRS, strict=True):
        assert list(line.tokens) == [*first.split(), *second.split()]
        assert list(line.pair) == [0] * len(first.split()) + [1] * len(second.split())


def test_single_texts_have_no_pair() -> None:
    _, found = audited("bert", [TEXTS[0], PAIRS[0]])
    assert [line.pair is None for line in found.examples.itertuples()] == [True, False]


def test_weight_on_marks_is_the_rest_of_the_attention() -> None:
    model, found = audited("bert", list(TEXTS))
    for batch in model.batches(TEXTS):  # type: ignore[attr-defined]
        record = model.read(batch)  # type: ignore[attr-defined]
        for index, name in enumerate(batch.example_id):
            line = found.examples.set_index("example_id").loc[name]
            of_words = np.asarray(line["attention"]).reshape(len(record.alpha[index]), -1).sum(-1)
            marks = np.asarray(line["weight_on_marks"])
            np.testing.assert_allclose(marks, 1 - of_words, atol=1e-6)
            special = batch.special[index] & batch.mask[index]
            on_special = (
                record.alpha[index].detach()[:, record.item_of_token[index][special]].sum(-1)
            )
            np.testing.assert_allclose(marks, on_special, atol=1e-6)
            assert (marks > 0.01).any()


def test_the_furthest_attention_is_missing_if_not_computed_also_after_loading(
    tmp_path: object,
) -> None:
    found = audit(Glass("oracle"), glass_batch(6), audits=["permutation"], show_progress=False)
    back = load_results(found.save(f"{tmp_path}/run"))
    for examples in (found.examples, back.examples):
        assert all(each is None for each in examples["furthest"])
        assert examples["furthest_jsd"].isna().all()
        assert all(list(each) == [0.0] for each in examples["weight_on_marks"])


def test_kept_examples_do_not_depend_on_the_batches() -> None:
    _, batch = batching_models()["float64"]
    few = [
        set(
            audit_model("float64", data, audits=["permutation"], keep_examples=4).examples[
                "example_id"
            ]
        )
        for data in ([batch], split_batch(batch, list(range(EXAMPLES))[::-1], 5))
    ]
    assert few[0] == few[1]
    assert len(few[0]) == 4


def test_all_examples_are_kept_up_to_a_number_of_tokens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batch = glass_batch(40)
    tokens = int(batch.mask.sum())
    assert batch.labels is not None
    known = batch.example_id, batch.labels.tolist(), tokens
    assert len(choose_examples(*known, None, 0)) == 40
    monkeypatch.setattr("attnaudit.auditing.example_store.MOST_TOKENS", tokens // 4)
    assert len(choose_examples(*known, None, 0)) == 40 * (tokens // 4) // tokens


def test_kept_examples_are_stratified_by_label() -> None:
    batch = glass_batch(60)
    labels = torch.zeros(60, dtype=torch.int64)
    labels[:6] = 1
    results = audit(
        Glass("oracle"),
        replace(batch, labels=labels),
        audits=["permutation"],
        measures=[],
        keep_examples=20,
        show_progress=False,
    )
    assert results.examples["label"].value_counts().to_dict() == {0: 18, 1: 2}


def test_the_stored_furthest_attention_is_that_of_the_audit(tmp_path: Path) -> None:
    batch = glass_batch(20)
    none = audit(
        Glass("oracle"), batch, audits=["permutation"], measures=["random"], show_progress=False
    )
    assert none.examples["furthest_jsd"].isna().all()
    for epsilon in (0.01, 0.2):
        name = f"furthest:epsilon={epsilon}"
        some = audit(
            Glass("oracle"), batch, audits=[name], measures=["random"], show_progress=False
        )
        found = some.frame().query("metric == 'jsd'").set_index("example_id")["value"]
        drawn = some.examples.set_index("example_id")["furthest_jsd"]
        np.testing.assert_allclose(drawn, found.loc[drawn.index])


def test_the_old_name_of_keep_examples_still_works_with_a_warning() -> None:
    options = {"audits": ["permutation"], "measures": [], "show_progress": False}
    with pytest.warns(DeprecationWarning, match="keep_examples"):
        old = audit(Glass("oracle"), glass_batch(9), illustrated=4, **options)
    new = audit(Glass("oracle"), glass_batch(9), keep_examples=4, **options)
    assert old.examples["example_id"].tolist() == new.examples["example_id"].tolist()
    assert old.about["illustrated"] == new.about["illustrated"] == 4
