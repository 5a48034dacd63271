"""What the checks of the laws share: differences of tensors, and how a model can fail."""

from __future__ import annotations

import math

from torch import Tensor

from attnaudit.core.contract import Record

# How a model can fail on input it does not expect.
FAILURES = (RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError)


def difference(a: Tensor, b: Tensor) -> float:
    """The largest absolute difference."""
    return (a - b).abs().max().item() if a.numel() else 0.0


def largest(*errors: float) -> float:
    """The largest, or NaN if any is NaN, which Python's max may ignore."""
    return math.nan if any(math.isnan(error) for error in errors) else max(errors)


def attention_difference(record: Record, row: int, bare: Record) -> float:
    """The largest difference between attention weights of one text, wherever its padding is.

    Parameters
    ----------
    record : with the text in this row.
    bare : whose first text is the same without padding.

    Returns
    -------
    Infinity if the weights are not over the same items.
    """
    inside, bare_inside = (each[at] for each, at in ((record.mask, row), (bare.mask, 0)))
    of_items, of_bare = record.alpha[row][inside], bare.alpha[0][bare_inside]
    if of_items.shape == of_bare.shape:
        return difference(of_items, of_bare)
    same = record.alpha[row, : bare.alpha.shape[1], : bare.alpha.shape[2]]
    return difference(same, bare.alpha[0]) if same.shape == bare.alpha.shape[1:] else math.inf
