"""The linear layers of a model multiply by oneDNN for the length of a forward pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import linear

from attnaudit.core.autograd import gradients_of_inputs_only, without_gradient
from attnaudit.core.onednn import Product, faster_products_wanted, product_for


@contextmanager
def linear_by_onednn(model: nn.Module) -> Iterator[None]:
    """Let every plain `nn.Linear` multiply by oneDNN, where it is wanted and can be used.

    It is wanted inside `faster_products`. Results differ by rounding. Layers of a class of their
    own, or whose forward method somebody has replaced, are left alone. Where gradients are needed,
    only inside `differentiating`: those of the weights then raise a RuntimeError.
    """
    layers = [
        module
        for module in (model.modules() if faster_products_wanted() else ())
        if type(module) is nn.Linear
        and _is_of_torch(nn.Linear.forward)
        and type(module.weight) is nn.Parameter
        and module.weight.layout == torch.strided
        and "forward" not in module.__dict__
        and product_for(module.weight) is not None
    ]
    try:
        for layer in layers:
            layer.__dict__["forward"] = partial(_forward, layer)
        yield
    finally:
        for layer in layers:
            layer.__dict__.pop("forward", None)


def _is_of_torch(forward: Callable[..., Any]) -> bool:
    """Return whether nobody has replaced the method of the class."""
    return (forward.__module__, forward.__qualname__) == (nn.Linear.__module__, "Linear.forward")


def _forward(layer: nn.Linear, input: Tensor) -> Tensor:
    """Return what the layer's own forward method would, up to rounding; its name of the input."""
    weight, bias = layer.weight, layer.bias
    multiply = product_for(input) if input.numel() else None
    if multiply is None or product_for(weight) is None or torch.is_autocast_enabled("cpu"):
        return linear(input, weight, bias)
    if not torch.is_grad_enabled():
        return multiply(input, weight, bias)
    if gradients_of_inputs_only():
        fixed = [each if each is None else without_gradient(each) for each in (weight, bias)]
        # As rows: of other shapes the result would be a view, which nobody may change in place.
        rows: Tensor = _Product.apply(input.reshape(-1, input.shape[-1]), *fixed, multiply)
        return rows.view(*input.shape[:-1], len(weight))
    return linear(input, weight, bias)


class _Product(torch.autograd.Function):
    """values (M,K) times the weight (N,K) plus the bias, with the gradient in the values alone."""

    @staticmethod
    def forward(
        ctx: Any, values: Tensor, weight: Tensor, bias: Tensor | None, multiply: Product
    ) -> Tensor:
        ctx.save_for_backward(weight)
        ctx.multiply = multiply
        return multiply(values, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor | None, ...]:
        (weight,) = ctx.saved_tensors
        values = ctx.multiply(slopes[0].contiguous(), weight.t(), None)
        return values, None, None, None
