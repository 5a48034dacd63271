"""Random attention, evenly spread over the simplex."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core import masking, randomness


def random_alpha(mask: Tensor, seed: int, dtype: torch.dtype, count: int = 3) -> Tensor:
    """Attentions on the simplex, evenly spread over it (a flat Dirichlet): (B,count,R,N)."""
    shape = (mask.shape[0], count, *mask.shape[1:])
    draw = torch.rand(shape, generator=randomness.generator(seed, "laws"), dtype=torch.float64).to(
        mask.device
    )
    weight = -torch.log1p(-draw)
    return masking.renormalise(weight, mask[:, None].expand(shape)).nan_to_num(0.0).to(dtype)
