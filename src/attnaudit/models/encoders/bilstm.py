"""A bidirectional LSTM, the encoder of most of the papers."""

from __future__ import annotations

from torch import nn

from attnaudit.core.option_limits import COUNT, limits
from attnaudit.models.encoders.bidirectional import Bidirectional


@limits(hidden=COUNT)
class BiLSTM(Bidirectional):
    """128 units per direction (Jain & Wallace 2019)."""

    def __init__(self, input_size: int, *, hidden: int = 128) -> None:
        super().__init__(nn.LSTM, input_size, hidden)
