"""Gradients of a model in evaluation mode."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def differentiating() -> Iterator[None]:
    """Gradients on, whatever is around; and without cuDNN, which refuses to go backwards through a recurrent network in evaluation mode."""
    with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
        yield
