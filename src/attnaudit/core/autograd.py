"""Gradients of a model in evaluation mode."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor

_OF_INPUTS_ONLY: ContextVar[bool] = ContextVar("attnaudit_of_inputs_only", default=False)


@contextmanager
def differentiating() -> Iterator[None]:
    """Enable gradients, also inside ``torch.no_grad()``, and disable cuDNN.

    cuDNN cannot run the backward pass of a recurrent network in evaluation mode. Gradients are of
    embeddings, states or attention: modules may leave out what only those of their parameters
    need, and must then raise an error if these are asked for.

    Examples
    --------
    >>> with torch.no_grad(), differentiating():
    ...     torch.is_grad_enabled()
    True
    """
    token = _OF_INPUTS_ONLY.set(True)
    try:
        with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
            yield
    finally:
        _OF_INPUTS_ONLY.reset(token)


def gradients_of_inputs_only() -> bool:
    """Return whether this is inside `differentiating`: no parameter's gradient will be asked for.

    Examples
    --------
    >>> with differentiating():
    ...     gradients_of_inputs_only()
    True
    >>> gradients_of_inputs_only()
    False
    """
    return _OF_INPUTS_ONLY.get()


def without_gradient(weight: Tensor) -> Tensor:
    """Return a weight that takes part in a graph, but whose gradient raises a RuntimeError.

    Examples
    --------
    >>> weight = torch.ones(2, requires_grad=True)
    >>> without_gradient(weight).sum().backward()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    RuntimeError: Weights have no gradients inside `differentiating`, ...
    """
    fixed: Tensor = _WithoutGradient.apply(weight)
    return fixed


class _WithoutGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor) -> Tensor:
        return weight.detach()

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> Tensor:
        raise RuntimeError(
            "Weights have no gradients inside `differentiating`, which is for the gradients of "
            "embeddings and attention. Train outside of it, or give the tensors to differentiate "
            "in: torch.autograd.grad(value, embeddings)."
        )
