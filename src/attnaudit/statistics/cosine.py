"""The angle between vectors, without loss of small differences."""

from __future__ import annotations

import torch
from torch import Tensor


def cosine_distance(a: Tensor, b: Tensor) -> Tensor:
    """Return 1 − cos of vectors (…,E) that broadcast, as (…) in float64; NaN if one is 0.

    Computed as half the squared distance of the unit vectors: 1 − cos itself would lose every
    distance below the rounding error of 1.

    Examples
    --------
    >>> cosine_distance(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 2.0]))
    tensor(1., dtype=torch.float64)
    """
    a, b = a.double(), b.double()
    unit_a = a / torch.linalg.vector_norm(a, dim=-1, keepdim=True)
    unit_b = b / torch.linalg.vector_norm(b, dim=-1, keepdim=True)
    return (unit_a - unit_b).square().sum(-1) / 2
