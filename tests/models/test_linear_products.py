"""Linear layers that multiply by oneDNN for the length of a pass: same values, nothing left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import torch
from torch import Tensor, nn

from attnaudit.core import onednn
from attnaudit.core.autograd import differentiating
from attnaudit.models.huggingface import from_huggingface
from attnaudit.models.interception import linear_by_onednn
from tiny_transformers import FAMILIES, texts_for, tiny


@contextmanager
def wanted(model: nn.Module) -> Iterator[None]:
    """Both contexts."""
    with onednn.faster_products(), linear_by_onednn(model):
        yield


pytestmark = [
    pytest.mark.usefixtures("onednn_is_faster"),
    pytest.mark.skipif(onednn._by_onednn() is None, reason="this PyTorch has no oneDNN"),
]


class Own(nn.Linear):
    """A class of its own, as quantised layers or adapters have."""

    def forward(self, values: Tensor) -> Tensor:
        return super().forward(values) + 1


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(24, 40), nn.Tanh(), nn.Linear(40, 3, bias=False))


def texts() -> Tensor:
    return torch.randn(2, 5, 24, generator=torch.Generator().manual_seed(1))


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, onednn_is_faster: None) -> list[tuple[int, ...]]:
    """The shapes of all that oneDNN multiplies."""
    seen: list[tuple[int, ...]] = []
    own = onednn.product_for(torch.zeros(1))
    assert own is not None

    def multiply(values: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        seen.append(tuple(values.shape))
        return own(values, weight, bias)

    monkeypatch.setattr(onednn, "_by_onednn", lambda: multiply)
    return seen


def test_values_are_those_of_the_layers(calls: list[tuple[int, ...]]) -> None:
    model, values = network(), texts()
    with torch.no_grad(), wanted(model):
        found = model(values)
    assert calls == [(2, 5, 24), (2, 5, 40)]
    expected = network().double()(values.double())
    torch.testing.assert_close(found.double(), expected, rtol=0, atol=1e-5)


def test_gradients_of_inputs_are_those_of_float64(calls: list[tuple[int, ...]]) -> None:
    model, values = network(), texts().requires_grad_()
    into = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(2))
    with differentiating(), wanted(model):
        out = model(values)
    slopes = [torch.autograd.grad(out, values, into, retain_graph=True)[0] for _ in range(2)]
    assert calls == [(10, 24), (10, 40), *2 * [(10, 3), (10, 40)]]
    exact = values.detach().double().requires_grad_()
    (expected,) = torch.autograd.grad(network().double()(exact), exact, into.double())
    for slope in slopes:
        torch.testing.assert_close(slope.double(), expected, rtol=0, atol=1e-5)
    (of_sum,) = torch.autograd.grad(out.sum(), values)  # a gradient without memory of its own
    (expected,) = torch.autograd.grad(network().double()(exact).sum(), exact)
    torch.testing.assert_close(of_sum.double(), expected, rtol=0, atol=1e-5)


def test_gradients_of_weights_are_an_error_and_never_left_out() -> None:
    model, values = network(), texts()
    with differentiating(), wanted(model):
        out = model(values).sum()
    for parameter in model.parameters():
        with pytest.raises(RuntimeError, match="no gradients inside `differentiating`"):
            torch.autograd.grad(out, parameter, retain_graph=True)
    with wanted(model):  # training: as ever
        model(values).sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


def _double(model: nn.Sequential) -> None:
    model.double()


def _own_class(model: nn.Sequential) -> None:
    model[0] = Own(24, 40)
    model[2] = Own(40, 3)


def _own_forward(model: nn.Sequential) -> None:
    for index in (0, 2):
        layer = model[index]
        layer.forward = lambda values, layer=layer: nn.functional.linear(values, layer.weight) * 2


@pytest.mark.parametrize("change", [_double, _own_class, _own_forward])
def test_other_layers_are_left_alone(
    change: Callable[[nn.Sequential], None], calls: list[tuple[int, ...]]
) -> None:
    model = network()
    change(model)
    values = texts().to(next(model.parameters()).dtype)
    forwards = [module.__dict__.get("forward") for module in model]
    with torch.no_grad():
        expected = model(values)
        with wanted(model):
            assert torch.equal(model(values), expected)
    assert not calls
    assert [module.__dict__.get("forward") for module in model] == forwards


def test_autocast_hooks_and_nothing_to_multiply(calls: list[tuple[int, ...]]) -> None:
    model, seen = network(), []
    model[0].register_forward_hook(lambda *given: seen.append(given[2].dtype))
    with torch.no_grad(), wanted(model):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            model(texts())
        assert model(texts()[:0]).shape == (0, 5, 3)
    assert not calls
    assert seen == [torch.bfloat16, torch.float32]


def test_layers_are_as_before_even_after_an_exception() -> None:
    model = network()
    with pytest.raises(RuntimeError, match="shape"), wanted(model):
        model(texts()[..., :3])
    assert not any("forward" in module.__dict__ for module in model.modules())
    with wanted(model), wanted(model):
        assert "forward" in model[0].__dict__
    assert "forward" not in model[0].__dict__


def test_nothing_is_changed_unless_it_is_wanted(calls: list[tuple[int, ...]]) -> None:
    model = network()
    with torch.no_grad(), linear_by_onednn(model):
        found = model(texts())
    assert not calls
    assert torch.equal(found, model(texts()))


@pytest.mark.parametrize("shape", [(24,), (5, 24), (2, 5, 24)], ids=str)
def test_results_may_be_changed_in_place(
    shape: tuple[int, ...], calls: list[tuple[int, ...]]
) -> None:
    layer = nn.Linear(24, 40)
    values = torch.randn(shape).requires_grad_()
    expected = (layer(values) + 1).relu()
    (slope,) = torch.autograd.grad(expected.sum(), values)
    with wanted(layer), differentiating():
        found = layer(values).add_(1).relu_()
        (found_slope,) = torch.autograd.grad(found.sum(), values)
    assert calls
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)
    torch.testing.assert_close(found_slope, slope, rtol=0, atol=1e-5)


def test_the_input_may_be_named(calls: list[tuple[int, ...]]) -> None:
    layer, values = nn.Linear(24, 40), texts()
    expected = layer(values)
    with torch.no_grad(), wanted(layer):
        torch.testing.assert_close(layer(input=values), expected, rtol=0, atol=1e-5)
    assert calls


def test_a_replaced_method_of_the_class_is_respected(
    calls: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    layer, values = nn.Linear(24, 40), texts()
    expected = 5 * layer(values)
    own = nn.Linear.forward
    monkeypatch.setattr(nn.Linear, "forward", lambda self, input: 5 * own(self, input))
    with torch.no_grad(), wanted(layer):
        torch.testing.assert_close(layer(values), expected, rtol=0, atol=1e-5)
    assert not calls


@pytest.mark.filterwarnings("ignore:Sparse")
def test_sparse_weights_are_left_alone(calls: list[tuple[int, ...]]) -> None:
    layer, values = nn.Linear(24, 40), texts()[0]
    layer.weight = nn.Parameter(layer.weight.detach().to_sparse_csr(), requires_grad=False)
    layer.bias = None
    with torch.no_grad():
        expected = layer(values)
        with wanted(layer):
            torch.testing.assert_close(layer(values), expected)
    assert not calls


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_can_be_searched_in_single_precision(name: str) -> None:
    model, tokenizer = tiny(name)
    wrapped = from_huggingface(model.float(), tokenizer)
    (batch,) = wrapped.batches(texts_for(name))
    with torch.no_grad():
        record = wrapped.read(batch)
    with onednn.faster_products(), differentiating():
        weights = record.alpha.detach().clone().requires_grad_()
        (slope,) = torch.autograd.grad(wrapped.decode(record, weights)[:, 0].sum(), weights)
    assert slope.isfinite().all()
    assert slope.any()
