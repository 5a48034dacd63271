"""Encoders: (embeddings (B,T,E), mask (B,T)) -> hidden (B,T,H), H = `.size`; `.summary(hidden, mask)` -> (B,H) stands for a whole text."""

from collections.abc import Callable

from torch import nn

from attnaudit.encoders.bilstm import BiLSTM

ENCODERS: dict[str, Callable[..., nn.Module]] = {
    "bilstm": BiLSTM,
}
