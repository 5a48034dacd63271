"""The steps of an LSTM through packed texts, forwards and backwards.

With gates i, f, o and candidates g, the memory is c = f c' + i g and the state h = o tanh(c). The
gradient passes a step by products with numbers that are known when the step has been read: these
factors are all that is kept, so that any number of gradients can be passed back cheaply.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from attnaudit.models.encoders.packed_steps import PackedSteps
from attnaudit.models.encoders.row_product import row_product


def for_one_sigmoid(weights: Sequence[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """Return the weights of items (4·H,E) and states (4·H,H) and the bias (4·H,), g doubled.

    As tanh(x) is 2σ(2x) - 1 and PyTorch computes σ several times as fast, one sigmoid then serves
    all four gates, in PyTorch's order: i, f, g, o.
    """
    of_item, of_state, bias_of_item, bias_of_state = weights
    size = of_state.shape[1]
    scale = torch.ones(4 * size, 1, dtype=of_state.dtype, device=of_state.device)
    scale[2 * size : 3 * size] = 2.0
    return of_item * scale, of_state * scale, (bias_of_item + bias_of_state) * scale[:, 0]


def read(items: Tensor, weights: Sequence[Tensor], steps: PackedSteps) -> tuple[Tensor, Tensor]:
    """Return the states (M + `ROWS`,H) of packed items (M + `ROWS`,E), and the factors of `back`.

    The factors are (M,6·H): ∂c/∂i, ∂c/∂f, ∂c/∂g, ∂h/∂o, ∂h/∂c, ∂c/∂c', where i, f, g and o are
    before their sigmoid or tanh.
    """
    of_item, of_state, bias = for_one_sigmoid(weights)
    size = of_state.shape[1]
    states = items.new_empty(len(items), size)
    factors = items.new_empty(steps.size, 6 * size)
    memory = items.new_zeros(max(steps.counts, default=0), size)
    minus_one = items.new_tensor(-1.0)
    before: slice | None = None
    for block in steps.blocks:
        gates = row_product(items, block.rows, of_item, bias)
        kept, all_memory, activated = gates.new_empty(3, block.size, size).unbind()
        for step in block.steps:
            now = slice(step.start - block.rows.start, step.stop - block.rows.start)
            count = now.stop - now.start
            if before is not None:
                before = slice(before.start, before.start + count)
                gates[now] += row_product(states, before, of_state)
            enter, keep, cell, leave = gates[now].sigmoid_().chunk(4, -1)
            torch.add(minus_one, cell, alpha=2.0, out=cell)
            torch.mul(keep, memory[:count], out=kept[now])
            memory = torch.addcmul(kept[now], enter, cell, out=all_memory[now])
            doubled = torch.add(memory, memory, out=activated[now]).sigmoid_()
            torch.add(minus_one, doubled, alpha=2.0, out=doubled)
            torch.mul(doubled, leave, out=states[step])
            before = step
        _factors(gates, kept, activated, states[block.rows], factors[block.rows])
    return states, factors


def _factors(gates: Tensor, kept: Tensor, activated: Tensor, state: Tensor, out: Tensor) -> None:
    """Write the factors (n,6·H) of `read` from i, f, g, o (n,4·H), f c', tanh(c) and h (n,H)."""
    enter, keep, cell, leave = gates.chunk(4, -1)
    by_enter, by_keep, by_cell, by_leave, by_memory, passed = out.chunk(6, -1)
    entered = enter * cell
    torch.addcmul(entered, entered, enter, value=-1, out=by_enter)
    torch.addcmul(kept, kept, keep, value=-1, out=by_keep)
    torch.addcmul(enter, entered, cell, value=-1, out=by_cell)
    torch.addcmul(state, state, leave, value=-1, out=by_leave)
    torch.addcmul(leave, state, activated, value=-1, out=by_memory)
    passed.copy_(keep)


def back(factors: Tensor, slope: Tensor, memory: Tensor, terms: Tensor) -> None:
    """Pass gradients back through one step of n texts.

    Parameters
    ----------
    factors : Tensor, (n,6·H)
        Of `read`.
    slope : Tensor, (…,n,H)
        The gradient in the state.
    memory : Tensor, (…,n,H)
        The gradient in the memory after the step; changed to that before it.
    terms : Tensor, (…,n,4·H)
        Filled with the gradients in i, f, g and o.
    """
    size = slope.shape[-1]
    by_leave, by_memory, passed = factors[:, 3 * size :].chunk(3, -1)
    memory.addcmul_(slope, by_memory)
    parts = terms.unflatten(-1, (4, size))
    entering = factors[:, : 3 * size].unflatten(-1, (3, size))
    torch.mul(memory.unsqueeze(-2), entering, out=parts[..., :3, :])
    torch.mul(slope, by_leave, out=parts[..., 3, :])
    memory.mul_(passed)


def of_items(weights: Sequence[Tensor]) -> Tensor:
    """Return the weights (4·H,E) by which `terms` give the gradients in the items."""
    return weights[0]
