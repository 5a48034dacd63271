"""Products of many rows with one matrix, by oneDNN where it is faster."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import linear

from attnaudit.core.onednn import product_for

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
    multiply = product_for(values) if count > 0 else None
    if multiply is not None:
        more = values[rows.start : rows.start + few_counts(count)]
        return multiply(more, weight, bias)[:count]
    return linear(values[rows], weight, bias)


def few_counts(count: int) -> int:
    """At least as many rows: a multiple of `ROWS`, and one of 16 numbers up to every doubling."""
    step = spare_rows(count)
    return -(-count // step) * step


def spare_rows(count: int) -> int:
    """How many rows should follow those that are multiplied, if there are up to `count`."""
    return max(ROWS, 1 << max(0, count.bit_length() - 5))
