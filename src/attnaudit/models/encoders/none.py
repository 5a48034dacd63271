"""No encoder: attention looks at the word vectors themselves."""

from __future__ import annotations

from torch import Tensor, nn

from attnaudit.core import masking
from attnaudit.models.encoders.incremental_deletion import Deletions, nothing_changes


class NoEncoder(nn.Module):
    def __init__(self, input_size: int) -> None:
        super().__init__()
        self.size = input_size

    def forward(self, embeddings: Tensor, mask: Tensor) -> Tensor:
        return embeddings * mask[..., None]

    def deletions(self, embeddings: Tensor, mask: Tensor, hidden: Tensor) -> Deletions:
        return nothing_changes(hidden)

    def summary(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """The mean of the items (B,H)."""
        return masking.mean_of_items(hidden, mask)
