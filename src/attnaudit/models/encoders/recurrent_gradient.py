"""The states of a bidirectional recurrent network with gradients of its inputs only.

PyTorch computes the gradients of the weights in every backward pass of an LSTM, whether or not
they are needed. Here they are not computed, and asking for them is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attnaudit.core.autograd import without_gradient
from attnaudit.models.encoders import gru_steps, lstm_steps
from attnaudit.models.encoders.packed_steps import PackedSteps, packed_steps
from attnaudit.models.encoders.row_product import ROWS, row_product


class Cell(NamedTuple):
    """How a kind of network reads packed items, and passes gradients back; see `lstm_steps`."""

    read: Callable[..., tuple[Tensor, Tensor]]
    back: Callable[..., Tensor | None]
    of_items: Callable[[Sequence[Tensor]], Tensor]


_LSTM = Cell(lstm_steps.read, lstm_steps.back, lstm_steps.of_items)
_GRU = Cell(gru_steps.read, gru_steps.back, gru_steps.of_items)


def cell_of(networks: Sequence[nn.LSTM | nn.GRU]) -> Cell:
    """Return how networks of this kind work."""
    return _LSTM if isinstance(networks[0], nn.LSTM) else _GRU


def states_with_gradient(
    networks: Sequence[nn.LSTM | nn.GRU], embeddings: Tensor, mask: Tensor
) -> Tensor:
    """Encode (B,T,E) to (B,T,2·H), 0 on padding, which must be on the right.

    The result can be differentiated in the embeddings, once. The gradients of the weights raise
    a RuntimeError.
    """
    cell = cell_of(networks)
    weights = [
        without_gradient(weight) for network in networks for weight in network.all_weights[0]
    ]
    return _States.apply(embeddings, mask, cell, *weights)


class _States(torch.autograd.Function):
    """Both directions; weights are four of each network, as PyTorch orders them."""

    @staticmethod
    def forward(ctx: Any, embeddings: Tensor, mask: Tensor, cell: Cell, *weights: Tensor) -> Tensor:
        steps = packed_steps(mask)
        batch, tokens, _ = embeddings.shape
        size = weights[1].shape[1]
        hidden = embeddings.new_zeros(batch * tokens, 2 * size)
        ctx.factors = []
        for direction, half in enumerate(hidden.chunk(2, -1)):
            own = weights[4 * direction : 4 * direction + 4]
            states, factors = cell.read(steps.packed(embeddings, direction), own, steps)
            half.index_copy_(0, steps.places[direction], states[: steps.size])
            ctx.factors.append(factors)
        ctx.steps, ctx.cell, ctx.shape = steps, cell, embeddings.shape
        ctx.save_for_backward(*weights)
        return hidden.view(batch, tokens, 2 * size)

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():
            raise RuntimeError(
                "A recurrent encoder has no second derivatives inside `differentiating`: "
                "differentiate without create_graph=True."
            )
        weights = ctx.saved_tensors
        batch, tokens, size = ctx.shape
        total = slopes[0].new_zeros(batch * tokens, size)
        for direction, half in enumerate(slopes[0].chunk(2, -1)):
            own = weights[4 * direction : 4 * direction + 4]
            packed = ctx.steps.packed(half, direction)
            for rows, part in _item_slopes(
                ctx.cell, ctx.factors[direction], own, packed, ctx.steps
            ):
                total.index_add_(0, ctx.steps.places[direction][rows], part)
        return total.view(ctx.shape), None, None, *[None] * len(weights)


def _item_slopes(
    cell: Cell, factors: Tensor, weights: Sequence[Tensor], slopes: Tensor, steps: PackedSteps
) -> Iterator[tuple[slice, Tensor]]:
    """Yield rows of packed items, and the gradients in them, from those in the states.

    slopes (M + `ROWS`,H) are changed.
    """
    of_state, of_items = weights[1], cell.of_items(weights)
    size = of_state.shape[1]
    widest = max((block.size for block in steps.blocks), default=0)
    terms = slopes.new_empty(widest + ROWS, 4 * size)
    into_items, into_states = terms[:, : len(of_items)], terms[:, -len(of_state) :]
    memory = slopes.new_zeros(max(steps.counts, default=0), size)
    passed = slopes.new_zeros(0, size)
    for block in reversed(steps.blocks):
        for step in reversed(block.steps):
            now = slice(step.start - block.rows.start, step.stop - block.rows.start)
            slope, count = slopes[step], now.stop - now.start
            slope[: len(passed)] += passed
            direct = cell.back(factors[step], slope, memory[:count], terms[now])
            if step.start:
                passed = row_product(into_states, now, of_state.t())
                if direct is not None:
                    passed += direct
        yield block.rows, row_product(into_items, slice(0, block.size), of_items.t())
