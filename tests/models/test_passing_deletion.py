"""Deletions scored while they pass through the text: when, and in how many parts."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from attnaudit.core import memory_budget
from attnaudit.core.item_deletion import leave_out_by_reading
from attnaudit.models import incremental_deletion
from attnaudit.models.outputs.linear import Linear
from attnaudit.models.passing_deletion import half_terms, logits_on_their_way
from attnaudit.models.scorers.additive import Additive
from attnaudit.models.site_parts import SiteParts
from deleted_texts import assert_same, made, read, texts


@pytest.fixture
def passed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, int]]:
    """(texts, width, deletions) of each call of `logits_on_their_way`."""
    calls: list[tuple[int, int, int]] = []

    def watched(site, texts, items):
        calls.append((*site.content.shape, len(texts)))
        return logits_on_their_way(site, texts, items)

    monkeypatch.setattr(incremental_deletion, "logits_on_their_way", watched)
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
    passed: list[tuple[int, int, int]],
) -> None:
    model = made(encoder, scorer=scorer, with_query=with_query, output=output)
    record = read(model, texts(with_query))
    assert_same(model.leave_out(record), leave_out_by_reading(model, record))
    assert bool(passed) == expected


@pytest.mark.parametrize("numbers", [2**22, 20_000, 1])
@torch.no_grad()
def test_the_result_does_not_depend_on_how_many_are_held(
    numbers: int, passed: list[tuple[int, int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = made("bilstm:hidden=5")
    record = read(model, texts(False, (40, 38, 20, 39)))
    plain = leave_out_by_reading(model, record)
    passed.clear()
    monkeypatch.setattr(memory_budget, "NUMBERS_AT_ONCE", numbers)
    assert_same(model.leave_out(record), plain)
    held = [texts * width**2 * (1 + record.logits.shape[1]) for texts, width, _ in passed]
    assert all(
        texts == 1 or size <= numbers for (texts, *_), size in zip(passed, held, strict=True)
    )
    assert sum(deletions for *_, deletions in passed) == 40 + 38 + 20 + 39


@torch.no_grad()
def test_only_the_items_wanted_are_deleted(passed: list[tuple[int, int, int]]) -> None:
    model = made("bigru:hidden=5")
    record = read(model, texts(False, (12, 3, 30)))
    wanted = torch.zeros_like(record.content)
    for text, item in ((0, 4), (0, 9), (2, 1), (2, 30)):
        wanted[text, item] = True
    found = model.leave_out_some(record, wanted)
    assert sum(deletions for *_, deletions in passed) == 4
    plain = leave_out_by_reading(model, record).masked_fill(~wanted[..., None], torch.nan)
    assert_same(found, plain)


@torch.no_grad()
def test_halves_add_up_to_the_scores_and_readouts_of_the_text() -> None:
    model = made("bilstm:hidden=5", scorer="additive", with_query=True, output="linear_query")
    record = read(model, texts(True))
    state = record.state
    assert record.hidden is not None
    assert record.readout is not None
    site = model._shared_site(record, record.content)
    assert isinstance(site, SiteParts)
    terms = half_terms(site)
    inner = len(terms.scoring.weight)
    for half, other, weight in zip(
        record.hidden.chunk(2, -1), terms.unchanged(record.hidden), terms.weights, strict=True
    ):
        values = other + half @ weight.t()
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
    part: str, kind: type, encoder: str, passed: list[tuple[int, int, int]]
) -> None:
    model = made(encoder)
    getattr(model, part).__class__ = kind
    record = read(model, texts(False))
    assert_same(model.leave_out(record), leave_out_by_reading(model, record))
    assert not passed
