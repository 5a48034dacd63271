"""Sort along the last dimension: on a CPU, NumPy is faster than torch.

Many times as fast for numbers alone, without their places.
"""

from __future__ import annotations

import numpy as np
import torch
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


def order(values: Tensor) -> Tensor:
    """The places of the values, ascending, NaN last; equal values keep their order.

    Examples
    --------
    >>> order(torch.tensor([[3.0, 1.0, 1.0]]))
    tensor([[1, 2, 0]])
    """
    if values.device.type == "cpu":
        return torch.from_numpy(np.argsort(values.detach().numpy(), axis=-1, kind="stable"))
    return values.argsort(dim=-1, stable=True)
