"""A bidirectional recurrent network without each item: going right, the states before a deletion stay; going left, those after it.

All deletions go through the text in lockstep. At item t, going right, every deletion before t is some rows of one batched step, and
going left every deletion after t. Rows are in the order of their places, so that those are a slice. What an item brings
in, W_ih x, is computed once for all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad

from attnaudit.models.encoders.incremental_deletion import Changed, Deletions

# step(brought in (B,G), room to work in (K·B,G), state (K·B,H), memory (K·B,H) changed in place, new state (K·B,H) written)
_Step = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], None]


def recurrent_deletions(
    networks: Sequence[nn.LSTM | nn.GRU], embeddings: Tensor, mask: Tensor, hidden: Tensor
) -> Deletions:
    """networks: the one going right and the one going left, of one layer; hidden (B,T,2·H) of both, 0 on padding."""
    batch, tokens, size = hidden.shape
    right, left = (
        _direction(network, embeddings, mask, states, by)
        for network, states, by in zip(networks, hidden.chunk(2, -1), (1, -1), strict=True)
    )
    items = torch.arange(tokens, device=hidden.device)

    def changed(start: int, stop: int) -> Changed:
        after = hidden.expand(stop - start, batch, tokens, size).clone()
        for direction, half in zip((right, left), after.chunk(2, -1), strict=True):
            direction.redo(half, start, stop)
        return Changed(items.expand(stop - start, tokens), after)

    return changed


@dataclass(frozen=True)
class _Direction:
    """One network on its way through the undisturbed text."""

    step: _Step
    brought: Tensor  # (T,B,G)
    state: Tensor  # (T,B,H), in which it comes to each item
    memory: Tensor  # (T,B,H) likewise
    by: int  # 1 to the right, -1 to the left

    def redo(self, after: Tensor, start: int, stop: int) -> None:
        """after (K,B,T,H), the undisturbed states, becomes those without the items from start to stop."""
        tokens, batch, size = self.state.shape
        count = stop - start
        # The gap hands on the state it was given.
        deletion = torch.arange(count, device=after.device)
        after[deletion, :, deletion + start] = self.state[start:stop]
        memory = self.memory[start:stop].clone()
        room = self.brought.new_empty(count * batch, self.brought.shape[2])
        path = range(start + 1, tokens) if self.by > 0 else range(stop - 2, -1, -1)
        for item in path:
            passed = (
                slice(0, item - start) if self.by > 0 else slice(max(item + 1 - start, 0), count)
            )
            rows = after[passed]
            self.step(
                self.brought[item],
                room[: len(rows) * batch],
                rows[:, :, item - self.by].view(-1, size),
                memory[passed].view(-1, size),
                rows[:, :, item].view(-1, size),
            )


def _direction(
    network: nn.LSTM | nn.GRU, embeddings: Tensor, mask: Tensor, states: Tensor, by: int
) -> _Direction:
    cell = _lstm if isinstance(network, nn.LSTM) else _gru
    step, brought = cell(network.hidden_size, network.all_weights[0], embeddings.transpose(0, 1))
    # Shifted by one, so that each item has the state before it; at the beginning it is 0.
    shifted = pad(states, (0, 0, 1, 0))[:, :-1] if by > 0 else pad(states, (0, 0, 0, 1))[:, 1:]
    state = shifted.transpose(0, 1).contiguous()
    memory = torch.zeros_like(state)
    if isinstance(network, nn.LSTM):  # the states are known, the memory is not
        now, room, unused = (
            memory[0].clone(),
            torch.empty_like(brought[0]),
            torch.empty_like(memory[0]),
        )
        for item in range(len(state))[::by]:
            memory[item] = now
            step(brought[item], room, state[item], now, unused)
            now *= mask[:, item, None]  # going left, padding comes first and must leave no trace
    return _Direction(step, brought, state, memory, by)


def _lstm(size: int, weights: Sequence[Tensor], embeddings: Tensor) -> tuple[_Step, Tensor]:
    of_item, of_state, bias_of_item, bias_of_state = weights
    # Input, forget and output gate side by side, for one sigmoid; torch has them as input, forget, cell, output.
    order = torch.arange(4 * size, device=embeddings.device).view(4, size)[[0, 1, 3, 2]].flatten()
    recurrent = of_state[order].t().contiguous()
    brought = linear(embeddings, of_item[order], (bias_of_item + bias_of_state)[order])

    def step(brought: Tensor, room: Tensor, before: Tensor, memory: Tensor, after: Tensor) -> None:
        room.view(-1, *brought.shape).copy_(brought)
        room.addmm_(before, recurrent)
        gates, cell = room[:, : 3 * size].sigmoid_(), room[:, 3 * size :].tanh_()
        enter, keep, leave = gates.chunk(3, -1)
        memory.mul_(keep).addcmul_(enter, cell)
        torch.mul(torch.tanh(memory, out=cell), leave, out=after)

    return step, brought


def _gru(size: int, weights: Sequence[Tensor], embeddings: Tensor) -> tuple[_Step, Tensor]:
    of_item, of_state, bias_of_item, bias_of_state = weights
    recurrent = of_state.t().contiguous()
    brought = linear(embeddings, of_item, bias_of_item)

    def step(brought: Tensor, room: Tensor, before: Tensor, memory: Tensor, after: Tensor) -> None:
        torch.addmm(bias_of_state, before, recurrent, out=room)
        parts = room.view(-1, *brought.shape)
        parts[..., : 2 * size].add_(brought[:, : 2 * size]).sigmoid_()
        reset, keep, new = room.chunk(3, -1)
        new.mul_(reset)  # the reset gate acts on what was, not on what comes in
        parts[..., 2 * size :].add_(brought[:, 2 * size :]).tanh_()
        torch.lerp(new, before, keep, out=after)

    return step, brought
