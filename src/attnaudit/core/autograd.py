"""Gradients of a model in evaluation mode."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def differentiating() -> Iterator[None]:
    """Enable gradients, also inside ``torch.no_grad()``, and disable cuDNN.

    cuDNN cannot run the backward pass of a recurrent network in evaluation mode.

    Examples
    --------
    >>> with torch.no_grad(), differentiating():
    ...     torch.is_grad_enabled()
    True
    """
    with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
        yield
