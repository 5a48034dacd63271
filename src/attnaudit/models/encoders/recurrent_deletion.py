"""A bidirectional recurrent network without each item.

Going right, the states before the deleted item do not change; going left, those after it do not.
All deletions run through the text in lockstep: at item t, going right, every deletion before t is
a row of one batched step; going left, every deletion after t. Rows are ordered by position, so
these rows are a slice. The input terms W_ih x are computed once for all deletions.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad

from attnaudit.core import memory_budget
from attnaudit.models.encoders import deletion_protocol
from attnaudit.models.encoders.deletion_protocol import Deletions, StateChanges
from attnaudit.models.encoders.lstm_steps import for_one_sigmoid
from attnaudit.models.encoders.recurrent_windows import Direction, Step, window


def recurrent_deletions(
    networks: Sequence[nn.LSTM | nn.GRU], embeddings: Tensor, mask: Tensor, hidden: Tensor
) -> Deletions:
    """Return the state changes under deletion, see `deletion_protocol`.

    networks: one layer going right and one going left; hidden (B,T,2·H) is their output.
    """
    batch, tokens, size = hidden.shape
    right, left = (
        _direction(network, embeddings, mask, states, step)
        for network, states, step in zip(networks, hidden.chunk(2, -1), (1, -1), strict=True)
    )
    items = torch.arange(tokens, device=hidden.device)

    def near(start: int, stop: int) -> StateChanges | None:
        halves = hidden.chunk(2, -1)
        numbers = memory_budget.NUMBERS_AT_ONCE
        after = window(right, halves[0], mask, start, stop, numbers)
        before = window(left, halves[1], mask, start, stop, numbers) if after else None
        if after is None or before is None:
            return None
        end = start + after.states.shape[2]
        states = hidden[:, before.first : end].expand(stop - start, -1, -1, -1).clone()
        states[:, :, start - before.first :, : size // 2] = after.states
        states[:, :, : stop - before.first, size // 2 :] = before.states
        return StateChanges(items[before.first : end].expand(stop - start, -1), states)

    def changed(start: int, stop: int) -> StateChanges:
        after = hidden.expand(stop - start, batch, tokens, size).clone()
        for direction, half in zip((right, left), after.chunk(2, -1), strict=True):
            _recompute(direction, half, start, stop)
        return StateChanges(items.expand(stop - start, tokens), after)

    return near if tokens >= deletion_protocol.LONG_TEXT else changed


def _recompute(direction: Direction, after: Tensor, start: int, stop: int) -> None:
    """Turn the states of the whole text (K,B,T,H) into those under each deletion, in place."""
    tokens, batch, size = direction.state.shape
    count = stop - start
    # The deleted item passes on the state before it.
    deletion = torch.arange(count, device=after.device)
    after[deletion, :, deletion + start] = direction.state[start:stop]
    memory = direction.memory[start:stop].clone()
    buffer = direction.inputs.new_empty(count * batch, direction.inputs.shape[2])
    right = direction.step > 0
    for item in range(start + 1, tokens) if right else range(stop - 2, -1, -1):
        passed = slice(0, item - start) if right else slice(max(item + 1 - start, 0), count)
        rows = after[passed]
        direction.cell(
            direction.inputs[item],
            buffer[: len(rows) * batch],
            rows[:, :, item - direction.step].view(-1, size),
            memory[passed].view(-1, size),
            rows[:, :, item].view(-1, size),
        )


def _direction(
    network: nn.LSTM | nn.GRU, embeddings: Tensor, mask: Tensor, states: Tensor, step: int
) -> Direction:
    """Run a network through the whole text, and keep its state before each item."""
    make = _lstm if isinstance(network, nn.LSTM) else _gru
    cell, inputs = make(network.hidden_size, network.all_weights[0], embeddings.transpose(0, 1))
    # Shifted by one, so that each item has the state before it; the initial state is 0.
    shifted = pad(states, (0, 0, 1, 0))[:, :-1] if step > 0 else pad(states, (0, 0, 0, 1))[:, 1:]
    state = shifted.transpose(0, 1).contiguous()
    memory = torch.zeros_like(state)
    if isinstance(network, nn.LSTM):  # the states are known, the memory is not
        now = memory[0].clone()
        buffer, unused = torch.empty_like(inputs[0]), torch.empty_like(memory[0])
        for item in range(len(state))[::step]:
            memory[item] = now
            cell(inputs[item], buffer, state[item], now, unused)
            now *= mask[:, item, None]  # going left, padding comes first and must have no effect
    return Direction(cell, inputs, state, memory, step)


def _lstm(_: int, weights: Sequence[Tensor], embeddings: Tensor) -> tuple[Step, Tensor]:
    """Return the step of an LSTM, and the input terms of every item (T,B,4·H)."""
    of_item, of_state, bias = for_one_sigmoid(weights)
    recurrent = of_state.t().contiguous()
    inputs = linear(embeddings, of_item, bias)

    def step(inputs: Tensor, buffer: Tensor, before: Tensor, memory: Tensor, after: Tensor) -> None:
        buffer.view(-1, *inputs.shape).copy_(inputs)
        buffer.addmm_(before, recurrent)
        enter, keep, cell, leave = buffer.sigmoid_().chunk(4, -1)
        memory.mul_(keep).addcmul_(enter, cell.mul_(2.0).sub_(1.0))
        torch.mul(memory, 2.0, out=cell).sigmoid_().mul_(2.0).sub_(1.0)
        torch.mul(cell, leave, out=after)

    return step, inputs


def _gru(size: int, weights: Sequence[Tensor], embeddings: Tensor) -> tuple[Step, Tensor]:
    """Return the step of a GRU, and the input terms of every item (T,B,3·H)."""
    of_item, of_state, bias_of_item, bias_of_state = weights
    recurrent = of_state.t().contiguous()
    inputs = linear(embeddings, of_item, bias_of_item)

    def step(inputs: Tensor, buffer: Tensor, before: Tensor, memory: Tensor, after: Tensor) -> None:
        torch.addmm(bias_of_state, before, recurrent, out=buffer)
        parts = buffer.view(-1, *inputs.shape)
        parts[..., : 2 * size].add_(inputs[:, : 2 * size]).sigmoid_()
        reset, keep, new = buffer.chunk(3, -1)
        new.mul_(reset)  # the reset gate acts on the state, not on the input
        parts[..., 2 * size :].add_(inputs[:, 2 * size :]).tanh_()
        torch.lerp(new, before, keep, out=after)

    return step, inputs
