"""Changes to a user's module that are undone after one forward pass, even after an exception."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn

Forward = Callable[..., Any]

_ABSENT = object()


@contextmanager
def forward_wrapped(module: nn.Module, wrap: Callable[[Forward], Forward]) -> Iterator[None]:
    """Replace `module.forward` by `wrap(module.forward)` inside the context."""
    before = module.__dict__.get("forward", _ABSENT)
    module.__dict__["forward"] = wrap(module.forward)
    try:
        yield
    finally:
        if before is _ABSENT:
            module.__dict__.pop("forward", None)
        else:
            module.__dict__["forward"] = before
