"""Parallel convolutions of several widths: every state depends on its neighbours."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from attnaudit.core import masking
from attnaudit.core.errors import InputError
from attnaudit.core.option_limits import COUNT, limits
from attnaudit.models.encoders.cnn_deletion import cnn_deletions
from attnaudit.models.encoders.deletion_protocol import Deletions


@limits(filters=COUNT)
class CNN(nn.Module):
    """ReLU of convolutions with kernels 1, 3, 5 and 7, 64 filters each (Jain & Wallace 2019).

    Jain & Wallace's released code has 32 filters; Wen et al. (2022) use
    cnn:kernels=1-3-5-7-15,filters=128.
    """

    def __init__(
        self, input_size: int, *, kernels: str | int = "1-3-5-7", filters: int = 64
    ) -> None:
        super().__init__()
        widths = _odd_numbers(kernels)
        self.size = filters * len(widths)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(input_size, filters, width, padding=width // 2) for width in widths
        )

    def forward(self, embeddings: Tensor, mask: Tensor) -> Tensor:
        """Encode (B,T,E) to (B,T,filters·kernels), 0 on padding."""
        # Zeros on padding are what a convolution sees beyond the end of a text anyway.
        channels = _filled(embeddings, mask).transpose(1, 2)
        together = torch.cat([convolution(channels) for convolution in self.convolutions], 1)
        return together.transpose(1, 2).relu() * mask[..., None]

    def deletions(self, embeddings: Tensor, mask: Tensor, hidden: Tensor) -> Deletions:
        """Return the state changes under deletion, see `deletion_protocol`."""
        return cnn_deletions([*self.convolutions], _filled(embeddings, mask), hidden)

    def summary(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """Return the largest value of each filter (B,H)."""
        return masking.fill(hidden, mask[..., None].expand_as(hidden), -torch.inf).amax(1)


def _filled(embeddings: Tensor, mask: Tensor) -> Tensor:
    """Return the embeddings with zeros on padding."""
    return masking.fill(embeddings, mask[..., None].expand_as(embeddings))


def _odd_numbers(kernels: str | int) -> list[int]:
    """Parse the widths of the kernels: "1-3-5" -> [1, 3, 5]."""
    parts = str(kernels).split("-")
    if not all(part.isdecimal() and int(part) % 2 for part in parts):
        raise InputError(
            f"kernels must be odd numbers joined by -, such as 1-3-5-7; got {kernels!r}."
        )
    return [int(part) for part in parts]
