"""A small Transformer encoder, whose self-attention is below the attention that is audited."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from attnaudit.core import masking
from attnaudit.core.errors import InputError
from attnaudit.core.option_limits import COUNT, limits


@limits(hidden=COUNT, layers=COUNT, heads=COUNT, widening=COUNT)
class Transformer(nn.Module):
    """2 layers, 1 head, 128 units (Meister et al. 2021).

    Pre-normalisation, sinusoidal positions and no dropout are our choices.
    """

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
        """Encode (B,T,E) to (B,T,hidden), 0 on padding."""
        hidden = self.enter(embeddings) + _positions(embeddings.shape[1], self.size).to(embeddings)
        for layer in self.layers:
            hidden = layer(hidden, mask)
        return self.leave(hidden) * mask[..., None]

    def self_attention(self, embeddings: Tensor, mask: Tensor) -> Tensor:
        """Return the self-attention of every layer, lowest first, mean over heads (B,L,T,T).

        Rows are the tokens that attend, columns the tokens attended to.
        """
        hidden = self.enter(embeddings) + _positions(embeddings.shape[1], self.size).to(embeddings)
        weights = []
        for layer in self.layers:
            assert isinstance(layer, _Layer)  # for the type checker
            weights.append(layer.weights(hidden, mask).mean(1))
            hidden = layer(hidden, mask)
        return torch.stack(weights, 1)

    def summary(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """Return the mean of the items (B,H)."""
        return masking.mean_of_items(hidden, mask)


class _Layer(nn.Module):
    """Self-attention and a feed-forward network, each with a residual connection."""

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
        """Return the attention weights (B,heads,T,T) for the layer's input (B,T,H)."""
        return self._weigh(self.before_attention(hidden), mask)[0]

    def _attend(self, hidden: Tensor, mask: Tensor) -> Tensor:
        weights, value = self._weigh(hidden, mask)
        return self.join((weights @ value).transpose(1, 2).reshape(hidden.shape))

    def _weigh(self, hidden: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the attention weights (B,heads,T,T) and the values (B,heads,T,D)."""
        batch, tokens, size = hidden.shape
        query, key, value = (
            part.view(batch, tokens, self.heads, -1).transpose(1, 2)
            for part in self.project(hidden).chunk(3, -1)
        )
        scores = query @ key.transpose(-1, -2) / math.sqrt(size // self.heads)
        return masking.softmax(scores, mask[:, None, None].expand_as(scores)), value


def _positions(tokens: int, size: int) -> Tensor:
    """Return sinusoidal positions (tokens, size) (Vaswani et al. 2017)."""
    position = torch.arange(tokens)[:, None]
    wave = torch.exp(-math.log(10_000) * torch.arange(0, size, 2) / size)
    return torch.cat([(position * wave).sin(), (position * wave).cos()], -1)
