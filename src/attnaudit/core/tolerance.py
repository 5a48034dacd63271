"""How much two results of the same computation may differ."""

from __future__ import annotations

import torch
from torch import Tensor


def tolerance_of(values: Tensor) -> float:
    """The largest difference that rounding explains.

    1e-10 in float64. In float32 1e-5, in half precision eight rounding errors, both relative to
    the largest value (or to 1 if that is larger).
    """
    if values.dtype == torch.float64:
        return relative_tolerance(values.dtype)
    largest = values.detach().abs().nan_to_num(0.0).max().item() if values.numel() else 1.0
    return relative_tolerance(values.dtype) * max(1.0, largest)


def relative_tolerance(dtype: torch.dtype) -> float:
    """The same for a value of size 1, computed in this type."""
    if dtype == torch.float64:
        return 1e-10
    return max(1e-5, 8 * torch.finfo(dtype).eps if dtype.itemsize < 4 else 0.0)
