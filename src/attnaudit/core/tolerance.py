"""How far two results of the same computation may lie apart."""

from __future__ import annotations

import torch
from torch import Tensor


def tolerance_of(values: Tensor) -> float:
    """1e-10 in float64; relative to the largest value, 1e-5 in float32 and 8 roundings in half precision."""
    if values.dtype == torch.float64:
        return 1e-10
    largest = values.detach().abs().nan_to_num(0.0).max().item() if values.numel() else 1.0
    return max(1e-5, 8 * torch.finfo(values.dtype).eps if values.dtype.itemsize < 4 else 0.0) * max(
        1.0, largest
    )
