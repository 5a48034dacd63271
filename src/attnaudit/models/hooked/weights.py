"""Which tensor is the attention, and how do other weights go in its place? One form for all: (B,H,Q,N), heads and query positions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

ROW, COLUMN, ROWS, FULL = "(B,N)", "(B,N,1)", "(B,R,N)", "(B,heads,Q,N)"


@dataclass(frozen=True, eq=False)
class Found:
    """Attention met in a forward pass. `put(weights, touched)`: what the module gives with other weights; touched (B,Q) bool says where
    they are others."""

    weights: Tensor  # (B,H,Q,N)
    layout: str
    put: Callable[[Tensor, Tensor], Any]
    allowed: Tensor | None = None  # (B,H,Q,N) bool, None where the module does not say
    source: Tensor | None = None  # the weights as the module returned them
    beside: tuple[Tensor, ...] = ()  # what else it returned


def layout_of(tensor: object, examples: int, items: int) -> str | None:
    """The layout of attention over the items, if the tensor can be that: by its shape, and because its rows sum to 1."""
    if (
        not isinstance(tensor, Tensor)
        or not tensor.is_floating_point()
        or tensor.dim() not in (2, 3, 4)
    ):
        return None
    if tensor.shape[0] != examples:
        return None
    layout = None
    if tensor.shape[-1] == items:
        layout = {2: ROW, 3: ROWS, 4: FULL}[tensor.dim()]
    elif tensor.shape[1:] == (items, 1):
        layout = COLUMN
    return (
        layout
        if layout is not None and _distributes(tensor, 1 if layout == COLUMN else -1)
        else None
    )


def _distributes(weights: Tensor, dim: int) -> bool:
    """Rows of padding may hold anything, 0 and NaN included; some row must be a distribution and none may be negative."""
    held = weights.detach()
    total = held.sum(dim)
    one, nothing = (total - 1).abs() < 1e-2, ~torch.isfinite(total) | (total.abs() < 1e-6)
    return bool((one | nothing).all() and one.any() and not (held < 0).any())


def canonical(tensor: Tensor, layout: str, positions: bool) -> Tensor:
    """(B,H,Q,N). positions: the R of (B,R,N) are query positions, not heads."""
    if layout == ROW:
        return tensor[:, None, None]
    if layout == COLUMN:
        return tensor[..., 0][:, None, None]
    if layout == ROWS:
        return tensor[:, None] if positions else tensor[:, :, None]
    return tensor


def as_returned(weights: Tensor, layout: str, positions: bool) -> Tensor:
    """The other way round."""
    if layout == ROW:
        return weights[:, 0, 0]
    if layout == COLUMN:
        return weights[:, 0, 0][..., None]
    if layout == ROWS:
        return weights[:, 0] if positions else weights[:, :, 0]
    return weights


def in_result(
    out: Any, examples: int, items: int, member: int | None, positions: bool
) -> Found | None:
    """The attention in what a module returns: a tensor, or a tuple one of whose members is; None where there is none, or several."""
    parts = list(out) if isinstance(out, (tuple, list)) else [out]
    wanted = range(len(parts)) if member is None else [member] if member < len(parts) else []
    fitting = [at for at in wanted if layout_of(parts[at], examples, items) is not None]
    if len(fitting) != 1:
        return None
    at = fitting[0]
    layout = layout_of(parts[at], examples, items)
    assert layout is not None  # it is among the fitting

    def put(weights: Tensor, touched: Tensor) -> Any:
        new = as_returned(weights, layout, positions)
        if not isinstance(out, (tuple, list)):
            return new
        changed = [*parts[:at], new, *parts[at + 1 :]]
        return type(out)(*changed) if hasattr(out, "_fields") else type(out)(changed)

    beside = tuple(
        part for place, part in enumerate(parts) if place != at and isinstance(part, Tensor)
    )
    return Found(
        canonical(parts[at], layout, positions), layout, put, source=parts[at], beside=beside
    )


def described(out: Any) -> str:
    """What a module returned, in words, for the error."""
    if isinstance(out, Tensor):
        return f"a tensor of shape {tuple(out.shape)}"
    if isinstance(out, (tuple, list)):
        return "a tuple of " + ", ".join(described(part) for part in out)
    return type(out).__name__
