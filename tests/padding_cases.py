"""BiLSTM classifiers as users write them, packed and not, with batches of random texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

import attnaudit
from attnaudit.core.contract import AttentionModel, Batch

WORDS = 50


class Recurrent(nn.Module):
    """A BiLSTM with attention; the padding reaches it unless it is packed."""

    def __init__(self, *, packed: bool, batch_first: bool = True) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, 8)
        self.network = nn.LSTM(8, 6, batch_first=batch_first, bidirectional=True)
        self.score, self.softmax = nn.Linear(12, 1), nn.Softmax(-1)
        self.dropout, self.output = nn.Dropout(0.5), nn.Linear(12, 2)
        self.packed = packed

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        words = self.embedding(tokens)
        if self.packed:
            packed = nn.utils.rnn.pack_padded_sequence(
                words, mask.sum(-1).cpu(), batch_first=True, enforce_sorted=False
            )
            hidden, _ = nn.utils.rnn.pad_packed_sequence(
                self.network(packed)[0], batch_first=True, total_length=words.shape[1]
            )
        else:
            hidden = self.network(words)[0]
        scores = self.score(hidden)[..., 0].masked_fill(~mask, -torch.inf)
        return self.output(self.dropout((self.softmax(scores)[:, None] @ hidden)[:, 0]))


class Mean(nn.Module):
    """Attention next to the mean of the words, over the real ones or over all positions."""

    def __init__(self, *, masked: bool) -> None:
        super().__init__()
        self.embedding, self.masked = nn.Embedding(WORDS, 8), masked
        self.score, self.softmax = nn.Linear(8, 1), nn.Softmax(-1)
        self.output = nn.Linear(8, 2)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        words = self.embedding(tokens)
        scores = self.score(words)[..., 0].masked_fill(~mask, -torch.inf)
        counted = (
            mask[..., None].to(words.dtype) if self.masked else torch.ones_like(words[..., :1])
        )
        mean = (words * counted).sum(1) / counted.sum(1)
        return self.output((self.softmax(scores)[:, None] @ words)[:, 0] + mean)


def hooked(net: nn.Module, dtype: torch.dtype = torch.float32) -> AttentionModel:
    """The net with large parameters and in training mode, wrapped."""
    draw = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.normal_(0, 0.7, generator=draw)
    return attnaudit.from_hooks(net.to(dtype).train(), alpha="softmax", embedding="embedding")


def texts(lengths: Sequence[int], *, width: int = 0, left: bool = False, **more: Any) -> Batch:
    """Random texts of these lengths, with padding on the right, or on the left."""
    width = max(*lengths, width)
    place = torch.arange(width)
    mask = place < torch.tensor(lengths)[:, None]
    if left:
        mask = mask.flip(1)
    draw = torch.Generator().manual_seed(1)
    tokens = torch.randint(1, WORDS, mask.shape, generator=draw) * mask
    return Batch(tuple(f"text {at}" for at in range(len(lengths))), tokens, mask, **more)
