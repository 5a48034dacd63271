"""Leaving out a hidden state, against states deleted by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from attnaudit.core import masking, memory_budget
from attnaudit.measures.hidden_leave_one_out import hidden_leave_one_out
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.models.imposed import Imposed, uniform
from gradient_cases import (
    TEXTS,
    batch_of,
    case,
    made,
    same,
)
from random_models import CANDIDATES

PROJECTIONS = ("softmax", "sparsemax", "entmax", "sparsegen:lam=-1", "uniform", "gumbel_softmax")


def shares_of(change: np.ndarray) -> np.ndarray:
    total = np.nansum(change)
    return change / total if total > 0 else np.full_like(change, np.nan)


@pytest.mark.parametrize("projection", PROJECTIONS)
@torch.no_grad()
def test_attention_is_projected_again_over_the_states_left(projection: str) -> None:
    """With one state deleted, the rest is scored, projected and decoded by the model's parts."""
    model = made(4, True, projection=projection)
    model.scorer.score.weight *= 3
    record = model.read(batch_of(query=True, candidates=True))
    found = hidden_leave_one_out(model, record, 0)
    scaled = hidden_leave_one_out(model, record, 0, renormalise=True)
    for index, text in enumerate(TEXTS):
        query = record.state.query[index : index + 1]
        places = list(range(1, len(text) + 1))
        change, other = np.full((2, found.shape[1]), np.nan)
        for place in places if len(text) > 1 else []:
            left = [each for each in places if each != place]
            hidden = record.hidden[index : index + 1, left]
            alpha = model.projection(
                model.scorer(hidden, query), torch.ones(1, len(left), dtype=torch.bool)
            )
            rest = record.alpha[index, 0, left] / record.alpha[index, 0, left].sum()
            for weights, into in ((alpha[0], change), (rest, other)):
                logits = model.output(weights @ hidden[0], query)
                p, q = (
                    (x.exp() * CANDIDATES[index] / (x.exp() * CANDIDATES[index]).sum()).numpy()
                    for x in (logits[0], record.logits[index])
                )
                into[place] = abs(p - q).sum() / 2
        same(found[index], shares_of(change), 1e-10)
        same(scaled[index], shares_of(other), 1e-10)
    difference = (found - scaled)[record.content].nan_to_num().abs().max()
    assert (difference < 1e-10) == (projection in ("softmax", "uniform", "gumbel_softmax"))


@torch.no_grad()
def test_working_in_parts_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Glass("oracle", dtype=torch.float64)
    record = model.read(glass_batch(5))
    whole = hidden_leave_one_out(model, record, 0)
    assert (whole > 0).any()
    monkeypatch.setattr(memory_budget, "NUMBERS_AT_ONCE", 3 * record.alpha.numel())
    torch.testing.assert_close(
        hidden_leave_one_out(model, record, 0), whole, rtol=0, atol=1e-14, equal_nan=True
    )


@torch.no_grad()
def test_leaving_out_the_only_attended_state_is_nan() -> None:
    model = made(2, False, projection="sparsemax")
    model.scorer.score.weight *= 1e4
    record = model.read(batch_of())
    top = record.alpha[:, 0] == 1
    assert top.any(-1).all()
    scaled = hidden_leave_one_out(model, record, 0, renormalise=True)
    assert scaled[top].isnan().all()
    projected_again = hidden_leave_one_out(model, record, 0)
    for index, text in enumerate(TEXTS):
        if len(text) > 1:
            assert projected_again[index][top[index]] == 1  # all that matters
            assert (projected_again[index][record.content[index] & ~top[index]] == 0).all()
    assert projected_again[3].isnan().all()  # a single word


@pytest.mark.parametrize("name", ["sentences", "words", "pairs"])
@torch.no_grad()
def test_several_rows_and_levels(name: str) -> None:
    """Softmax: removing is renormalising, so each row can be rescaled by hand and decoded alone."""
    model, record = case(name)
    assert hasattr(model, "attention_without") == (name != "pairs")
    expected = np.full(record.content.shape, np.nan)
    for index, item in record.content.nonzero().tolist():
        alpha = record.alpha.clone()
        row = alpha[index, :, item] > 0
        alpha[index, :, item] = 0
        total = alpha[index].sum(-1)
        if (total[row] == 0).any():
            continue  # a sentence of one word: nothing left of it
        alpha[index, row] = alpha[index, row] / total[row, None]
        p, q = (x.softmax(-1)[index] for x in (model.decode(record, alpha), record.logits))
        expected[index, item] = (p - q).abs().sum() / 2
    expected = np.stack([shares_of(each) for each in expected])
    same(hidden_leave_one_out(model, record, 0), expected, 1e-10)
    same(hidden_leave_one_out(model, record, 0, renormalise=True), expected, 1e-10)
    assert np.isfinite(expected).sum() > 3


@pytest.mark.parametrize("site", ["sentence", "word"])
@torch.no_grad()
def test_both_levels_of_the_hierarchical_model_project_again(site: str) -> None:
    choices = {
        "model": f"hierarchical:site={site}",
        "encoder": "bigru:hidden=3",
        "projection": "sparsemax",
    }
    model = made(2, False, **choices)
    record = model.read(batch_of())
    nothing = torch.zeros(len(TEXTS), 1, record.content.shape[1], dtype=torch.bool)
    same(model.attention_without(record, nothing)[:, 0], record.alpha, 1e-12)
    drop = nothing.clone()
    drop[:, 0, 1] = True
    alpha = model.attention_without(record, drop)
    assert (alpha[..., 1] == 0).all()
    left = (record.mask & ~drop).any(-1)
    same(alpha[:, 0].sum(-1), left.double(), 1e-12)
    scaled = masking.renormalise(record.alpha, record.mask & ~drop)
    assert (alpha[:, 0] - scaled).nan_to_num().abs().max() > 1e-3


@torch.no_grad()
def test_imposed_attention_is_renormalised() -> None:
    model = Imposed(made(2, False), uniform)
    record = model.read(batch_of())
    same(
        hidden_leave_one_out(model, record, 0),
        hidden_leave_one_out(model, record, 0, renormalise=True),
        1e-15,
    )
    own = hidden_leave_one_out(model.inner, record, 0)
    assert (own - hidden_leave_one_out(model, record, 0)).nan_to_num().abs().max() > 1e-3
