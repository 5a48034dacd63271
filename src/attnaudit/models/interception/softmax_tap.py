"""Attention that a module computes and uses inside: met at its softmax."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from attnaudit.models.hooked.weights import Found, as_returned, canonical, layout_of

_ABSENT = object()


@contextmanager
def softmax_met(
    module: nn.Module, examples: int, items: int, positions: bool, met: Callable[[Found], Any]
) -> Iterator[None]:
    """`met` is called with every softmax over the items while the module runs; what it returns, if anything, is used instead."""
    own, before = module.forward, module.__dict__.get("forward", _ABSENT)

    def forward(*args: Any, **options: Any) -> Any:
        with _Tap(examples, items, positions, met):
            return own(*args, **options)

    module.__dict__["forward"] = forward
    try:
        yield
    finally:
        if before is _ABSENT:
            del module.__dict__["forward"]
        else:
            module.__dict__["forward"] = before


class _Tap(TorchFunctionMode):
    def __init__(
        self, examples: int, items: int, positions: bool, met: Callable[[Found], Any]
    ) -> None:
        super().__init__()
        self.examples, self.items, self.positions, self.met = examples, items, positions, met

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if getattr(func, "__name__", "") != "softmax":
            return out
        layout = layout_of(out, self.examples, self.items)
        if layout is None:
            return out

        def put(weights: Tensor, touched: Tensor) -> Tensor:
            return as_returned(weights, layout, self.positions)

        instead = self.met(Found(canonical(out, layout, self.positions), layout, put))
        return out if instead is None else instead
