"""Encoders: (embeddings (B,T,E), mask (B,T)) -> hidden (B,T,H), where H is `size`.

`summary(hidden, mask)` gives one vector per text (B,H). An encoder may also say what changes when
an item is deleted: see `attnaudit.models.encoders.deletion_protocol`.
"""

from collections.abc import Callable

from torch import nn

from attnaudit.models.encoders.average import Average
from attnaudit.models.encoders.bigru import BiGRU
from attnaudit.models.encoders.bilstm import BiLSTM
from attnaudit.models.encoders.cnn import CNN
from attnaudit.models.encoders.mlp import MLP
from attnaudit.models.encoders.none import NoEncoder
from attnaudit.models.encoders.transformer import Transformer

ENCODERS: dict[str, Callable[..., nn.Module]] = {
    "bilstm": BiLSTM,
    "bigru": BiGRU,
    "cnn": CNN,
    "mlp": MLP,
    "average": Average,
    "transformer": Transformer,
    "none": NoEncoder,
}
