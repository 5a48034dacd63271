"""Reading and overriding attention inside a forward pass of transformers, through its registry of attention functions.

The registry is global, so the registered function knows nothing: what to keep and what to use instead is on a tape, a context variable
set around one forward pass. Calls are told apart by their order; ALBERT has one module for all layers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from attnaudit.core import masking
from attnaudit.models.huggingface.layers import Layers

NAME = "attnaudit"


@dataclass(frozen=True, eq=False)
class Seen:
    """One attention call at the positions asked about. H heads, S keys."""

    row: Tensor  # (B,H,S) the weights
    allowed: Tensor | None  # (B,H,S) bool, None where the call does not say
    values: Tensor | None  # (B,H,S,D), None where they are out of reach
    out: Tensor | None  # (B,H,D) the attended sum
    weights: Tensor | None  # (B,H,T,S), where all positions were asked for


@dataclass
class Tape:
    """One forward pass: what to keep of it, what to use instead, and where it stands."""

    positions: Tensor  # (B,) of the query
    keep: frozenset[int] = frozenset()  # attention calls
    whole: bool = False  # keep the weights of all positions
    rows: dict[int, Tensor] = field(
        default_factory=dict
    )  # call -> (B,h,S), weights to use at the positions
    heads: Tensor | None = None  # (h,) the heads these rows are of
    given: dict[int, Tensor] = field(default_factory=dict)  # call -> (B,T,H,D), its whole output
    leaf: int | None = None  # the call whose result is cut off the graph, to ask what hangs on it
    call: int = 0
    layers: Layers | None = None  # of the same pass
    layer_of_call: dict[int, int] = field(default_factory=dict)
    seen: dict[int, Seen] = field(default_factory=dict)
    modules: dict[int, nn.Module] = field(default_factory=dict)
    cut: Tensor | None = None

    def next_call(self) -> int:
        number, self.call = self.call, self.call + 1
        self.layer_of_call[number] = -1 if self.layers is None else self.layers.call - 1
        return number


_TAPE: ContextVar[Tape | None] = ContextVar("attnaudit_tape", default=None)


@contextmanager
def taped(tape: Tape, *, tapped: bool) -> Iterator[None]:
    """Attention calls inside go by the tape. tapped: by catching softmax, for families that do not use the registry."""
    token = _TAPE.set(tape)
    try:
        if tapped:
            with _SoftmaxTap(tape):
                yield
        else:
            yield
    finally:
        _TAPE.reset(token)


def register() -> None:
    """Put the function into the registry; the mask function under the same name, or masks would silently be dropped."""
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
    """The family's own eager attention; with a tape, kept and overridden as it says."""
    tape = _TAPE.get()
    if tape is None:
        return _own_eager(module)(module, query, key, value, attention_mask, **options)
    number = tape.next_call()
    tape.modules[number] = module
    if number in tape.given:
        return tape.given[number], None
    out, weights = _own_eager(module)(module, query, key, value, attention_mask, **options)
    example = torch.arange(len(out), device=out.device)
    if number in tape.keep or number in tape.rows:
        values = value.repeat_interleave(
            weights.shape[1] // value.shape[1], 1
        )  # grouped heads share values
        if number in tape.rows:
            assert tape.heads is not None  # rows come with their heads
            attended = (tape.rows[number][:, :, None] @ values[:, tape.heads])[:, :, 0]
            out = out.index_put(
                (example[:, None], tape.positions[:, None], tape.heads[None]), attended
            )
        if number in tape.keep:
            tape.seen[number] = Seen(
                row=weights[example, :, tape.positions],
                allowed=_allowed(attention_mask, weights, tape.positions),
                values=values,
                out=out[example, tape.positions],
                weights=weights if tape.whole else None,
            )
    if number == tape.leaf:
        out = tape.cut = out.detach().requires_grad_()
    return out, weights


def _own_eager(module: nn.Module) -> Callable[..., tuple[Tensor, Tensor]]:
    for each in type(module).__mro__:
        found = getattr(sys.modules.get(each.__module__), "eager_attention_forward", None)
        if found is not None:
            return found
    raise TypeError(f"{type(module).__name__} has no eager attention of its own")


def _allowed(mask: Tensor | None, weights: Tensor, positions: Tensor) -> Tensor:
    """(B,H,S): what the position may attend to. The mask is bool, or is added to the scores."""
    batch, heads, length, keys = weights.shape
    if mask is None:
        return torch.ones(batch, heads, keys, dtype=torch.bool, device=weights.device)
    may = mask if mask.dtype == torch.bool else mask > masking.HIDDEN
    example = torch.arange(batch, device=weights.device)
    return may[..., :keys].expand(batch, heads, length, keys)[example, :, positions]


class _SoftmaxTap(TorchFunctionMode):
    """Catches every softmax over (B,H,T,S). That these are the attention is verified against the model's own output_attentions."""

    def __init__(self, tape: Tape) -> None:
        super().__init__()
        self.tape = tape

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if (
            getattr(func, "__name__", "") != "softmax"
            or out.dim() != 4
            or len(out) != len(self.tape.positions)
        ):
            return out
        tape, number = self.tape, self.tape.next_call()
        example = torch.arange(len(out), device=out.device)
        if number in tape.rows:
            assert tape.heads is not None  # rows come with their heads
            out = out.index_put(
                (example[:, None], tape.heads[None], tape.positions[:, None]), tape.rows[number]
            )
        if number in tape.keep:
            row = out[example, :, tape.positions]
            tape.seen[number] = Seen(row, None, None, None, out if tape.whole else None)
        if number == tape.leaf:
            out = tape.cut = out.detach().requires_grad_()
        return out
