"""One recurrent network in the whole text: its states, and the step from one to the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from attnaudit.models.encoders.lstm_steps import for_one_sigmoid
from attnaudit.models.encoders.row_product import row_product, spare_rows

# step(input terms (n,G), states (M,H), memories (M,H), rows): these rows of states and memories, n
# or a multiple of it, are replaced by those after an item. `spare_rows` may follow.
Step = Callable[[Tensor, Tensor, Tensor, slice], None]


@dataclass(frozen=True)
class Direction:
    """One network in the whole text."""

    cell: Step
    inputs: Tensor  # (T,B,G) input terms
    state: Tensor  # (T,B,H) before each item
    memory: Tensor  # (T,B,H) before each item
    step: int  # 1 to the right, -1 to the left

    def empty_rows(self, count: int) -> tuple[Tensor, Tensor]:
        """States and memories of `count` rows, and of `spare_rows` more, all 0."""
        size = self.state.shape[-1]
        states, memories = self.state.new_zeros(2, count + spare_rows(count), size).unbind()
        return states, memories


def make_direction(
    network: nn.LSTM | nn.GRU, embeddings: Tensor, mask: Tensor, states: Tensor, step: int
) -> Direction:
    """Run a network through the whole text, and keep what it has before each item.

    Parameters
    ----------
    network : nn.LSTM or nn.GRU
        Of one layer and one direction.
    embeddings : Tensor, (B,T,E)
    mask : Tensor, (B,T) bool
    states : Tensor, (B,T,H)
        The output of the network.
    step : int
        1 if it goes to the right, -1 to the left.
    """
    make = _lstm if isinstance(network, nn.LSTM) else _gru
    cell, of_item, bias = make(network.hidden_size, network.all_weights[0])
    items = embeddings.transpose(0, 1).flatten(0, 1)
    inputs = row_product(items, slice(0, len(items)), of_item, bias)
    inputs = inputs.view(*embeddings.shape[1::-1], -1)
    # Shifted by one, so that each item has the state before it; the initial state is 0.
    shifted = pad(states, (0, 0, 1, 0))[:, :-1] if step > 0 else pad(states, (0, 0, 0, 1))[:, 1:]
    state = shifted.transpose(0, 1).contiguous()
    memory = torch.zeros_like(state)
    if isinstance(network, nn.LSTM):  # the states are known, the memory is not
        now = memory[0].clone()
        for item in range(len(state))[::step]:
            memory[item] = now
            cell(inputs[item], state[item].clone(), now, slice(0, len(now)))
            now *= mask[:, item, None]  # going left, padding comes first and must have no effect
    return Direction(cell, inputs, state, memory, step)


def _lstm(_: int, weights: Sequence[Tensor]) -> tuple[Step, Tensor, Tensor]:
    """Return the step of an LSTM, and the weights (4·H,E) and bias of its input terms."""
    of_item, of_state, bias = for_one_sigmoid(weights)
    minus_one = bias.new_tensor(-1.0)

    def step(inputs: Tensor, states: Tensor, memories: Tensor, rows: slice) -> None:
        gates = row_product(states, rows, of_state)
        gates.view(-1, *inputs.shape).add_(inputs)
        enter, keep, cell, leave = gates.sigmoid_().chunk(4, -1)
        torch.add(minus_one, cell, alpha=2.0, out=cell)
        memory = memories[rows].mul_(keep).addcmul_(enter, cell)
        doubled = torch.add(memory, memory, out=cell).sigmoid_()
        torch.add(minus_one, doubled, alpha=2.0, out=doubled)
        torch.mul(doubled, leave, out=states[rows])

    return step, of_item, bias


def _gru(size: int, weights: Sequence[Tensor]) -> tuple[Step, Tensor, Tensor]:
    """Return the step of a GRU, and the weights (3·H,E) and bias of its input terms."""
    of_item, of_state, bias_of_item, bias_of_state = weights

    def step(inputs: Tensor, states: Tensor, memories: Tensor, rows: slice) -> None:
        gates = row_product(states, rows, of_state, bias_of_state)
        parts = gates.view(-1, *inputs.shape)
        parts[..., : 2 * size].add_(inputs[:, : 2 * size]).sigmoid_()
        reset, keep, new = gates.chunk(3, -1)
        new.mul_(reset)  # the reset gate acts on the state, not on the input
        parts[..., 2 * size :].add_(inputs[:, 2 * size :]).tanh_()
        torch.lerp(new, states[rows], keep, out=states[rows])

    return step, of_item, bias_of_item
