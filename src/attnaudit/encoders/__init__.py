"""Encoders: (embeddings (B,T,E), mask (B,T)) -> hidden (B,T,H), H = `.size`; `.summary(hidden, mask)` -> (B,H) stands for a whole text.

One may also say what changes when an item is deleted: `attnaudit.encoders.deletion`.
"""

from collections.abc import Callable

from torch import nn

from attnaudit.encoders.average import Average
from attnaudit.encoders.bigru import BiGRU
from attnaudit.encoders.bilstm import BiLSTM
from attnaudit.encoders.cnn import CNN
from attnaudit.encoders.mlp import MLP
from attnaudit.encoders.none import NoEncoder
from attnaudit.encoders.transformer import Transformer

ENCODERS: dict[str, Callable[..., nn.Module]] = {
    "bilstm": BiLSTM,
    "bigru": BiGRU,
    "cnn": CNN,
    "mlp": MLP,
    "average": Average,
    "transformer": Transformer,
    "none": NoEncoder,
}
