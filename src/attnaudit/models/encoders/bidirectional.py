"""Two recurrent networks, one in each direction: every item has seen the whole text."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from attnaudit.models.encoders.incremental_deletion import Deletions
from attnaudit.models.encoders.recurrent_deletion import recurrent_deletions


class Bidirectional(nn.Module):
    """`network` is nn.LSTM or nn.GRU; each direction has `hidden` units."""

    def __init__(self, network: type[nn.LSTM] | type[nn.GRU], input_size: int, hidden: int) -> None:
        super().__init__()
        self.size = 2 * hidden
        # Two plain networks and a reversal by index rather than a packed bidirectional one: equal to it, and several times as fast
        # on a CPU (benchmarks/encoders.py), because padding on the right cannot reach back into the real items.
        self.forwards = network(input_size, hidden, batch_first=True)
        self.backwards = network(input_size, hidden, batch_first=True)
        # torch runs a whole LSTM as one operation, and so reads a few texts again sooner than we go through them step by step: below some
        # 2^15 numbers a step (benchmarks/leave_one_out.py).
        self.fewest_deletions = 2**15 // self.size if network is nn.LSTM else 0

    def forward(self, embeddings: Tensor, mask: Tensor) -> Tensor:
        """embeddings (B,T,E), mask (B,T) real items first -> hidden (B,T,2·hidden), 0 on padding."""
        right, _ = self.forwards(embeddings)
        left, _ = self.backwards(_turn(embeddings, mask))
        return torch.cat([right, _turn(left, mask)], -1) * mask[..., None]

    def deletions(self, embeddings: Tensor, mask: Tensor, hidden: Tensor) -> Deletions:
        return recurrent_deletions((self.forwards, self.backwards), embeddings, mask, hidden)

    def summary(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """The last state of each direction (B,2·hidden): what stands for a whole query."""
        last = (mask.sum(-1) - 1).clamp_min(0)[:, None, None].expand(-1, 1, self.size // 2)
        right, left = hidden.chunk(2, -1)
        return torch.cat([right.gather(1, last)[:, 0], left[:, 0]], -1)


def _turn(values: Tensor, mask: Tensor) -> Tensor:
    """The real items in reverse order, padding left where it is."""
    place = torch.arange(mask.shape[1], device=mask.device)
    mirrored = mask.sum(-1, keepdim=True) - 1 - place
    index = torch.where(mirrored >= 0, mirrored, place)
    return values.gather(1, index[..., None].expand_as(values))
