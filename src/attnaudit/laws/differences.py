"""What the checks of the laws share: differences of tensors, and how a model can fail."""

from __future__ import annotations

import math

from torch import Tensor

# How a model can fail on input it does not expect.
FAILURES = (RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError)


def difference(a: Tensor, b: Tensor) -> float:
    """The largest absolute difference."""
    return (a - b).abs().max().item() if a.numel() else 0.0


def largest(*errors: float) -> float:
    """The largest, or NaN if any is NaN, which Python's max may ignore."""
    return math.nan if any(math.isnan(error) for error in errors) else max(errors)
