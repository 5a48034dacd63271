"""Scores that are equal up to rounding rank as equal; small weights keep their order."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from attnaudit import audit
from attnaudit.core.contract import Batch, Record
from attnaudit.measures import MEASURES
from attnaudit.measures.rounding import (
    of_each_score,
    of_largest_score,
    rounding_error,
    tie_equal_scores,
)
from attnaudit.measures.value_zeroing import of_angles
from attnaudit.models import Architecture, build
from attnaudit.models.glass import Glass, glass_batch


class Sharp:
    """Attention is a softmax of fixed scores, as sharp as you like."""

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        scores = torch.sin(batch.tokens.float() * 1.7)
        alpha = (self.scale * scores).softmax(-1)[:, None]
        hidden = scores[..., None].repeat(1, 1, 2) if embeddings is None else embeddings
        place = torch.arange(batch.tokens.shape[1]).expand_as(batch.tokens)
        mask = torch.ones_like(batch.tokens, dtype=torch.bool)
        return Record(
            batch, hidden, hidden, alpha, mask[:, None], mask, place, (alpha @ hidden)[:, 0]
        )

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        hidden = record.hidden if alpha.dim() == 3 else record.hidden[:, None]  # type: ignore[index]
        return (alpha @ hidden).squeeze(-2)


@pytest.mark.parametrize("scale", [3, 12, 25])
def test_small_weights_keep_their_order_however_sharp_the_attention(scale: float) -> None:
    def own(model: Any, record: Record, seed: int) -> Tensor:
        return torch.sin(record.batch.tokens.float() * 1.7)

    tokens = torch.stack(
        [
            torch.randperm(60, generator=torch.Generator().manual_seed(index))[:20]
            for index in range(9)
        ]
    )
    batch = Batch(tuple(map(str, range(9))), tokens, torch.ones_like(tokens, dtype=torch.bool))
    results = audit(Sharp(scale), batch, audits=["agreement"], measures=[own], show_progress=False)
    assert results.mean("agreement", "tau", "own") == pytest.approx(1.0)


def test_equal_words_tie_whatever_the_batch() -> None:
    """Without context a repeated word has the same importance, however a batch rounds it."""
    model = build(
        Architecture(encoder="average:hidden=16", embedding=16),
        words=12,
        classes=2,
        with_query=False,
    )
    draw = torch.Generator().manual_seed(3)
    tokens = torch.randint(4, 12, (30, 14), generator=draw)
    batch = Batch(tuple(map(str, range(30))), tokens, torch.ones_like(tokens, dtype=torch.bool))
    together = audit(model, batch, audits=["agreement"], show_progress=False).frame()
    alone = [batch.rows(torch.tensor([index])) for index in range(30)]
    apart = audit(model, alone, audits=["agreement"], show_progress=False).frame()
    taus = [frame[frame["metric"] == "tau"]["value"].to_numpy() for frame in (together, apart)]
    np.testing.assert_allclose(*taus, atol=1e-9)


# Made of attention weights alone. Once a list known to the loop that runs measures; now declared.
OF_WEIGHTS = {"attention", "attention_norm", "head_mean", "rollout"}


def test_measures_made_of_attention_weights_declare_the_rounding_error_of_each_score() -> None:
    declared = {
        name: getattr(measure, "rounding_error", of_largest_score)
        for name, measure in MEASURES.items()
    }
    assert {name for name, error in declared.items() if error is of_each_score} == OF_WEIGHTS
    assert {name for name, error in declared.items() if error is of_largest_score} == (
        set(MEASURES) - OF_WEIGHTS - {"value_zeroing"}
    )
    assert declared["value_zeroing"] is of_angles


def test_a_declared_rounding_error_decides_what_ties_also_with_bound_options() -> None:
    record = Glass("oracle", dtype=torch.float64).read(glass_batch(1))
    scores = torch.zeros_like(record.alpha)
    scores[..., :3] = torch.tensor([1.0, 1e-16, 2e-16], dtype=torch.float64)

    def plain(model, record, seed, *, option=1): ...

    @rounding_error(of_each_score)
    def declared(model, record, seed, *, option=1): ...

    tied = tie_equal_scores(partial(plain, option=2), scores, record)[0, 0]
    apart = tie_equal_scores(partial(declared, option=2), scores, record)[0, 0]
    assert tied[1] == tied[2]
    assert apart[1] < apart[2] < apart[0]
