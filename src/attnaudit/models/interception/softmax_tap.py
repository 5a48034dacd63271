"""Catch every softmax in a block of code; its result can be replaced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode


class SoftmaxTap(TorchFunctionMode):
    """A context in which `on_softmax(result)` is called for every softmax.

    If it returns a value other than None, that is used in place of the result. Whether a softmax
    is attention is for `on_softmax` to decide.
    """

    def __init__(self, on_softmax: Callable[[Tensor], Any]) -> None:
        super().__init__()
        self.on_softmax = on_softmax

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if getattr(func, "__name__", "") != "softmax":
            return out
        replacement = self.on_softmax(out)
        return out if replacement is None else replacement
