"""Attention from answer tokens to items, read and replaced in memory that grows with the text.

The family's own attention function is called on a block of queries at a time, so that the weights
of all pairs of tokens are never held at once, and only their sums over items are kept. Like
`attention_tape`, the registered function holds no state: that is in a context variable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from attnaudit.models.huggingface.attention_tape import eager_attention

NAME = "attnaudit_sources"
BLOCK = 256  # queries at a time

SELF, CROSS, ENCODER = "self", "cross", "encoder"


@dataclass
class ItemSums:
    """Sums over one set of items: the sources, or their words.

    B examples, S keys, N items, A answer tokens, H heads.
    """

    belongs: Tensor  # (B,S,N) 1 for the item of each key; padding belongs to none
    # What a pass leaves behind:
    masses: list[Tensor] = field(default_factory=list)  # per audited call (B,H,A,N)
    rollout: dict[str, Tensor] = field(default_factory=dict)  # kind -> (B,T,N)


@dataclass
class SourceTape:
    """One forward pass: what is read at the answer's queries, and what is replaced there."""

    levels: Sequence[ItemSums]  # what is summed over; ratios are of the items of the first
    queries: Tensor  # (B,A) the positions from which the answer's tokens are predicted; -1: none
    kinds: dict[int, str]  # id of an attention module -> SELF, CROSS or ENCODER
    audited: str = SELF  # the kind of the calls that are read
    ratios: Sequence[Tensor] | None = None  # one (B,H,N) per audited call: weights are scaled by it
    with_rollout: bool = False
    calls: int = 0  # audited calls so far

    def flows(self, level: ItemSums, kind: str, length: int) -> Tensor:
        """What each token of a text holds of every item, before the next attention call."""
        place = ENCODER if kind == ENCODER else SELF
        if place not in level.rollout:
            own = level.belongs
            if place == SELF and CROSS in self.kinds.values():
                own = torch.zeros_like(level.belongs[:, :1]).expand(-1, length, -1)
            level.rollout[place] = own
        return level.rollout[place]


_TAPE: ContextVar[SourceTape | None] = ContextVar("attnaudit_source_tape", default=None)


@contextmanager
def source_taped(tape: SourceTape) -> Iterator[None]:
    """Apply a tape to the attention calls inside the context."""
    token = _TAPE.set(tape)
    try:
        yield
    finally:
        _TAPE.reset(token)


def register() -> None:
    """Register the attention function, and a mask function of the same name."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    AttentionInterface.register(NAME, attend)
    AttentionMaskInterface.register(NAME, sdpa_mask)  # no mask at all where only causality counts


def attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    **options: Any,
) -> tuple[Tensor, None]:
    """Run the family's own eager attention block by block, as the tape says."""
    tape = _TAPE.get()
    kind = SELF if tape is None else tape.kinds.get(id(module), SELF)
    is_causal = options.pop("is_causal", None)
    if is_causal is None:
        is_causal = getattr(module, "is_causal", True)
    is_causal = is_causal and query.shape[2] > 1 and attention_mask is None and kind == SELF
    bias = options.pop("position_bias", None)
    is_read = tape is not None and kind == tape.audited
    ratio = tape.ratios[tape.calls] if is_read and tape and tape.ratios is not None else None
    levels = () if tape is None else tape.levels
    outs: list[Tensor] = []
    masses: list[list[Tensor]] = [[] for _ in levels]
    flows: list[list[Tensor]] = [[] for _ in levels]
    for start in range(0, query.shape[2], BLOCK):
        block = slice(start, start + BLOCK)
        rows = query[:, :, block]
        mask = _block_mask(attention_mask, block, rows, key, is_causal)
        given = options if bias is None else {**options, "position_bias": _rows_of(bias, block)}
        out, weights = eager_attention(module)(module, rows, key, value, mask, **given)
        if is_read and tape is not None:
            at, here = _places(tape.queries, start, rows.shape[2])
            places = at[:, None, :, None].expand(-1, weights.shape[1], -1, key.shape[2])
            picked = weights.gather(2, places)
            if ratio is not None:
                picked = _scaled(picked, ratio, tape.levels[0].belongs)
                out = _replaced(out, picked, value, at, here)
            for level, so_far in zip(levels, masses, strict=True):
                belongs = level.belongs.to(picked.dtype)[:, None]
                found = picked @ belongs * here[:, None, :, None]
                so_far[:] = [so_far[0] + found] if so_far else [found]
        if tape is not None and tape.with_rollout:
            for level, parts in zip(levels, flows, strict=True):
                parts.append(_mixed(tape, level, kind, weights, block, query.shape[2]))
        outs.append(out)
    for level, so_far, parts in zip(levels, masses, flows, strict=True):
        level.masses += so_far
        if parts:
            level.rollout[ENCODER if kind == ENCODER else SELF] = torch.cat(parts, 1)
    if tape is not None and is_read:
        tape.calls += 1
    return torch.cat(outs, 1), None


def _block_mask(
    mask: Tensor | None, block: slice, rows: Tensor, key: Tensor, is_causal: bool
) -> Tensor | None:
    """The additive mask of a block of queries."""
    if mask is None and not is_causal:
        return None
    if mask is None:
        query = torch.arange(block.start, block.start + rows.shape[2], device=rows.device)
        allowed = torch.arange(key.shape[2], device=rows.device) <= query[:, None]
        mask = allowed[None, None]
    else:
        mask = _rows_of(mask, block)[..., : key.shape[2]]
    if mask.dtype == torch.bool:
        hidden = torch.finfo(rows.dtype).min
        return torch.zeros(mask.shape, dtype=rows.dtype, device=rows.device).masked_fill(
            ~mask, hidden
        )
    return mask


def _rows_of(per_query: Tensor, block: slice) -> Tensor:
    return per_query if per_query.shape[2] == 1 else per_query[:, :, block]


def _places(queries: Tensor, start: int, count: int) -> tuple[Tensor, Tensor]:
    """Where the answer's queries are in a block (B,A), and which of them are in it."""
    place = queries - start
    return place.clamp(0, count - 1), (place >= 0) & (place < count)


def _scaled(weights: Tensor, ratio: Tensor, belongs: Tensor) -> Tensor:
    """Scale weights (B,H,A,S) by the ratio of their item (B,H,N), and make them sum to 1 again."""
    per_key = ratio.to(weights.dtype) @ belongs.to(weights.dtype).transpose(1, 2)  # (B,H,S)
    scaled = weights * per_key[:, :, None]
    total = scaled.sum(-1, keepdim=True)
    return torch.where(total > 0, scaled / total.where(total > 0, 1.0), weights)


def _replaced(out: Tensor, weights: Tensor, value: Tensor, at: Tensor, here: Tensor) -> Tensor:
    """The attended sums (B,T,H,D) of a block, with those of the answer's queries computed again."""
    values = value.repeat_interleave(weights.shape[1] // value.shape[1], 1)
    attended = (weights @ values).transpose(1, 2)  # (B,A,H,D)
    example, answer = here.nonzero(as_tuple=True)
    return out.index_put((example, at[example, answer]), attended[example, answer])


def _mixed(
    tape: SourceTape, level: ItemSums, kind: str, weights: Tensor, block: slice, length: int
) -> Tensor:
    """Rollout of a block of queries: half of what they hold, half of what they attend to."""
    mean = weights.mean(1)
    own = tape.flows(level, kind, length)
    if kind == CROSS:
        attended = mean @ level.rollout[ENCODER].to(mean.dtype)
    else:
        attended = mean @ own.to(mean.dtype)
    return (own[:, block].to(mean.dtype) + attended) / 2
