"""A bidirectional GRU, the encoder of hierarchical attention networks."""

from __future__ import annotations

from torch import nn

from attnaudit.core.option_limits import COUNT, limits
from attnaudit.models.encoders.bidirectional import Bidirectional


@limits(hidden=COUNT)
class BiGRU(Bidirectional):
    """50 units per direction (Yang et al. 2016; Serrano & Smith 2019)."""

    def __init__(self, input_size: int, *, hidden: int = 50) -> None:
        super().__init__(nn.GRU, input_size, hidden)
