"""The steps of a GRU through packed texts, forwards and backwards; see `lstm_steps`.

With gates r and z and m = W h' + b, the candidates are n = tanh(W x + b + r m) and the state
h = (1 - z) n + z h'.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from attnaudit.models.encoders.packed_steps import PackedSteps
from attnaudit.models.encoders.row_product import row_product


def read(items: Tensor, weights: Sequence[Tensor], steps: PackedSteps) -> tuple[Tensor, Tensor]:
    """Return the states (M + `ROWS`,H) of packed items (M + `ROWS`,E), and the factors of `back`.

    The factors are (M,5·H): ∂h/∂n, ∂h/∂r, ∂h/∂z, ∂h/∂m, where n, r and z are before their sigmoid
    or tanh; and z.
    """
    of_item, of_state, bias_of_item, bias_of_state = weights
    size = of_state.shape[1]
    states = items.new_empty(len(items), size)
    factors = items.new_empty(steps.size, 5 * size)
    state = items.new_zeros(max(steps.counts, default=0), size)
    minus_one = items.new_tensor(-1.0)
    before: slice | None = None
    for block in steps.blocks:
        inputs = row_product(items, block.rows, of_item, bias_of_item)
        mixed = inputs.new_empty(block.size, size)
        earlier = torch.empty_like(mixed)
        for step in block.steps:
            now = slice(step.start - block.rows.start, step.stop - block.rows.start)
            count = now.stop - now.start
            of_before = bias_of_state.expand(count, -1)
            if before is not None:
                before = slice(before.start, before.start + count)
                of_before = row_product(states, before, of_state, bias_of_state)
            gates, new = inputs[now, : 2 * size], inputs[now, 2 * size :]
            reset, keep = gates.add_(of_before[:, : 2 * size]).sigmoid_().chunk(2, -1)
            mixed[now], earlier[now] = of_before[:, 2 * size :], state[:count]
            new.addcmul_(reset, mixed[now])
            torch.add(new, new, out=new).sigmoid_()
            torch.add(minus_one, new, alpha=2.0, out=new)
            state = torch.lerp(new, earlier[now], keep, out=states[step])
            before = step
        _factors(inputs, mixed, earlier, factors[block.rows])
    return states, factors


def _factors(gates: Tensor, mixed: Tensor, earlier: Tensor, out: Tensor) -> None:
    """Write the factors (n,5·H) of `read` from r, z, n (n,3·H), m and h' (n,H)."""
    reset, keep, new = gates.chunk(3, -1)
    by_new, by_reset, by_keep, by_mixed, passed = out.chunk(5, -1)
    torch.mul(1 - keep, 1 - new * new, out=by_new)
    torch.mul(by_new, reset, out=by_mixed)
    torch.mul(by_mixed, mixed, out=by_reset).mul_(1 - reset)
    torch.mul(earlier - new, keep, out=by_keep).mul_(1 - keep)
    passed.copy_(keep)


def back(factors: Tensor, slope: Tensor, memory: Tensor, terms: Tensor) -> Tensor:
    """Pass gradients back through one step of n texts.

    Parameters
    ----------
    factors : Tensor, (n,5·H)
        Of `read`.
    slope : Tensor, (…,n,H)
        The gradient in the state.
    memory : Tensor
        Not used: a GRU has none.
    terms : Tensor, (…,n,4·H)
        Filled with the gradients in n, r, z and m.

    Returns
    -------
    Tensor, (…,n,H)
        The gradient in the state before, by the way of z h' alone.
    """
    size = slope.shape[-1]
    parts = (4, size)
    by_state, passed = factors[:, : 4 * size].unflatten(-1, parts), factors[:, 4 * size :]
    torch.mul(slope.unsqueeze(-2), by_state, out=terms.unflatten(-1, parts))
    return slope * passed


def of_items(weights: Sequence[Tensor]) -> Tensor:
    """Return the weights (3·H,E) by which the first 3·H `terms` give the gradients in the items."""
    return weights[0].roll(weights[1].shape[1], 0)
