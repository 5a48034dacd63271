"""Outputs: (context (B,…,H), query (B,H) or None) -> logits (B,…,C).

An output has a readout if its attribute `is_linear` is True.
"""

from collections.abc import Callable

from torch import nn

from attnaudit.models.outputs.linear import Linear, LinearQuery
from attnaudit.models.outputs.tanh import TanhQuery

OUTPUTS: dict[str, Callable[..., nn.Module]] = {
    "linear": Linear,
    "linear_query": LinearQuery,
    "tanh": TanhQuery,
}
