"""Sort numbers alone, without their places: on a CPU, NumPy is many times as fast as torch."""

from __future__ import annotations

from torch import Tensor


def sort_in_place(values: Tensor) -> Tensor:
    """Sort along the last dimension, ascending, NaN last; the tensor itself is returned.

    Examples
    --------
    >>> import torch
    >>> sort_in_place(torch.tensor([[3, 1, 2]]))
    tensor([[1, 2, 3]])
    """
    if values.device.type == "cpu":
        values.numpy().sort(axis=-1)
        return values
    return values.copy_(values.sort(-1).values)
