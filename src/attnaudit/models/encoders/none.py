"""No encoder: attention over the word vectors themselves."""

from __future__ import annotations

from torch import Tensor, nn

from attnaudit.core import masking
from attnaudit.models.encoders.deletion_protocol import Deletions, nothing_changes


class NoEncoder(nn.Module):
    """The identity, 0 on padding."""

    context_free = True  # a state depends on its item only

    def __init__(self, input_size: int) -> None:
        super().__init__()
        self.size = input_size

    def forward(self, embeddings: Tensor, mask: Tensor) -> Tensor:
        """Return the embeddings (B,T,E), 0 on padding."""
        return embeddings * mask[..., None]

    def deletions(self, embeddings: Tensor, mask: Tensor, hidden: Tensor) -> Deletions:
        """Return the state changes under deletion, see `deletion_protocol`."""
        return nothing_changes(hidden)

    def summary(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """Return the mean of the items (B,H)."""
        return masking.mean_of_items(hidden, mask)
