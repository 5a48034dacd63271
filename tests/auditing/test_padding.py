"""A model whose answers depend on padding is rejected before the audit; no other model is."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from torch import Tensor

import attnaudit
from attnaudit.auditing.battery import Battery
from attnaudit.auditing.padding import check_padding
from attnaudit.audits import AUDITS
from attnaudit.audits.declaration import declaration_of
from attnaudit.core.contract import Batch, Record
from attnaudit.core.errors import InputError
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.models.hooked.model import Hooked
from padding_cases import Mean, Recurrent, hooked, texts

LENGTHS = (7, 3, 5, 6, 2)
FAST: dict[str, Any] = {
    "audits": ["permutation"],
    "measures": ["random"],
    "keep_examples": 0,
    "show_progress": False,
}


def audited(model: Any, data: Any, **options: Any) -> attnaudit.Results:
    return attnaudit.audit(model, data, **{**FAST, **options})


def error_of(model: Any, data: Any, **options: Any) -> str:
    with pytest.raises(InputError) as error:
        audited(model, data, **options)
    return str(error.value)


# Rejected


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_a_padded_bilstm_is_rejected_and_a_packed_one_is_not(dtype: torch.dtype) -> None:
    batch = texts(LENGTHS)
    said = error_of(hooked(Recurrent(packed=False), dtype), batch)
    assert re.match(
        "What the model says of a text depends on its padding: when the padding of text 4 is cut "
        r"off, its class probabilities change by up to 0\.\d+ and its attention weights by up to "
        r"0\.\d+; expected no change beyond rounding\.",
        said,
    )
    assert "pack_padded_sequence" in said
    assert "without the audits" not in said
    audited(hooked(Recurrent(packed=True), dtype), batch)


def test_the_change_is_that_of_the_text_read_alone() -> None:
    model, batch = hooked(Recurrent(packed=False), torch.float64), texts(LENGTHS)
    inner: Any = model
    inner.inner.model.eval()
    nothing = torch.zeros_like(batch.mask[:1])
    with torch.no_grad():
        whole = model.read(batch).probs[4]
        alone = model.read(batch.rows(torch.tensor([4])).without(nothing)).probs[0]
    change = float((whole - alone).abs().max())
    assert f"probabilities change by up to {change:.2g} " in error_of(model, batch)


@pytest.mark.parametrize("left", [False, True])
def test_a_mean_over_padding_is_rejected_and_one_over_words_is_not(left: bool) -> None:
    batch = texts(LENGTHS, left=left)
    assert "depends on its padding" in error_of(hooked(Mean(masked=False)), batch)
    audited(hooked(Mean(masked=True)), batch)


def test_a_later_batch_is_the_first_with_padding() -> None:
    model = hooked(Recurrent(packed=False))
    first = texts([4, 4])
    later = replace(texts([4, 6]), example_id=("c", "d"))
    assert "the padding of c is cut off" in error_of(model, [first, later])


def test_texts_of_one_length_may_still_be_padded() -> None:
    said = error_of(hooked(Recurrent(packed=False)), texts([4, 4], width=9))
    assert "the padding of text 0 is cut off" in said


def test_audits_in_parts_are_checked_before_the_first(tmp_path: Path) -> None:
    later = replace(texts(LENGTHS), example_id=tuple("abcde"))
    said = error_of(
        hooked(Recurrent(packed=False)),
        [texts([4, 4]), later],
        out=tmp_path / "out",
        tokens_per_shard=8,
    )
    assert "the padding of e is cut off" in said
    assert not list(tmp_path.rglob("parts/*"))
    audited(hooked(Recurrent(packed=True)), later, out=tmp_path / "out")


def test_other_models_are_checked_too() -> None:
    good, bad = hooked(Recurrent(packed=True)), hooked(Recurrent(packed=False))
    said = error_of(good, texts(LENGTHS), other_models=[good, bad])
    assert said.startswith("What other_models[1] says of a text depends on its padding")


def test_texts_that_mix_are_not_blamed_on_the_padding() -> None:
    said = error_of(hooked(Recurrent(packed=False, batch_first=False)), texts(LENGTHS))
    assert "depends on the other texts of its batch: when text 4 is read alone" in said
    assert "batch_first=True" in said


# Data without padding


@pytest.mark.parametrize("lengths", [[6, 6, 6], [5], [1]])
def test_without_padding_no_model_is_rejected(lengths: list[int]) -> None:
    audited(hooked(Recurrent(packed=False)), texts(lengths))


@pytest.mark.parametrize("lengths", [[6, 6, 6], [5]])
def test_audits_that_shorten_texts_need_padding_to_change_nothing(lengths: list[int]) -> None:
    audits = ["permutation", "top_words"]
    said = error_of(hooked(Recurrent(packed=False)), texts(lengths), audits=audits)
    assert "No text is padded here, but some audits (top_words) read texts without some" in said
    assert "Or audit without top_words" in said
    audited(hooked(Recurrent(packed=True)), texts(lengths), audits=audits)
    audited(hooked(Recurrent(packed=True)), texts([1, 1]), audits=audits)
    said = error_of(hooked(Recurrent(packed=False)), texts(LENGTHS), audits=audits)
    assert "one text each, without the audits that shorten texts (top_words)." in said


@pytest.mark.parametrize("name", sorted(set(AUDITS) - {"stability"}))
def test_audits_say_whether_they_read_padded_texts_of_data_without_padding(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    padded: list[bool] = []
    plain = Hooked._run

    def recorded(self: Hooked, site: Any, batch: Batch, *rest: Any, **more: Any) -> Any:
        padded.append(not bool(batch.mask.all()))
        return plain(self, site, batch, *rest, **more)

    monkeypatch.setattr("attnaudit.auditing.audit.check_padding", lambda *_: None)
    monkeypatch.setattr(Hooked, "_run", recorded)
    evidence = torch.zeros(3, 9, dtype=torch.bool)
    evidence[0, 2:4] = evidence[1, 5] = evidence[2, 1:7] = True
    audited(hooked(Recurrent(packed=True)), texts([9, 9, 9], evidence=evidence), audits=[name])
    assert any(padded) == declaration_of(AUDITS[name]).shortens_texts


# Not rejected


class Rounding:
    """A glass model whose logits depend a little on the number of texts, and on their padding."""

    def __init__(self, of_size: float, of_padding: float) -> None:
        self.inner, self.of_size, self.of_padding = Glass("oracle"), of_size, of_padding

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        record = self.inner.read(batch, embeddings)
        padding = (~batch.mask).any(-1, keepdim=True)
        error = self.of_size * len(batch) + self.of_padding * padding
        return replace(record, logits=record.logits + error * torch.tensor([1.0, -1.0]))

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        return self.inner.decode(record, alpha)


def test_rounding_coarser_than_the_type_is_measured() -> None:
    batch = glass_batch(4)
    audited(Rounding(4e-4, 1e-3), batch)
    assert "padding" in error_of(Rounding(0.0, 1e-3), batch)
    assert "padding" in error_of(Rounding(1e-2, 3e-2), batch)  # not rounding


def test_rounding_of_a_deep_model_is_no_effect_of_padding() -> None:
    """More than the laws allow, and less than any number that an audit states."""
    audited(Rounding(0.0, 1e-4), glass_batch(4))


class NanInPadding(Rounding):
    """NaN where nothing can be attended, as a softmax over an empty row gives."""

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        record = self.inner.read(batch, embeddings)
        return replace(record, alpha=record.alpha.masked_fill(~record.mask, math.nan))


def test_nan_outside_the_mask_is_no_effect_of_padding() -> None:
    audited(NanInPadding(0.0, 0.0), glass_batch(4), audits=["dispersion"])


def test_an_empty_text_is_not_chosen() -> None:
    batch = glass_batch(8)
    mask = batch.mask.clone()
    mask[0] = False
    batch = replace(batch, mask=mask)
    length = mask.sum(-1)
    shortest = batch.example_id[int(length.masked_fill(length == 0, 99).argmin())]
    assert f"the padding of {shortest} is cut off" in error_of(Rounding(0.0, 1e-2), batch)
    audited(Glass("oracle"), batch)


class OneLength(Rounding):
    """Reads texts of one length only."""

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        if batch.tokens.shape[1] != 14:
            raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")
        return self.inner.read(batch, embeddings)


def test_a_model_of_one_length_is_left_to_the_audits() -> None:
    batch = glass_batch(6)
    assert batch.tokens.shape[1] == 14
    audited(OneLength(0.0, 0.0), batch)


def test_nan_in_a_later_batch_is_still_reported_as_nan() -> None:
    class Nan(Rounding):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            record = self.inner.read(batch, embeddings)
            spoilt = torch.tensor(["nan" in name for name in batch.example_id])
            return replace(record, logits=record.logits.masked_fill(spoilt[:, None], math.nan))

    whole = glass_batch(4)
    equal = whole.rows(whole.mask.all(-1).nonzero()[:1, 0])
    later = replace(whole, example_id=tuple(f"nan {at}" for at in range(4)))
    assert "NaN or infinite logits" in error_of(Nan(0.0, 0.0), [equal, later])


def test_nothing_is_changed_for_a_correct_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same numbers, mode and gradients, at the cost of three short readings."""
    model: Any = hooked(Recurrent(packed=True))
    net = model.inner.model
    checked = audited(model, texts(LENGTHS), audits=None, measures=None)
    assert net.training
    assert all(parameter.grad is None for parameter in net.parameters())
    read: list[tuple[int, ...]] = []
    plain = Hooked.read

    def counted(self: Hooked, batch: Batch, *rest: Any) -> Record:
        read.append(tuple(batch.tokens.shape))
        return plain(self, batch, *rest)

    monkeypatch.setattr(Hooked, "read", counted)
    check_padding(Battery(model, AUDITS, {}), [texts(LENGTHS)])
    assert read == [(3, 7), (2, 2), (2, 5)]
    monkeypatch.setattr("attnaudit.auditing.audit.check_padding", lambda *_: None)
    unchecked = audited(hooked(Recurrent(packed=True)), texts(LENGTHS), audits=None, measures=None)
    pd.testing.assert_frame_equal(checked.frame(), unchecked.frame(), check_exact=True)
