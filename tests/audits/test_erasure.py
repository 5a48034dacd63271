"""Comprehensiveness and sufficiency against texts shortened by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import Tensor

from attnaudit.audits.erasure import erasure
from attnaudit.core.contract import Batch, Record
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.models.glass import Glass, glass_batch
from bilstm_cases import TEXT_LENGTHS, bilstm_case, counted_items, first_row, run_audit


def drop_by_hand(
    model: object, record: Record, index: int, gone: list[int], token: int | None
) -> float:
    """By hand: one text without some words (or with another token for them), read alone."""
    text = [int(t) for t in record.batch.tokens[index][record.batch.mask[index]]]
    left = [
        t if n not in gone else token
        for n, t in enumerate(text)
        if token is not None or n not in gone
    ]
    tokens = torch.tensor([left])
    with torch.no_grad():
        probs = model.read(Batch(("x",), tokens, tokens > 0)).probs[0]
    return float(record.probs[index, record.predicted[index]] - probs[record.predicted[index]])


@pytest.mark.parametrize("token", [None, 3])
def test_comprehensiveness_and_sufficiency_equal_texts_shortened_by_hand(token: int | None) -> None:
    model, record, scores = bilstm_case()
    options = {} if token is None else {"form": "replace", "token": token}
    found = run_audit("erasure", shares="10+50", rankings="gradient+leave_one_out", **options)
    for name in ("gradient", "leave_one_out"):
        for index, length in enumerate(TEXT_LENGTHS):
            items = counted_items(record, index)
            score = first_row(scores[name], index)
            if score[items].isnan().any():
                assert math.isnan(found[name, "comprehensiveness"][index])
                continue
            ranked = sorted(items, key=lambda item, score=score: -float(score[item]))
            falls = {"comprehensiveness": [], "sufficiency": []}
            for share in (10, 50):
                top = ranked[: math.ceil(share * length / 100)]
                rest = [item for item in items if item not in top]
                for metric, gone in (("comprehensiveness", top), ("sufficiency", rest)):
                    value = float(found[name, f"{metric}_{share}"][index])
                    if token is None and len(gone) == length:
                        assert math.isnan(value)
                    else:
                        falls[metric].append(drop_by_hand(model, record, index, gone, token))
                        assert value == pytest.approx(falls[metric][-1], abs=1e-9)
            for metric, each in falls.items():
                if each:
                    assert float(found[name, metric][index]) == pytest.approx(
                        np.mean(each), abs=1e-9
                    )


@pytest.mark.parametrize(("share", "words"), [("7", 100), ("14", 50), ("55", 100), ("0.7", 1000)])
def test_a_share_that_is_a_whole_number_of_words_takes_no_word_more(share: str, words: int) -> None:
    """In floating point 0.07 · 100 is above 7."""

    class Counting(Glass):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            lengths.extend(batch.mask.sum(-1).tolist())
            return super().read(batch, embeddings)

    lengths: list[int] = []
    model = Counting("oracle")
    record = model.read(glass_batch(1, shortest=words, longest=words))
    erasure(model, record, {"attention": record.alpha}, 0, shares=share, rankings="attention")
    top = int(Fraction(share) * words / 100)
    assert sorted(lengths) == sorted([words, words - top, top])


def test_unknown_options_of_erasure_are_rejected() -> None:
    with pytest.raises(InputError, match="form is delete, or replace with token"):
        run_audit("erasure", form="blank")
    for options in ({"form": "replace"}, {"token": 3}):
        with pytest.raises(InputError, match="form is delete, or replace with token"):
            run_audit("erasure", **options)
    for shares in ("0", "101", "nan", "inf", "a", "", "10+-1"):
        with pytest.raises(InputError, match="shares are per cent"):
            run_audit("erasure", shares=shares)
    with pytest.raises(NotApplicable, match="none of the rankings"):
        run_audit("erasure", rankings="lime")
