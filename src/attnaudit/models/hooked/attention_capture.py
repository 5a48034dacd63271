"""Recognise attention weights in a forward pass, in one layout: (B,H,Q,N).

H heads, Q query positions, N items.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

ROW, COLUMN, ROWS, FULL = "(B,N)", "(B,N,1)", "(B,R,N)", "(B,heads,Q,N)"


@dataclass(frozen=True, eq=False)
class AttentionCapture:
    """Attention captured in a forward pass.

    `put(weights, touched)` returns the module's result under other weights (B,H,Q,N);
    touched (B,Q) is True where they differ.
    """

    weights: Tensor  # (B,H,Q,N)
    layout: str
    put: Callable[[Tensor, Tensor], Any]
    allowed: Tensor | None = None  # (B,H,Q,N) bool, None if unknown
    source: Tensor | None = None  # the weights as the module returned them
    other_outputs: tuple[Tensor, ...] = ()  # the other tensors it returned


def layout_of(tensor: object, examples: int, items: int) -> str | None:
    """Return the layout of a tensor of attention over the items; None if it is not attention.

    Its shape must fit, and its rows must sum to 1.
    """
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
    if layout is None or not _is_distribution(tensor, 1 if layout == COLUMN else -1):
        return None
    return layout


def _is_distribution(weights: Tensor, dim: int) -> bool:
    """Return whether some row sums to 1 and none is negative; rows of padding may be 0 or NaN."""
    values = weights.detach()
    total = values.sum(dim)
    one, empty = (total - 1).abs() < 1e-2, ~torch.isfinite(total) | (total.abs() < 1e-6)
    return bool((one | empty).all() and one.any() and not (values < 0).any())


def to_canonical(tensor: Tensor, layout: str, rows_are_positions: bool) -> Tensor:
    """Return the weights as (B,H,Q,N).

    rows_are_positions: the R of (B,R,N) are query positions; otherwise heads.
    """
    if layout == ROW:
        return tensor[:, None, None]
    if layout == COLUMN:
        return tensor[..., 0][:, None, None]
    if layout == ROWS:
        return tensor[:, None] if rows_are_positions else tensor[:, :, None]
    return tensor


def from_canonical(weights: Tensor, layout: str, rows_are_positions: bool) -> Tensor:
    """Return weights (B,H,Q,N) in the module's layout."""
    if layout == ROW:
        return weights[:, 0, 0]
    if layout == COLUMN:
        return weights[:, 0, 0][..., None]
    if layout == ROWS:
        return weights[:, 0] if rows_are_positions else weights[:, :, 0]
    return weights


def capture_softmax(
    out: Tensor, examples: int, items: int, rows_are_positions: bool
) -> AttentionCapture | None:
    """Capture the result of a softmax; None if it is not attention over the items."""
    layout = layout_of(out, examples, items)
    if layout is None:
        return None

    def put(weights: Tensor, touched: Tensor) -> Tensor:
        return from_canonical(weights, layout, rows_are_positions)

    return AttentionCapture(to_canonical(out, layout, rows_are_positions), layout, put)


def capture_output(
    out: Any, examples: int, items: int, output_index: int | None, rows_are_positions: bool
) -> AttentionCapture | None:
    """Capture the attention that a module returns, as a tensor or as one element of a tuple.

    None if no element is attention, or several are and output_index does not choose one.
    """
    parts = list(out) if isinstance(out, (tuple, list)) else [out]
    if output_index is None:
        candidates = list(range(len(parts)))
    else:
        candidates = [output_index] if output_index < len(parts) else []
    layouts = {index: layout_of(parts[index], examples, items) for index in candidates}
    fitting = [(index, layout) for index, layout in layouts.items() if layout is not None]
    if len(fitting) != 1:
        return None
    ((chosen, layout),) = fitting

    def put(weights: Tensor, touched: Tensor) -> Any:
        new = from_canonical(weights, layout, rows_are_positions)
        if not isinstance(out, (tuple, list)):
            return new
        changed = [*parts[:chosen], new, *parts[chosen + 1 :]]
        return type(out)(*changed) if hasattr(out, "_fields") else type(out)(changed)

    return AttentionCapture(
        to_canonical(parts[chosen], layout, rows_are_positions),
        layout,
        put,
        source=parts[chosen],
        other_outputs=tuple(
            part for index, part in enumerate(parts) if index != chosen and isinstance(part, Tensor)
        ),
    )


def describe_output(out: Any) -> str:
    """Describe what a module returned, for error messages."""
    if isinstance(out, Tensor):
        return f"a tensor of shape {tuple(out.shape)}"
    if isinstance(out, (tuple, list)):
        return "a tuple of " + ", ".join(describe_output(part) for part in out)
    return type(out).__name__
