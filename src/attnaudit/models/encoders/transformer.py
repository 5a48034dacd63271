"""A small Transformer: self-attention in every layer, below the attention that is audited."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from attnaudit.core import masking
from attnaudit.core.errors import InputError
from attnaudit.core.option_limits import COUNT, limits


@limits(hidden=COUNT, layers=COUNT, heads=COUNT, widening=COUNT)
class Transformer(nn.Module):
    """2 layers, 1 head, 128 units (Meister et al. 2021). Normalised before each part, sinusoidal positions, no dropout: ours."""

    def __init__(
        self,
        input_size: int,
        *,
        hidden: int = 128,
        layers: int = 2,
        heads: int = 1,
        widening: int = 2,
    ) -> None:
        super().__init__()
        if hidden % heads or hidden % 2:
            raise InputError(
                f"hidden must be even and a multiple of heads, got hidden={hidden}, heads={heads}."
            )
        self.size = hidden
        self.enter = nn.Linear(input_size, hidden)
        self.layers = nn.ModuleList(_Layer(hidden, heads, widening) for _ in range(layers))
        self.leave = nn.LayerNorm(hidden)

    def forward(self, embeddings: Tensor, mask: Tensor) -> Tensor:
        """embeddings (B,T,E), mask (B,T) -> hidden (B,T,hidden), 0 on padding."""
        hidden = self.enter(embeddings) + _positions(embeddings.shape[1], self.size).to(embeddings)
        for layer in self.layers:
            hidden = layer(hidden, mask)
        return self.leave(hidden) * mask[..., None]

    def self_attention(self, embeddings: Tensor, mask: Tensor) -> Tensor:
        """The weights of every layer, mean over heads, the lowest first: (B,L,T,T), from each token (rows) to each (columns)."""
        hidden = self.enter(embeddings) + _positions(embeddings.shape[1], self.size).to(embeddings)
        weights = []
        for layer in self.layers:
            assert isinstance(layer, _Layer)  # a ModuleList does not say so
            weights.append(layer.weights(hidden, mask).mean(1))
            hidden = layer(hidden, mask)
        return torch.stack(weights, 1)

    def summary(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """The mean of the items (B,H)."""
        return masking.mean_of_items(hidden, mask)


class _Layer(nn.Module):
    def __init__(self, size: int, heads: int, widening: int) -> None:
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_network = nn.LayerNorm(size), nn.LayerNorm(size)
        self.project = nn.Linear(size, 3 * size)
        self.join = nn.Linear(size, size)
        self.network = nn.Sequential(
            nn.Linear(size, widening * size), nn.ReLU(), nn.Linear(widening * size, size)
        )

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        hidden = hidden + self._attend(self.before_attention(hidden), mask)
        return hidden + self.network(self.before_network(hidden))

    def weights(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """What the layer attends to (B,heads,T,T), given what enters it."""
        return self._weigh(self.before_attention(hidden), mask)[0]

    def _attend(self, hidden: Tensor, mask: Tensor) -> Tensor:
        weights, value = self._weigh(hidden, mask)
        return self.join((weights @ value).transpose(1, 2).reshape(hidden.shape))

    def _weigh(self, hidden: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        batch, tokens, size = hidden.shape
        query, key, value = (
            part.view(batch, tokens, self.heads, -1).transpose(1, 2)
            for part in self.project(hidden).chunk(3, -1)
        )
        scores = query @ key.transpose(-1, -2) / math.sqrt(size // self.heads)
        return masking.softmax(scores, mask[:, None, None].expand_as(scores)), value


def _positions(tokens: int, size: int) -> Tensor:
    """Sines and cosines of growing wavelength (Vaswani et al. 2017): (tokens, size)."""
    place = torch.arange(tokens)[:, None]
    wave = torch.exp(-math.log(10_000) * torch.arange(0, size, 2) / size)
    return torch.cat([(place * wave).sin(), (place * wave).cos()], -1)
