"""The query positions and the items of a hooked model's attention, in a batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attnaudit.core.contract import Batch
from attnaudit.core.errors import InputError
from attnaudit.models.hooked.passes import HookOptions
from attnaudit.models.interception import (
    last_position,
    position_by_rule,
)

Rule = str | int | Callable[[Batch], Tensor]
RULES = ("first", "last", "all")


@dataclass(frozen=True, eq=False)
class HookSite:
    """How the attention is reached, and at which query positions it is audited."""

    access: str  # "multihead", "returned" or "softmax"
    rows_are_positions: bool  # the R of (B,R,N) are query positions, not heads
    positions_are_items: bool  # there is one query position per item
    rule: Rule  # the query position
    is_certain: bool  # the batch was long enough to determine all this


def positions_of(
    rule: Any, batch: Batch, queries: int, num_prefix_tokens: int, positions_are_items: bool
) -> Tensor:
    """Return the query positions of each example (B,P): one, or all for the rule "all".

    In a text that is too short for a numbered position, the nearest one is used.
    """
    if rule == "all" or queries == 1:
        return torch.arange(queries, device=batch.mask.device).expand(len(batch), queries)
    end = last_token(batch)
    last = end + num_prefix_tokens if positions_are_items else torch.full_like(end, queries - 1)
    if isinstance(rule, (str, int)):
        return position_by_rule(rule, last)[:, None]
    positions = rule(batch)
    if (
        not isinstance(positions, Tensor)
        or positions.shape != last.shape
        or bool(((positions < 0) | (positions >= queries)).any())
    ):
        raise InputError(
            f"query= must return one position from 0 to {queries - 1} per example, a tensor of "
            f"shape ({len(batch)},)."
        )
    return positions[:, None]


def items_of(options: HookOptions, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return which items may be attended, and which of these are content (B,N) each.

    Tokens that the model puts before the text are not content.
    """
    prefix = _prefix(options, batch)
    allowed = torch.cat([prefix, batch.mask], 1) if options.mask is None else options.mask(batch)
    shape = (len(batch), options.num_prefix_tokens + batch.tokens.shape[1])
    if allowed.shape != shape or allowed.dtype != torch.bool:
        raise InputError(
            f"mask= must return a bool tensor of shape (B,N) = {shape}, True where an item may be "
            f"attended; got {tuple(allowed.shape)}, {allowed.dtype}."
        )
    return allowed, allowed & torch.cat([~prefix, batch.mask], 1)


def real_positions(site: HookSite, options: HookOptions, batch: Batch, positions: Tensor) -> Tensor:
    """Return which query positions (B,P) are not padding."""
    if not site.positions_are_items:
        return torch.ones_like(positions, dtype=torch.bool)
    return torch.cat([_prefix(options, batch), batch.mask], 1).gather(1, positions)


def _prefix(options: HookOptions, batch: Batch) -> Tensor:
    """Return the mask of the tokens that the model puts before the text: all True."""
    return torch.ones(
        len(batch), options.num_prefix_tokens, dtype=torch.bool, device=batch.mask.device
    )


def last_token(batch: Batch) -> Tensor:
    """Return the position of the last real token of each text (B,); 0 in an empty text."""
    return last_position(batch.mask).clamp_min(0)
