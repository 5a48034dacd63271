"""Deletions scored while they pass through the text: when, and in how many parts."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn

from attnaudit.core import memory_budget
from attnaudit.core.contract import Batch
from attnaudit.core.item_deletion import leave_out_by_reading
from attnaudit.models import incremental_deletion, passing_deletion
from attnaudit.models.encoders import deletion_protocol
from attnaudit.models.outputs.linear import Linear
from attnaudit.models.passing_deletion import logits_on_their_way
from attnaudit.models.scorers.additive import Additive
from deleted_texts import assert_same, made, read, texts


@pytest.fixture
def passed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, int]]:
    """(texts, width, deletions) of each call of `logits_on_their_way`."""
    calls: list[tuple[int, int, int]] = []

    def watched(site, texts, items):
        found = logits_on_their_way(site, texts, items)
        if found is not None:
            calls.append((*site.content.shape, len(texts)))
        return found

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


@pytest.mark.parametrize("numbers", [2**22, 1000])
@torch.no_grad()
def test_the_deletions_of_one_text_are_split_too(
    numbers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = made("bigru:hidden=5")
    record = read(model, texts(False, (38,)))
    plain = leave_out_by_reading(model, record)
    monkeypatch.setattr(memory_budget, "NUMBERS_AT_ONCE", numbers)
    held: list[int] = []
    part = passing_deletion._passed

    def watched(site, terms, unchanged, ways, texts, items):
        held.append(len(texts) * site.content.shape[1] * (1 + record.logits.shape[1]))
        return part(site, terms, unchanged, ways, texts, items)

    monkeypatch.setattr(passing_deletion, "_passed", watched)
    assert_same(model.leave_out(record), plain)
    assert all(size <= numbers for size in held)
    assert sum(held) == 38 * 40 * 4


@torch.no_grad()
def test_a_readout_of_every_state_is_not_computed_for_many_classes(
    passed: list[tuple[int, int, int]],
) -> None:
    model = made("bilstm:hidden=5", classes=40)
    record = read(model, texts(False, (7, 12)))
    assert_same(model.leave_out(record), leave_out_by_reading(model, record))
    assert not passed


@torch.no_grad()
def test_a_long_text_leaves_the_others_of_its_batch_where_they_are(
    passed: list[tuple[int, int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletion_protocol, "LONG_TEXT", 30)
    model = made("bilstm:hidden=5")
    record = read(model, texts(False, (40, 7, 12)))
    assert_same(model.leave_out(record), leave_out_by_reading(model, record))
    assert sum(deletions for *_, deletions in passed) == 7 + 12


class _Doubled(nn.Linear):
    """A layer of a user, such as one with an adapter."""

    def forward(self, values: Tensor) -> Tensor:
        return 2 * super().forward(values)


def _replace(model: nn.Module, name: str, change: str) -> None:
    layer = model.get_submodule(name)
    parent, _, last = name.rpartition(".")
    if change == "hook":
        layer.register_forward_hook(lambda module, given, found: 2 * found)
    elif change == "adapter":
        layer.__class__ = _Doubled
    elif change == "no bias":
        layer.bias = None
    else:
        setattr(model.get_submodule(parent), last, nn.Sequential(layer, nn.Softsign()))


@pytest.mark.parametrize(
    ("scorer", "name", "change"),
    [
        ("additive", "output.context", "hook"),
        ("additive", "output", "hook"),
        ("additive", "scorer.item", "hook"),
        ("additive", "scorer", "hook"),
        ("dot", "scorer", "hook"),
        ("bilinear", "scorer", "hook"),
        ("deep", "scorer", "hook"),
        ("additive", "output.context", "adapter"),
        ("additive", "scorer.item", "adapter"),
        ("deep", "scorer.item", "adapter"),
        ("additive", "output.context", "no bias"),
        ("additive", "scorer.item", "no bias"),
        ("additive", "output.context", "sequence"),
        ("deep", "scorer.item", "sequence"),
    ],
)
@torch.no_grad()
def test_layers_that_were_hooked_or_replaced_are_read_as_they_are(
    scorer: str, name: str, change: str
) -> None:
    model = made("bilstm:hidden=5", scorer=scorer)
    _replace(model, name, change)
    record = read(model, texts(False))
    assert_same(model.leave_out(record), leave_out_by_reading(model, record))


@torch.no_grad()
def test_an_empty_batch_has_nothing_to_leave_out() -> None:
    model = made("bilstm:hidden=5")
    empty = Batch((), torch.zeros(0, 3, dtype=torch.int64), torch.zeros(0, 3, dtype=torch.bool))
    assert model.leave_out(read(model, empty)).shape == (0, 3, 3)


@torch.no_grad()
def test_scores_of_large_weights_keep_their_digits() -> None:
    """In float32 next to float64: tanh must be centred before it is weighted."""
    exact = made("bilstm:hidden=5")
    exact.scorer.score.weight.mul_(100)
    rough = copy.deepcopy(exact).float()
    batch = texts(False)
    known = exact.leave_out(read(exact, batch))
    error = (rough.leave_out(read(rough, batch)).double() - known).nan_to_num().abs().max()
    assert error < 3e-5


class _Sharper(Additive):
    """A scorer of a user, who overrides `forward` alone."""

    def forward(self, hidden: Tensor, query: Tensor | None) -> Tensor:
        return 3 * super().forward(hidden, query) + hidden[..., 0]


class _Reversed(Linear):
    """The same for an output."""

    def forward(self, context: Tensor, query: Tensor | None) -> Tensor:
        return -2 * super().forward(context, query)


class _NotLinear(Linear):
    """A user's output that says so, with the `forward` of a linear one."""

    is_linear = False


@pytest.mark.parametrize(
    ("part", "kind"), [("scorer", _Sharper), ("output", _Reversed), ("output", _NotLinear)]
)
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
