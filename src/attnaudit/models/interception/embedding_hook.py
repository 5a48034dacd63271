"""Capture the token embeddings of a forward pass, or replace them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn


@contextmanager
def embeddings_captured(
    module: nn.Module,
    replacement: Tensor | None = None,
    *,
    shape: tuple[int, ...] | None = None,
    batch_first: bool = True,
) -> Iterator[list[Tensor]]:
    """Capture the first output of an embedding module inside the context.

    Later outputs are left alone: the same module may embed a second text, or the decoder's input.

    Parameters
    ----------
    module : nn.Module
        The embedding module.
    replacement : Tensor of shape (B,T,E), optional
        Used in place of the module's output.
    shape : (B, T), optional
        Only an output of this shape is captured.
    batch_first : bool, default True
        Whether the module returns (B,T,E); otherwise (T,B,E).

    Yields
    ------
    list of Tensor
        After the pass, the embeddings in use (B,T,E); empty if none were captured.
    """
    captured: list[Tensor] = []

    def batch_major(tensor: Tensor) -> Tensor:
        return tensor if batch_first else tensor.transpose(0, 1)

    def fits(out: Any) -> bool:
        if shape is None:
            return True
        return isinstance(out, Tensor) and out.dim() == 3 and batch_major(out).shape[:2] == shape

    def hook(_: nn.Module, __: Any, out: Any) -> Any:
        if captured or not fits(out):
            return None
        captured.append(batch_major(out) if replacement is None else replacement)
        return None if replacement is None else batch_major(replacement)

    handle = module.register_forward_hook(hook)
    try:
        yield captured
    finally:
        handle.remove()
