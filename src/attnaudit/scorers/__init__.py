"""Scorers: (hidden (B,N,H), query (B,H) or None) -> scores (B,N); built as scorer(hidden_size, query_size or None)."""

from collections.abc import Callable

from torch import nn

from attnaudit.scorers.additive import Additive
from attnaudit.scorers.bilinear import Bilinear
from attnaudit.scorers.deep import Deep
from attnaudit.scorers.dot import Dot

SCORERS: dict[str, Callable[..., nn.Module]] = {
    "additive": Additive,
    "dot": Dot,
    "bilinear": Bilinear,
    "deep": Deep,
}
