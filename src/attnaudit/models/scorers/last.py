"""All attention on the last item: the model without attention (Meister et al. 2021, section 2)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

# Between the scores of neighbours: every projection then gives the last real item all the weight,
# softmax all but exp(-1000), which is 0 in every precision.
_STEP = 1000.0


class Last(nn.Module):
    """The alignment [0, …, 0, 1]: only the last state is given to the output layer.

    Nothing of it is trained.
    """

    positional = True  # the score of an item depends on its place, not on its state

    def __init__(self, hidden_size: int, query_size: int | None = None) -> None:
        super().__init__()

    def forward(self, hidden: Tensor, query: Tensor | None) -> Tensor:
        """Score hidden (B,N,H): (B,N), higher from item to item."""
        places = torch.arange(hidden.shape[1], device=hidden.device, dtype=hidden.dtype)
        # Through the states, so that gradients exist (and are 0).
        return _STEP * places + 0.0 * hidden.sum(-1)
