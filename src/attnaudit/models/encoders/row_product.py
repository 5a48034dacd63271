"""Products of many rows with one matrix.

In float32 on a CPU, oneDNN multiplies twice as fast on some processors as the library behind
`torch.mm` (230 and 115·10⁹ operations per second on an AMD EPYC), and as fast on others.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor
from torch.nn.functional import linear

# oneDNN prepares itself for each number of rows, which takes as long as multiplying some hundred
# rows: so there are few different numbers.
ROWS = 32


def row_product(values: Tensor, rows: slice, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return values[rows] @ weight.T + bias, without gradients.

    Parameters
    ----------
    values : Tensor, (M,K)
        Rows after the wanted ones may be multiplied as well, and are left out of the result: it
        pays if there are at least `ROWS` - 1 of them.
    rows : slice
        From its start to its stop.
    weight : Tensor, (N,K)
    bias : Tensor, (N,), optional

    Returns
    -------
    Tensor, (M',N)
        M' rows.
    """
    count = rows.stop - rows.start
    if values.dtype == torch.float32 and values.device.type == "cpu" and count > 0:
        multiply = _by_onednn() if torch.backends.mkldnn.enabled else None
        if multiply is not None:
            more = values[rows.start : rows.start + -(-count // ROWS) * ROWS]
            return multiply(more, weight, bias)[:count]
    return linear(values[rows], weight, bias)


@cache
def _by_onednn() -> Callable[[Tensor, Tensor, Tensor | None], Tensor] | None:
    """Return oneDNN's product if this PyTorch has it, as called here, and it is right."""

    def multiply(rows: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        # What torch.compile makes of nn.Linear; not a documented name, hence the try below.
        return torch.ops.mkldnn._linear_pointwise(rows, weight, bias, "none", [], "")

    rows, weight = torch.arange(64.0 * 24).view(64, 24).sin(), torch.arange(24.0 * 40).view(24, 40)
    try:
        found = [multiply(rows, weight.t()), multiply(rows, weight.t().contiguous())]
    except (AttributeError, RuntimeError, TypeError, NotImplementedError):
        return None
    expected = rows.double() @ weight.double()
    close = all(torch.allclose(each.double(), expected, rtol=1e-4, atol=1e-1) for each in found)
    return multiply if close else None
