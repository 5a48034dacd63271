"""Two recurrent networks, one per direction: every state depends on the whole text."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from attnaudit.core.autograd import gradients_of_inputs_only
from attnaudit.models.encoders.deletion_protocol import Deletions, Ways
from attnaudit.models.encoders.mirrored import mirrored_items, take_items
from attnaudit.models.encoders.recurrent_deletion import recurrent_deletions
from attnaudit.models.encoders.recurrent_gradient import states_with_gradient
from attnaudit.models.encoders.recurrent_influence import recurrent_influence
from attnaudit.models.encoders.recurrent_ways import recurrent_ways


class Bidirectional(nn.Module):
    """A bidirectional nn.LSTM or nn.GRU with `hidden` units per direction."""

    def __init__(self, network: type[nn.LSTM] | type[nn.GRU], input_size: int, hidden: int) -> None:
        super().__init__()
        self.size = 2 * hidden
        # Two plain networks and a reversal by index instead of a packed bidirectional network: the
        # same result, several times as fast on a CPU (benchmarks/encoders.py). Padding on the right
        # cannot affect the items before it.
        self.forwards = network(input_size, hidden, batch_first=True)
        self.backwards = network(input_size, hidden, batch_first=True)
        # PyTorch runs a whole LSTM as one operation, so for few deletions reading again is faster
        # than going step by step: below about 2^15 values per step (benchmarks/leave_one_out.py).
        self.fewest_deletions = 2**15 // self.size if network is nn.LSTM else 0

    def forward(self, embeddings: Tensor, mask: Tensor) -> Tensor:
        """Encode (B,T,E) to (B,T,2·hidden), 0 on padding, which must be on the right."""
        differentiated = embeddings.requires_grad and torch.is_grad_enabled()
        # On a CPU: elsewhere single steps are slower than the network of PyTorch.
        if gradients_of_inputs_only() and differentiated and embeddings.device.type == "cpu":
            return states_with_gradient((self.forwards, self.backwards), embeddings, mask)
        right, _ = self.forwards(embeddings)
        mirrored = mirrored_items(mask)
        left, _ = self.backwards(take_items(embeddings, mirrored))
        return torch.cat([right, take_items(left, mirrored)], -1) * mask[..., None]

    def deletions(self, embeddings: Tensor, mask: Tensor, hidden: Tensor) -> Deletions:
        """Return the state changes under deletion, see `deletion_protocol`."""
        return recurrent_deletions((self.forwards, self.backwards), embeddings, mask, hidden)

    def ways(self, embeddings: Tensor, mask: Tensor, hidden: Tensor) -> Ways:
        """Return the ways of deletions through the texts, see `deletion_protocol`."""
        return recurrent_ways((self.forwards, self.backwards), embeddings, mask, hidden)

    def influence(
        self, embeddings: Tensor, mask: Tensor, hidden: Tensor, norm: int, per_facet: bool
    ) -> Tensor:
        """Return the influence of each word on each state, see `recurrent_influence`."""
        networks = (self.forwards, self.backwards)
        return recurrent_influence(networks, embeddings, mask, hidden, norm, per_facet)

    def summary(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """Return the last state of each direction (B,2·hidden)."""
        last = (mask.sum(-1) - 1).clamp_min(0)[:, None, None].expand(-1, 1, self.size // 2)
        right, left = hidden.chunk(2, -1)
        return torch.cat([right.gather(1, last)[:, 0], left[:, 0]], -1)
