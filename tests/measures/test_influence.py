"""Influence of words on hidden states, against Jacobians."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import kendalltau
from torch import Tensor, nn

import deleted_texts
from attnaudit.core.contract import Batch, Record
from attnaudit.measures.influence import influence, influence_matrix
from gradient_cases import (
    TEXTS,
    batch_of,
    case,
    every_case,
    made,
    same,
)

influences = import_module("attnaudit.measures.influence")  # the package exports the function


@cache
def jacobian(name: str) -> Tensor:
    """∂h/∂X of each text (B,N,H,T,E)."""
    model, record = case(name)
    found = []
    for index in range(len(TEXTS)):
        only = record.batch.rows(torch.tensor([index]))

        def states(x: Tensor, only: Batch = only) -> Tensor:
            hidden = model.read(only, x).hidden[0]
            short = record.content.shape[1] - len(hidden)
            return nn.functional.pad(hidden, (0, 0, 0, short))

        each = torch.autograd.functional.jacobian(states, record.embeddings[index : index + 1])
        found.append(each[:, :, 0])
    return torch.stack(found)


@every_case
@pytest.mark.parametrize(("norm", "per_facet"), [(2, False), (1, False), (2, True), (1, True)])
def test_influence_equals_that_of_the_jacobian(name: str, norm: int, per_facet: bool) -> None:
    model, record = case(name)
    full, hidden = jacobian(name).numpy(), record.hidden.numpy()  # type: ignore[union-attr]
    expected = np.full((*record.content.shape, record.content.shape[1]), np.nan)
    for index in range(len(TEXTS)):
        real = record.content[index].nonzero()[:, 0].tolist()
        for p in real:
            for i in real:
                block = full[index, p][:, record.item_of_token[index] == i].reshape(
                    hidden.shape[2], -1
                )
                if per_facet:
                    expected[index, p, i] = math.sqrt(
                        (np.linalg.norm(block, norm, axis=1) ** 2).sum()
                    )
                else:
                    direction = hidden[index, p] / np.linalg.norm(hidden[index, p])
                    expected[index, p, i] = np.linalg.norm(direction @ block, norm)
            expected[index, p] /= np.nansum(expected[index, p])
    found = influence_matrix(model, record, norm=norm, per_facet=per_facet)
    same(found, expected, 1e-10)
    traced = influence(model, record, 0, norm=norm, per_facet=per_facet)
    for index, row, item in record.mask.nonzero().tolist():
        states = np.flatnonzero(record.content[index])
        plain = sum(float(record.alpha[index, row, p]) * expected[index, p, item] for p in states)
        assert float(traced[index, row, item]) == pytest.approx(plain, abs=1e-12)
    assert traced[~record.content[:, None].expand_as(traced)].isnan().all()


def test_without_an_encoder_each_state_is_made_of_its_own_word() -> None:
    model = made(2, False, encoder="mlp:hidden=4,activation=tanh")
    with torch.no_grad():
        record = model.read(batch_of())
    for per_facet in (False, True):
        found = influence_matrix(model, record, per_facet=per_facet)
        own = torch.eye(found.shape[1], dtype=torch.float64).expand_as(found)
        same(
            found[record.content],
            own.where(record.content[:, None], torch.nan)[record.content],
            1e-12,
        )
    same(
        influence(model, record, 0)[:, 0][record.content], record.alpha[:, 0][record.content], 1e-12
    )


def test_a_state_that_depends_on_no_word_is_nan() -> None:
    model = made(2, False, encoder="mlp:hidden=4", projection="sparsemax")
    with torch.no_grad():
        model.encoder.network[0].bias[:] = 0
        model.embedding.weight[5] = 0  # relu(0): the state is 0 and stays
        record = model.read(batch_of())
        dead = (record.batch.tokens == 5) & record.content
    rows = influence_matrix(model, record)
    assert rows[dead].isnan().all()
    traced = influence(model, record, 0)[:, 0]
    weighed = (record.alpha[:, 0] * dead).sum(-1) > 0
    assert weighed.any()
    assert not weighed.all()
    for index in range(len(TEXTS)):
        assert bool(traced[index][record.content[index]].isnan().any()) == bool(weighed[index])


def test_both_forms_of_influence_rank_words_similarly() -> None:
    """Appendix A: "nearly identical". On untrained models the mean tau is far above 0."""
    for name in ("bilstm", "transformer", "sentences"):
        model, record = case(name)
        length, facet = (influence_matrix(model, record, per_facet=each) for each in (False, True))
        taus = [
            kendalltau(
                length[index, p][record.content[index]], facet[index, p][record.content[index]]
            ).statistic
            for index, p in record.content.nonzero().tolist()
            if record.length[index] > 3
        ]
        assert np.mean(taus or [1.0]) > 0.5, (name, np.mean(taus))


@pytest.mark.parametrize("encoder", ["cnn:filters=4", "transformer:hidden=4,layers=1"])
@pytest.mark.parametrize("with_query", [False, True])
@pytest.mark.parametrize("per_facet", [False, True])
def test_texts_of_similar_length_are_differentiated_together(
    encoder: str, with_query: bool, per_facet: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = deleted_texts.made(encoder, with_query=with_query)
    record = deleted_texts.read(model, deleted_texts.texts(with_query, (30, 1, 2, 3, 0, 7, 9)))
    shapes, by_state = [], influences._by_state

    def watched(model: Any, part: Record, *rest: Any) -> Tensor:
        shapes.append(tuple(part.batch.tokens.shape))
        return by_state(model, part, *rest)

    monkeypatch.setattr(influences, "_by_state", watched)
    found = influence_matrix(model, record, per_facet=per_facet)
    assert shapes == [(2, 3), (2, 5), (2, 11), (1, 32)]  # with the marks around the words
    monkeypatch.setattr(influences, "_of_similar_length", lambda *_: [None])
    same(found, influence_matrix(model, record, per_facet=per_facet).numpy(), 1e-12)
    assert shapes[4:] == [(7, 32)]


def test_batches_with_little_padding_or_padding_on_the_left_are_not_parted() -> None:
    model = deleted_texts.made("cnn:filters=4")
    for lengths in ((5, 3, 4), (30, 1, 2)):
        record = deleted_texts.read(model, deleted_texts.texts(False, lengths))
        batch = record.batch
        parts = influences._of_similar_length(batch, record.embeddings)
        assert len(parts) == (1 if lengths == (5, 3, 4) else 3)
        mirrored = replace(batch, mask=batch.mask.flip(-1), tokens=batch.tokens.flip(-1))
        assert len(influences._of_similar_length(mirrored, record.embeddings)) == 1
        assert len(influences._of_similar_length(batch, record.embeddings[:, 1:])) == 1
