"""Scorers: (hidden (B,N,H), query (B,H) or None) -> attention scores (B,N).

A scorer is made as `scorer(hidden_size, query_size)`; `query_size` is None without a query.
"""

from collections.abc import Callable

from torch import nn

from attnaudit.models.scorers.additive import Additive
from attnaudit.models.scorers.bilinear import Bilinear
from attnaudit.models.scorers.deep import Deep
from attnaudit.models.scorers.dot import Dot
from attnaudit.models.scorers.last import Last

SCORERS: dict[str, Callable[..., nn.Module]] = {
    "additive": Additive,
    "dot": Dot,
    "bilinear": Bilinear,
    "deep": Deep,
    "last": Last,
}
