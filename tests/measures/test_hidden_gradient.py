"""Gradients in hidden states against finite differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from attnaudit.core.contract import Batch, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.measures.attention_norm import attention_norm
from attnaudit.measures.hidden_gradient import hidden_gradient
from attnaudit.measures.influence import influence
from gradient_cases import (
    case,
    chosen,
    every_case,
    from_hidden,
    same,
    slopes,
)


@every_case
@pytest.mark.parametrize("norm", [1, 2])
@torch.no_grad()
def test_hidden_gradient_includes_the_change_of_attention(name: str, norm: int) -> None:
    model, record = case(name)
    logits = from_hidden(name, model, record)
    same(logits(record.hidden), record.logits, 1e-12)  # type: ignore[arg-type]
    slope = slopes(lambda hidden: chosen(logits(hidden), record), record.hidden)  # type: ignore[arg-type]
    expected = np.linalg.norm(slope.numpy(), norm, axis=-1)
    expected[~record.content.numpy()] = np.nan
    expected /= np.nansum(expected, 1, keepdims=True)
    found = hidden_gradient(model, record, 0, norm=norm)
    same(found, expected)
    if record.readout is not None and norm == 2:  # held, the shares would be the attention itself
        assert (found - record.alpha[:, 0])[record.content].abs().max() > 1e-2


def test_hidden_gradient_gives_the_reason_if_it_does_not_apply() -> None:
    model, record = case("bilstm")

    class Changed:
        def __init__(self, change: Callable[[Record], Record]) -> None:
            self.change = change

        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            return self.change(model.read(batch, embeddings))

    def copied(found: Record) -> Record:
        return replace(found, hidden=found.hidden * 1)  # type: ignore[operator]

    cases: dict[str, Callable[[Record], Record]] = {
        "records no hidden states": lambda found: replace(found, hidden=None),
        "do not depend on the embeddings": lambda found: replace(
            found, hidden=found.hidden.detach()
        ),  # type: ignore[union-attr]
        "attention is not computed from the hidden": copied,
        "prediction is not computed from the hidden": lambda found: replace(
            copied(found), alpha=found.alpha.detach()
        ),
    }
    for text, change in cases.items():
        with pytest.raises(NotApplicable, match=text):
            hidden_gradient(Changed(change), record, 0)  # type: ignore[arg-type]
    for text in list(cases)[:2]:
        with pytest.raises(NotApplicable, match=text):
            influence(Changed(cases[text]), record, 0)  # type: ignore[arg-type]
    with pytest.raises(NotApplicable, match="records no hidden states"):
        attention_norm(model, replace(record, hidden=None), 0)
