"""Recurrent encoders with gradients of their inputs only, against plain autograd."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from attnaudit.core.autograd import differentiating
from attnaudit.measures import MEASURES
from attnaudit.models.encoders import bidirectional, packed_steps, recurrent_gradient, row_product
from attnaudit.models.encoders.bidirectional import Bidirectional
from deleted_texts import LENGTHS, made, read, texts

TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5}
# Words of each text: like those of a corpus, without padding, one text, empty texts among others
# or alone, and so many that a step has more than a block.
BATCHES = (LENGTHS, (4, 4, 4), (9,), (1,), (0, 3, 0, 1), (0,), (0, 0), (2,) * 600 + (1,))
KINDS = pytest.mark.parametrize("network", [nn.LSTM, nn.GRU])
PRECISIONS = pytest.mark.parametrize("dtype", TOLERANCE)


def encoder(network: type, dtype: torch.dtype = torch.float64, sizes=(6, 5)) -> Bidirectional:
    torch.manual_seed(3)
    made = Bidirectional(network, *sizes).double()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_(0, 0.6)
    return made.to(dtype).eval()


def inputs(lengths: tuple[int, ...], dtype: torch.dtype, size: int = 6, extra: int = 0):
    """Vectors that require gradients, and their mask, with `extra` places that no text has."""
    mask = torch.arange(max(max(lengths), 1) + extra) < torch.tensor(lengths)[:, None]
    draw = torch.Generator().manual_seed(1)
    drawn = torch.randn(*mask.shape, size, generator=draw, dtype=torch.float64)
    return drawn.to(dtype).requires_grad_(), mask


def fast(model: nn.Module, vectors: Tensor, mask: Tensor) -> Tensor:
    with differentiating():
        hidden = model(vectors, mask)
    assert type(hidden.grad_fn).__name__ == "_StatesBackward"
    return hidden


@KINDS
@PRECISIONS
@pytest.mark.parametrize("lengths", BATCHES, ids=lambda lengths: f"{len(lengths)}x{max(lengths)}")
@pytest.mark.parametrize("extra", [0, 3])
def test_states_and_gradients_equal_plain_autograd(
    network: type, dtype: torch.dtype, lengths: tuple[int, ...], extra: int
) -> None:
    model, (vectors, mask) = encoder(network, dtype), inputs(lengths, dtype, extra=extra)
    plain, found = model(vectors, mask), fast(model, vectors, mask)
    torch.testing.assert_close(found, plain, rtol=0, atol=TOLERANCE[dtype])
    draw = torch.Generator().manual_seed(2)
    for _ in range(2):  # the graph serves several measures
        into = torch.randn(plain.shape, generator=draw, dtype=torch.float64).to(dtype)
        (expected,) = torch.autograd.grad(plain, vectors, into, retain_graph=True)
        (slope,) = torch.autograd.grad(found, vectors, into, retain_graph=True)
        torch.testing.assert_close(slope, expected, rtol=0, atol=TOLERANCE[dtype] * 5)
        assert not slope[~mask].any()


@KINDS
def test_blocks_and_both_ways_to_multiply_give_the_same(
    network: type, monkeypatch: pytest.MonkeyPatch, onednn_is_faster: None
) -> None:
    model, (vectors, mask) = encoder(network, torch.float32), inputs(LENGTHS, torch.float32)
    into = torch.ones(*mask.shape, 10)
    (usual,) = torch.autograd.grad(fast(model, vectors, mask), vectors, into)
    with monkeypatch.context() as patch:
        patch.setattr(packed_steps, "_BLOCK", 3)
        (small,) = torch.autograd.grad(fast(model, vectors, mask), vectors, into)
    monkeypatch.setattr(row_product, "product_for", lambda values: None)
    (by_torch,) = torch.autograd.grad(fast(model, vectors, mask), vectors, into)
    for other in (small, by_torch):
        torch.testing.assert_close(other, usual, rtol=0, atol=5e-5)


# Training -----------------------------------------------------------------------------------------


@KINDS
def test_gradients_of_weights_are_an_error_and_never_left_out(network: type) -> None:
    model, (vectors, mask) = encoder(network), inputs(LENGTHS, torch.float64)
    with differentiating():
        value = model(vectors, mask).square().sum()
    weight = model.forwards.weight_hh_l0
    for attempt in (
        lambda: value.backward(retain_graph=True),
        lambda: torch.autograd.grad(value, weight, retain_graph=True, allow_unused=True),
        lambda: torch.autograd.grad(value, list(model.parameters()), retain_graph=True),
    ):
        with pytest.raises(RuntimeError, match="no gradients inside `differentiating`"):
            attempt()
    assert all(parameter.grad is None for parameter in model.parameters())
    value.backward(inputs=[vectors])
    assert vectors.grad is not None


def test_training_inside_the_context_is_an_error_and_outside_of_it_is_not_affected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, batch = made("bilstm:hidden=5").train(), texts(False)
    with differentiating():
        loss = model.read(batch).logits.logsumexp(-1).sum()
    with pytest.raises(RuntimeError, match="Train outside of it"):
        loss.backward()
    monkeypatch.setattr(bidirectional, "states_with_gradient", None)  # never called
    model.read(batch).logits.logsumexp(-1).sum().backward()
    for name, parameter in model.encoder.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 0, name


@KINDS
def test_frozen_weights_need_no_error(network: type) -> None:
    model, (vectors, mask) = encoder(network).requires_grad_(False), inputs((4, 2), torch.float64)
    fast(model, vectors, mask).sum().backward()
    (expected,) = torch.autograd.grad(model(vectors, mask).sum(), vectors)
    torch.testing.assert_close(vectors.grad, expected, rtol=0, atol=1e-10)


@KINDS
def test_second_derivatives_are_an_error(network: type) -> None:
    model, (vectors, mask) = encoder(network), inputs((4, 2), torch.float64)
    value = fast(model, vectors, mask).square().sum()
    with pytest.raises(RuntimeError, match="no second derivatives"):
        torch.autograd.grad(value, vectors, create_graph=True)


@KINDS
def test_weights_changed_before_the_backward_pass_are_an_error(network: type) -> None:
    model, (vectors, mask) = encoder(network), inputs((4, 2), torch.float64)
    value = fast(model, vectors, mask).sum()
    with torch.no_grad():
        model.backwards.weight_ih_l0.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(value, vectors)


def test_without_gradients_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    model, (vectors, mask) = encoder(nn.LSTM), inputs((4, 2), torch.float64)
    monkeypatch.setattr(bidirectional, "states_with_gradient", None)  # never called
    with differentiating():
        model(vectors.detach(), mask)
        with torch.no_grad():
            model(vectors, mask)


# Models -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["bilstm:hidden=5", "bigru:hidden=4"])
@pytest.mark.parametrize("model", ["attentive", "hierarchical:site=word", "hierarchical"])
@pytest.mark.parametrize("query", [False, True])
def test_measures_of_models_equal_those_by_plain_autograd(
    kind: str, model: str, query: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = texts(query, (12, 1, 3, 0, 7, 9))
    place = torch.arange(batch.tokens.shape[1])
    batch = replace(batch, segments=(place // 3).expand_as(batch.tokens) * batch.mask)
    if query:
        batch.query_mask[1] = False  # type: ignore[index]
    built = made(kind, with_query=query, model=model)
    record = read(built, batch)
    names = ("gradient", "gradient_norm", "hidden_gradient", "input_times_gradient")
    found = [MEASURES[name](built, record, 0) for name in names]
    called: list[object] = []
    monkeypatch.setattr(bidirectional, "gradients_of_inputs_only", lambda: called.append(0))
    for name, one in zip(names, found, strict=True):
        plain = MEASURES[name](built, record, 0)
        torch.testing.assert_close(one, plain, rtol=0, atol=1e-10, equal_nan=True)
    assert called


# Parts --------------------------------------------------------------------------------------------


def test_steps_hold_every_item_once_in_order() -> None:
    mask = torch.arange(6) < torch.tensor([2, 0, 5, 3])[:, None]
    steps = packed_steps.packed_steps(mask)
    assert steps.counts == [3, 3, 2, 1, 1]
    assert steps.starts == [0, 3, 6, 8, 9]
    right, left = steps.places
    assert right.tolist() == [12, 18, 0, 13, 19, 1, 14, 20, 15, 16]
    assert left.tolist() == [16, 20, 1, 15, 19, 0, 14, 18, 13, 12]
    values = torch.arange(24.0).view(4, 6, 1)
    assert steps.packed(values, 0)[:10, 0].tolist() == right.tolist()


def test_blocks_follow_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_steps, "_BLOCK", 5)
    steps = packed_steps.packed_steps(torch.arange(6) < torch.tensor([2, 0, 5, 3])[:, None])
    found = [[each.stop - each.start for each in block.steps] for block in steps.blocks]
    assert found == [[3], [3, 2], [1, 1]]
    assert [block.size for block in steps.blocks] == [3, 5, 2]


@PRECISIONS
@pytest.mark.parametrize("count", [0, 1, 31, 32, 70, 100])
def test_a_product_of_rows_is_that_of_these_rows(dtype: torch.dtype, count: int) -> None:
    draw = torch.Generator().manual_seed(0)
    values = torch.randn(110, 24, generator=draw, dtype=torch.float64)
    weight = torch.randn(40, 24, generator=draw, dtype=torch.float64)
    bias = torch.randn(40, generator=draw, dtype=torch.float64)
    rows = slice(10, 10 + count)
    expected = values[rows] @ weight.t() + bias
    for given in (weight, weight.t().contiguous().t()):
        found = row_product.row_product(values.to(dtype), rows, given.to(dtype), bias.to(dtype))
        torch.testing.assert_close(found.double(), expected, rtol=0, atol=TOLERANCE[dtype] * 10)


def test_a_kind_of_network_has_its_own_steps() -> None:
    assert recurrent_gradient.cell_of([nn.LSTM(2, 2)]) != recurrent_gradient.cell_of([nn.GRU(2, 2)])
