"""Three ways of erasing the top words, each against a text changed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.special import expit
from torch import Tensor

from attnaudit.audits.erasure_forms import erasure_forms
from attnaudit.core.contract import Batch, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.core.special_tokens import UNKNOWN
from attnaudit.models import with_readout
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.models.imposed import Imposed, uniform
from audit_cases import Case, case
from deletion_cases import odds_by_hand, read_alone
from tiny_transformers import TEXTS, tiny

LINEAR = ["two classes", "two classes, query", "four classes, query, candidates"]


def changed_by_hand(chosen: Case, index: int, gone: list[int], form: str) -> np.ndarray:
    if form == "delete":
        return read_alone(chosen, index, gone)
    batch = chosen.record.batch.rows(torch.tensor([index]))
    with torch.no_grad():
        if form == "replace":
            tokens = batch.tokens.clone()
            tokens[0, gone] = UNKNOWN
            changed = Batch(batch.example_id, tokens, batch.mask, batch.query, batch.query_mask)
            return chosen.model.read(changed).logits[0].numpy()
        embeddings = chosen.model.embedding(batch.tokens)
        embeddings[0, gone] = 0
        return chosen.model.read(batch, embeddings).logits[0].numpy()


@pytest.mark.parametrize("name", LINEAR)
def test_every_form_equals_a_text_changed_by_hand(name: str) -> None:
    chosen = case(name)
    record = chosen.record
    found = erasure_forms(chosen.model, record, {"attention": record.alpha}, 0, share=30)
    apart = 0
    for index in range(len(record.batch)):
        words = record.content[index].nonzero()[:, 0].tolist()
        if len(words) < 2:
            assert all(values[index].isnan() for values in found.values())
            continue
        top = sorted(words, key=lambda n: -float(record.alpha[index, 0, n]))
        top = top[: min(math.ceil(30 * len(words) / 100), len(words) - 1)]
        whole = expit(odds_by_hand(chosen, index, record.logits[index].numpy()))
        drops, flips = [], []
        for form in ("delete", "replace", "zero"):
            logits = changed_by_hand(chosen, index, top, form)
            drops.append(whole - expit(odds_by_hand(chosen, index, logits)))
            decided = int(np.argmax(np.where(chosen.allowed(index), logits, -np.inf)))
            flips.append(decided != int(record.predicted[index]))
            assert float(found["", f"drop_{form}"][index]) == pytest.approx(drops[-1], abs=1e-9)
        assert float(found["", "disagreement"][index]) == pytest.approx(
            max(drops) - min(drops), abs=1e-9
        )
        assert float(found["", "flip_disagreement"][index]) == float(any(flips) and not all(flips))
        apart += any(flips) and not all(flips)
    assert apart > 0


def test_forms_that_are_not_available_are_nan_and_do_not_disagree() -> None:
    class Plain(Glass):
        replacement_token = None  # type: ignore[assignment]

    class NoEmbeddings(Plain):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            if embeddings is not None:
                raise NotApplicable("this model reads tokens only")
            return super().read(batch)

    for kind, known in ((Plain, {"delete", "zero"}), (NoEmbeddings, {"delete"})):
        model = kind("oracle")
        record = model.read(glass_batch(4))
        found = erasure_forms(model, record, {"attention": record.alpha}, 0)
        for form in ("delete", "replace", "zero"):
            assert found["", f"drop_{form}"].isnan().all() == (form not in known)
        assert found["", "disagreement"].isnan().all() == (len(known) < 2)
        assert found["", "flip_disagreement"].isnan().all() == (len(known) < 2)
        given = erasure_forms(model, record, {"attention": record.alpha}, 0, token=7)
        assert not given["", "drop_replace"].isnan().any()
        assert not given["", "disagreement"].isnan().any()


def test_the_token_of_a_wrapped_model_is_used() -> None:
    chosen = case("two classes")
    scores = {"attention": chosen.record.alpha}
    expected = erasure_forms(chosen.model, chosen.record, scores, 0)["", "drop_replace"]
    found = erasure_forms(with_readout(chosen.model), chosen.record, scores, 0)
    assert torch.equal(found["", "drop_replace"].nan_to_num(), expected.nan_to_num())
    assert Imposed(chosen.model, uniform).replacement_token == UNKNOWN


@pytest.mark.parametrize("form", ["delete", "mask", "pad"])
def test_deleting_is_deleting_however_the_batch_leaves_out_words(form: str) -> None:
    pytest.importorskip("transformers")
    import attnaudit

    found = []
    for each in ("delete", form):
        model = attnaudit.from_huggingface(*tiny("bert"), leave_out=each)
        with torch.no_grad():
            record = model.read(model.batches(TEXTS)[0])
            found.append(erasure_forms(model, record, {"attention": record.alpha}, 0))
    assert model.replacement_token == model.tokenizer.mask_token_id
    for key, values in found[0].items():
        torch.testing.assert_close(found[1][key], values, equal_nan=True)
    assert not found[0]["", "drop_replace"].isnan().all()


def test_the_measure_must_be_computed() -> None:
    record = Glass("oracle").read(glass_batch(2))
    with pytest.raises(NotApplicable, match="'lime', whose top words are erased"):
        erasure_forms(Glass("oracle"), record, {"attention": record.alpha}, 0, of="lime")
