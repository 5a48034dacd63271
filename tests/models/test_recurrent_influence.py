"""The influence of words on recurrent states, against one backward pass per state."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from attnaudit.measures.influence import influence, influence_by_gradients, influence_matrix
from attnaudit.models.encoders import recurrent_influence
from attnaudit.models.readout import with_readout
from deleted_texts import made, read, texts

TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5}
KINDS = pytest.mark.parametrize("kind", ["bilstm:hidden=5", "bigru:hidden=4"])
FORMS = pytest.mark.parametrize(
    ("norm", "per_facet"), [(2, False), (1, False), (2, True), (1, True)]
)


@KINDS
@FORMS
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(
    "lengths", [(17, 1, 2, 3, 0, 7, 12, 17, 5), (6,), (0,), (3, 3), (0, 2)], ids=str
)
def test_influence_equals_one_backward_pass_per_state(
    kind: str, norm: int, per_facet: bool, dtype: torch.dtype, lengths: tuple[int, ...]
) -> None:
    model = made(kind, dtype)
    record = read(model, texts(False, lengths))
    found = model.state_influence(record, norm=norm, per_facet=per_facet)
    plain = influence_by_gradients(model, record, norm, per_facet)
    # Of the start and end tokens, too, which are no items: the plain way leaves these words out.
    items = record.content[:, None].expand_as(plain)
    torch.testing.assert_close(found[items], plain[items], rtol=0, atol=TOLERANCE[dtype])
    real = record.batch.mask
    assert not found[~(real[:, :, None] & real[:, None])].any()
    assert not found.requires_grad


@KINDS
@pytest.mark.parametrize("per_facet", [False, True])
@pytest.mark.parametrize("at_once", [1, 7, 30])
def test_the_number_of_gradients_at_once_is_bounded_and_does_not_matter(
    kind: str, per_facet: bool, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = made(kind)
    record = read(model, texts(False))
    usual = model.state_influence(record, norm=2, per_facet=per_facet)
    monkeypatch.setattr(recurrent_influence, "_AT_ONCE", at_once)
    sweep, rows = recurrent_influence._sweep, []

    def watched(cell: object, weights: object, factors: Tensor, start: Tensor, *rest: object):
        rows.append(start[..., 0].numel())
        return sweep(cell, weights, factors, start, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(recurrent_influence, "_sweep", watched)
    found = model.state_influence(record, norm=2, per_facet=per_facet)
    torch.testing.assert_close(found, usual, rtol=0, atol=1e-12)
    size = model.encoder.size // 2 if per_facet else 1
    assert len(rows) > 2
    assert max(rows) <= max(at_once, size)


def test_the_measure_uses_it_and_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = made("bilstm:hidden=5")
    record = read(model, texts(False))
    shares = influence_matrix(model, record)
    wrapped = with_readout(model)
    monkeypatch.setattr(type(model), "read", None)
    for each in (model, wrapped):
        assert torch.equal(influence_matrix(each, record).nan_to_num(), shares.nan_to_num())
        assert influence(each, record, 0).shape == record.alpha.shape


def test_other_encoders_have_none_and_are_differentiated_state_by_state() -> None:
    model = made("cnn:filters=4")
    record = read(model, texts(False, (5, 3)))
    assert model.state_influence(record, norm=2, per_facet=False) is None
    assert influence_matrix(model, record)[record.content].nansum() > 0


def test_a_state_of_length_0_is_influenced_by_no_word() -> None:
    model = made("bilstm:hidden=3")
    with torch.no_grad():
        for parameter in model.encoder.parameters():
            parameter.zero_()
    record = read(model, texts(False, (4, 2)))
    assert not model.state_influence(record, norm=2, per_facet=False).any()
    assert influence_matrix(model, record).isnan().all()
    plain = influence_by_gradients(model, record, 2, False)
    assert not plain.any()
