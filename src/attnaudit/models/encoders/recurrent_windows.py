"""A recurrent network without each item of a long text: only until the deletion is forgotten.

After a deletion the states differ from those of the whole text, and the difference fades unless
the network remembers it. Some deletions run in lockstep, together with the whole text as a row of
its own, which rounds as they do. Where all rows agree with it up to rounding, the states beyond
are those of the whole text. So N deletions cost N times the length of the memory, not N·N.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnaudit.models.encoders.recurrent_direction import Direction

_ITEMS = 64  # between two comparisons with the whole text
_ROUNDING = 4  # machine epsilons: closer states are equal


@dataclass(frozen=True)
class Window:
    """The states (K,B,W,H) of W items from `first` on, without each of K items."""

    first: int
    states: Tensor


def window(
    direction: Direction, states: Tensor, mask: Tensor, start: int, stop: int, numbers: int
) -> Window | None:
    """Return the states that change without each of the items from `start` to `stop`.

    Parameters
    ----------
    direction : Direction
        The network, with its input terms and its states before each item.
    states : Tensor, (B,T,H)
        Its states in the whole text.
    mask : Tensor, (B,T) bool
    numbers : int
        Of states held, at most; with more, and several deletions, the result is None.
    """
    batch, tokens, size = states.shape
    count, step = stop - start, direction.step
    begin, end = (start, tokens) if step > 0 else (stop - 1, -1)
    # Row 0 is the whole text; then the deletions, in the order in which the path meets them.
    rows_of_state, rows_of_memory = direction.empty_rows((count + 1) * batch)
    now, memory = (
        rows[: (count + 1) * batch].view(count + 1, batch, size)
        for rows in (rows_of_state, rows_of_memory)
    )
    now[:], memory[:] = direction.state[begin], direction.memory[begin]
    padded = (~mask).any(0).tolist()
    pieces: list[Tensor] = []
    for item in range(begin, end, step):
        met = abs(item - begin)
        if met % _ITEMS == 0:
            if met > count and _agree(now, memory):
                break
            if count > 1 and (met + _ITEMS) * now.numel() > numbers:
                return None
            part = (
                states[:, item : item + _ITEMS] if step > 0 else states[:, : item + 1][:, -_ITEMS:]
            )
            pieces.append(part.expand(count, *part.shape).clone())
        if met < count:  # deleted in this row: the state before it is passed on
            now[met + 1], memory[met + 1] = now[0], memory[0]
        active = min(met, count) + 1
        active_rows = slice(0, active * batch)
        direction.cell(direction.inputs[item], rows_of_state, rows_of_memory, active_rows)
        if padded[item]:  # going left, padding comes first and must have no effect
            now[:active] *= mask[:, item, None]
            memory[:active] *= mask[:, item, None]
        place = met % _ITEMS if step > 0 else -1 - met % _ITEMS
        pieces[-1][: active - 1, :, place] = now[1:active]
    if step > 0:
        return Window(start, torch.cat(pieces, 2))
    changed = torch.cat(pieces[::-1], 2).flip(0)
    return Window(stop - changed.shape[2], changed)


def _agree(now: Tensor, memory: Tensor) -> bool:
    """Return whether all rows (K+1,B,H) have the state of row 0, up to rounding."""
    rounding = _ROUNDING * torch.finfo(now.dtype).eps
    same_state = (now[1:] - now[:1]).abs().amax() <= rounding
    same_memory = ((memory[1:] - memory[:1]).abs() <= rounding * (1 + memory[:1].abs())).all()
    return bool(same_state & same_memory)
