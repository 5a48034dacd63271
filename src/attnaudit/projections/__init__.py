"""Projections: (scores (B,N), mask (B,N)) -> alpha (B,N), on the simplex and exactly 0 outside the mask."""

from collections.abc import Callable

from torch import nn

from attnaudit.projections.softmax import Softmax

PROJECTIONS: dict[str, Callable[..., nn.Module]] = {
    "softmax": Softmax,
}
