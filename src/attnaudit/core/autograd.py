"""Gradients of a model in evaluation mode."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch

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
