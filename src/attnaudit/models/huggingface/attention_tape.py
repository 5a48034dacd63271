"""Read and override attention in a forward pass of transformers, through its attention registry.

The registry is global, so the registered function holds no state. What to keep and what to replace
is on a tape, a context variable that is set around one forward pass. Attention calls are identified
by their order: ALBERT uses one module for all layers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from attnaudit.core import masking
from attnaudit.core.errors import InputError
from attnaudit.models.huggingface.layers import LayerTape
from attnaudit.models.interception import SoftmaxTap

NAME = "attnaudit"


@dataclass(frozen=True, eq=False)
class CapturedCall:
    """One attention call at the query positions. H heads, S keys."""

    row: Tensor  # (B,H,S) the weights
    allowed: Tensor | None  # (B,H,S) bool, None if unknown
    values: Tensor | None  # (B,H,S,D), None if out of reach
    out: Tensor | None  # (B,H,D) the attended sum
    weights: Tensor | None  # (B,H,T,S), if all positions are kept
    sums: Tensor | None = None  # (B,T,H,D) the attended sums, if all positions are kept


@dataclass
class Tape:
    """One forward pass: which calls to keep, what to replace, and what was captured.

    Attention calls are numbered from 0 in the order in which they run.
    """

    positions: Tensor  # (B,) query positions
    keep: frozenset[int] = frozenset()  # calls to capture
    keep_all_positions: bool = False  # capture the weights and sums of all query positions
    rows: dict[int, Tensor] = field(default_factory=dict)  # call -> (B,h,S), replacing weights
    heads: Tensor | None = None  # (h,) the heads of these rows
    outputs: dict[int, Tensor] = field(default_factory=dict)  # call -> (B,T,H,D), known output
    cut_call: int | None = None  # the call whose result becomes a leaf of the graph
    next_call: int = 0
    layers: LayerTape | None = None  # of the same pass
    # What the pass leaves behind:
    layer_of_call: dict[int, int] = field(default_factory=dict)
    captured: dict[int, CapturedCall] = field(default_factory=dict)
    modules: dict[int, nn.Module] = field(default_factory=dict)
    leaf: Tensor | None = None  # the result of `cut_call`

    def start_call(self) -> int:
        """Return the number of the call that starts now."""
        number, self.next_call = self.next_call, self.next_call + 1
        self.layer_of_call[number] = -1 if self.layers is None else self.layers.next_call - 1
        return number


_TAPE: ContextVar[Tape | None] = ContextVar("attnaudit_tape", default=None)


def active_tape() -> Tape | None:
    """Return the tape of the running forward pass; None outside of one."""
    return _TAPE.get()


@contextmanager
def taped(tape: Tape, *, softmax: bool) -> Iterator[None]:
    """Apply a tape to the attention calls inside the context.

    softmax: catch softmax instead, for families that do not use the attention registry.
    """
    token = _TAPE.set(tape)
    try:
        with SoftmaxTap(partial(_on_softmax, tape)) if softmax else nullcontext():
            yield
    finally:
        _TAPE.reset(token)


def register() -> None:
    """Register our attention function, and a mask function of the same name.

    Without the latter, transformers would silently drop the masks.
    """
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import eager_mask

    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, eager_mask)


def attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    **options: Any,
) -> tuple[Tensor, Tensor | None]:
    """Run the family's own eager attention; capture and override it as the tape says."""
    tape = active_tape()
    if tape is None:
        return eager_attention(module)(module, query, key, value, attention_mask, **options)
    number = tape.start_call()
    tape.modules[number] = module
    if number in tape.outputs:
        return tape.outputs[number], None
    out, weights = eager_attention(module)(module, query, key, value, attention_mask, **options)
    example = torch.arange(len(out), device=out.device)
    if number in tape.keep or number in tape.rows:
        # Grouped heads share values.
        values = value.repeat_interleave(weights.shape[1] // value.shape[1], 1)
        if number in tape.rows:
            assert tape.heads is not None  # rows come with their heads
            attended = (tape.rows[number][:, :, None] @ values[:, tape.heads])[:, :, 0]
            out = out.index_put(
                (example[:, None], tape.positions[:, None], tape.heads[None]), attended
            )
        if number in tape.keep:
            tape.captured[number] = CapturedCall(
                row=weights[example, :, tape.positions],
                allowed=_allowed(attention_mask, weights, tape.positions),
                values=values,
                out=out[example, tape.positions],
                weights=weights if tape.keep_all_positions else None,
                sums=out if tape.keep_all_positions else None,
            )
    if number == tape.cut_call:
        out = tape.leaf = out.detach().requires_grad_()
    return out, weights


def eager_attention(module: nn.Module) -> Callable[..., tuple[Tensor, Tensor]]:
    """Return the eager attention function of the module's family."""
    for base in type(module).__mro__:
        function = getattr(sys.modules.get(base.__module__), "eager_attention_forward", None)
        if function is not None:
            return function
    raise InputError(
        f"The attention of {type(module).__name__} cannot be read: its module "
        f"({type(module).__module__}) was expected to define eager_attention_forward, as in "
        "transformers, and does not. Write a class with read and decode for the model, or point "
        "attnaudit.from_hooks at its attention weights."
    )


def _allowed(mask: Tensor | None, weights: Tensor, positions: Tensor) -> Tensor:
    """Return which keys the positions may attend to (B,H,S); the mask is bool or additive."""
    batch, heads, length, keys = weights.shape
    if mask is None:
        return torch.ones(batch, heads, keys, dtype=torch.bool, device=weights.device)
    allowed = mask if mask.dtype == torch.bool else mask > masking.HIDDEN
    example = torch.arange(batch, device=weights.device)
    return allowed[..., :keys].expand(batch, heads, length, keys)[example, :, positions]


def _on_softmax(tape: Tape, out: Tensor) -> Tensor | None:
    """Apply the tape to a softmax over (B,H,T,S).

    That these are the attention is verified against the model's own output_attentions.
    """
    if out.dim() != 4 or len(out) != len(tape.positions):
        return None
    number = tape.start_call()
    example = torch.arange(len(out), device=out.device)
    if number in tape.rows:
        assert tape.heads is not None  # rows come with their heads
        out = out.index_put(
            (example[:, None], tape.heads[None], tape.positions[:, None]), tape.rows[number]
        )
    if number in tape.keep:
        row = out[example, :, tape.positions]
        weights = out if tape.keep_all_positions else None
        tape.captured[number] = CapturedCall(row, None, None, None, weights)
    if number == tape.cut_call:
        out = tape.leaf = out.detach().requires_grad_()
    return out
