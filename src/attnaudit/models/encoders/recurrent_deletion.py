"""A bidirectional recurrent network without each item.

Going right, the states before the deleted item do not change; going left, those after it do not.
All deletions run through the text in lockstep: at item t, going right, every deletion before t is
a row of one batched step; going left, every deletion after t. Rows are ordered by position, so
these rows are a slice. The input terms W_ih x are computed once for all deletions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from attnaudit.core import memory_budget
from attnaudit.models.encoders import deletion_protocol
from attnaudit.models.encoders.deletion_protocol import PassedStates, StateChanges
from attnaudit.models.encoders.recurrent_direction import Direction, make_direction
from attnaudit.models.encoders.recurrent_windows import window


class RecurrentDeletions:
    """The state changes under deletion, see `deletion_protocol`.

    Parameters
    ----------
    networks : two nn.LSTM or nn.GRU
        One layer going right and one going left.
    embeddings : Tensor, (B,T,E)
    mask : Tensor, (B,T) bool
    hidden : Tensor, (B,T,2·H)
        Their output.
    """

    def __init__(
        self, networks: Sequence[nn.LSTM | nn.GRU], embeddings: Tensor, mask: Tensor, hidden: Tensor
    ) -> None:
        self.mask, self.hidden = mask, hidden
        self.directions = [
            make_direction(network, embeddings, mask, states, step)
            for network, states, step in zip(networks, hidden.chunk(2, -1), (1, -1), strict=True)
        ]

    def __call__(self, start: int, stop: int) -> StateChanges | None:
        """Return the states that deleting each item of a range changes."""
        long = self.hidden.shape[1] >= deletion_protocol.LONG_TEXT
        return self._near(start, stop) if long else self._everywhere(start, stop)

    def passing(self, start: int, stop: int) -> Iterator[PassedStates] | None:
        """Return the same item by item, each direction by itself; None for long texts."""
        if self.hidden.shape[1] >= deletion_protocol.LONG_TEXT:
            return None
        return (
            states
            for half, direction in enumerate(self.directions)
            for states in _passing(direction, half, start, stop)
        )

    def _everywhere(self, start: int, stop: int) -> StateChanges:
        batch, tokens, size = self.hidden.shape
        after = self.hidden.expand(stop - start, batch, tokens, size).clone()
        halves = after.chunk(2, -1)
        for half, direction in enumerate(self.directions):
            for new in _passing(direction, half, start, stop):
                halves[half][new.deletions, :, new.item] = new.states[new.rows].view(
                    -1, batch, size // 2
                )
        items = torch.arange(tokens, device=after.device)
        return StateChanges(items.expand(stop - start, tokens), after)

    def _near(self, start: int, stop: int) -> StateChanges | None:
        halves = self.hidden.chunk(2, -1)
        size = halves[0].shape[-1]
        right, left = self.directions
        numbers = memory_budget.NUMBERS_AT_ONCE
        after = window(right, halves[0], self.mask, start, stop, numbers)
        before = window(left, halves[1], self.mask, start, stop, numbers) if after else None
        if after is None or before is None:
            return None
        end = start + after.states.shape[2]
        states = self.hidden[:, before.first : end].expand(stop - start, -1, -1, -1).clone()
        states[:, :, start - before.first :, :size] = after.states
        states[:, :, : stop - before.first, size:] = before.states
        items = torch.arange(before.first, end, device=states.device)
        return StateChanges(items.expand(stop - start, -1), states)


def _passing(direction: Direction, half: int, start: int, stop: int) -> Iterator[PassedStates]:
    """Go through the text in one direction without each item from `start` to `stop`."""
    tokens, batch, _ = direction.state.shape
    count = stop - start
    states, memories = direction.empty_rows(count)
    right = direction.step > 0
    for item in range(start, tokens) if right else range(stop - 1, -1, -1):
        first, last = (0, min(item - start, count)) if right else (max(item + 1 - start, 0), count)
        if first < last:
            rows = slice(first * batch, last * batch)
            direction.cell(direction.inputs[item], states, memories, rows)
            yield PassedStates(item, half, slice(first, last), states, rows)
        if start <= item < stop:  # it passes on the state before it
            rows = slice((item - start) * batch, (item - start + 1) * batch)
            states[rows], memories[rows] = direction.state[item], direction.memory[item]
