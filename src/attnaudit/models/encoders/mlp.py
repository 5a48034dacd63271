"""A small network applied to every item separately: no context."""

from __future__ import annotations

from itertools import pairwise

from torch import Tensor, nn

from attnaudit.core import masking
from attnaudit.core.option_limits import COUNT, OneOf, limits
from attnaudit.models.encoders.deletion_protocol import Deletions, nothing_changes

ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh}


@limits(hidden=COUNT, layers=COUNT, activation=OneOf(tuple(ACTIVATIONS)))
class MLP(nn.Module):
    """Linear and activation, `layers` times, 128 units (Wen et al. 2022).

    Also the context-free model of Wiegreffe & Pinter (2019).
    """

    context_free = True  # a state depends on its item only

    def __init__(
        self, input_size: int, *, hidden: int = 128, layers: int = 1, activation: str = "relu"
    ) -> None:
        super().__init__()
        self.size = hidden
        sizes = [input_size, *[hidden] * layers]
        steps = [(nn.Linear(a, b), ACTIVATIONS[activation]()) for a, b in pairwise(sizes)]
        self.network = nn.Sequential(*(part for step in steps for part in step))

    def forward(self, embeddings: Tensor, mask: Tensor) -> Tensor:
        """Encode (B,T,E) to (B,T,hidden), 0 on padding."""
        return self.network(embeddings) * mask[..., None]

    def deletions(self, embeddings: Tensor, mask: Tensor, hidden: Tensor) -> Deletions:
        """Return the state changes under deletion, see `deletion_protocol`."""
        return nothing_changes(hidden)

    def summary(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """Return the mean of the items (B,H)."""
        return masking.mean_of_items(hidden, mask)
