"""Deletions scored while they pass through the text: when, and in how many parts."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from attnaudit.core import memory_budget
from attnaudit.core.item_deletion import leave_out_by_reading
from attnaudit.models import incremental_deletion
from attnaudit.models.outputs.linear import Linear
from attnaudit.models.passing_deletion import half_terms, logits_while_passing
from attnaudit.models.scorers.additive import Additive
from deleted_texts import assert_same, made, read, texts


@pytest.fixture
def passed(monkeypatch: pytest.MonkeyPatch) -> list[Tensor]:
    """What is kept in each call of `logits_while_passing`, (K,B,N)."""
    calls: list[Tensor] = []

    def watched(terms, passing, projection, kept):
        calls.append(kept)
        return logits_while_passing(terms, passing, projection, kept)

    monkeypatch.setattr(incremental_deletion, "logits_while_passing", watched)
    return calls


@pytest.mark.parametrize(
    ("encoder", "scorer", "with_query", "output", "expected"),
    [
        ("bilstm:hidden=5", "additive", False, "linear", True),
        ("bilstm:hidden=5", "additive", True, "linear_query", True),
        ("bigru:hidden=5", "deep", True, "linear", True),
        ("bigru:hidden=5", "dot", False, "linear", True),
        ("bigru:hidden=5", "bilinear", False, "linear", True),
        ("bilstm:hidden=5", "dot", True, "linear", False),  # a vector of each text
        ("bilstm:hidden=5", "additive", False, "tanh", False),  # logits are not linear
        ("cnn:filters=4", "additive", False, "linear", False),  # a state changes as a whole
    ],
)
@torch.no_grad()
def test_states_are_passed_where_scores_and_logits_are_sums_over_halves(
    encoder: str,
    scorer: str,
    with_query: bool,
    output: str,
    expected: bool,
    passed: list[Tensor],
) -> None:
    model = made(encoder, scorer=scorer, with_query=with_query, output=output)
    record = read(model, texts(with_query))
    assert_same(model.leave_out(record), leave_out_by_reading(model, record))
    assert bool(passed) == expected


@pytest.mark.parametrize("numbers", [2**22, 20_000, 1])
@torch.no_grad()
def test_the_result_does_not_depend_on_how_many_are_held(
    numbers: int, passed: list[Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = made("bilstm:hidden=5")
    record = read(model, texts(False, (40, 38, 20, 39)))
    plain = leave_out_by_reading(model, record)
    passed.clear()
    monkeypatch.setattr(memory_budget, "NUMBERS_AT_ONCE", numbers)
    assert_same(model.leave_out(record), plain)
    held = [(len(kept), kept.numel() * (1 + record.logits.shape[1])) for kept in passed]
    assert all(count == 1 or size <= numbers for count, size in held)
    assert sum(count for count, _ in held) == 40 + 20  # of the two groups by length


@torch.no_grad()
def test_halves_add_up_to_the_scores_and_readouts_of_the_text() -> None:
    model = made("bilstm:hidden=5", scorer="additive", with_query=True, output="linear_query")
    record = read(model, texts(True))
    state = record.state
    assert record.hidden is not None
    assert record.readout is not None
    terms = half_terms(model.scorer, model.output, record.hidden, state.query)
    assert terms is not None
    inner = len(terms.scoring.weight)
    for half, other, weight in zip(
        record.hidden.chunk(2, -1), terms.others, terms.weights, strict=True
    ):
        values = other.transpose(0, 1) + half @ weight.t()
        torch.testing.assert_close(values[..., inner:], record.readout)
        scores = terms.scoring.score(values[..., :inner].flatten(0, 1)).view_as(state.scores)
        torch.testing.assert_close(scores, state.scores)


class _Sharper(Additive):
    """A scorer of a user, who overrides `forward` alone."""

    def forward(self, hidden: Tensor, query: Tensor | None) -> Tensor:
        return 3 * super().forward(hidden, query) + hidden[..., 0]


class _Reversed(Linear):
    """The same for an output."""

    def forward(self, context: Tensor, query: Tensor | None) -> Tensor:
        return -2 * super().forward(context, query)


@pytest.mark.parametrize(("part", "kind"), [("scorer", _Sharper), ("output", _Reversed)])
@pytest.mark.parametrize("encoder", ["bilstm:hidden=5", "cnn:filters=4"])
@torch.no_grad()
def test_a_part_that_overrides_forward_alone_is_read_by_it(
    part: str, kind: type, encoder: str, passed: list[Tensor]
) -> None:
    model = made(encoder)
    getattr(model, part).__class__ = kind
    record = read(model, texts(False))
    assert_same(model.leave_out(record), leave_out_by_reading(model, record))
    assert not passed
