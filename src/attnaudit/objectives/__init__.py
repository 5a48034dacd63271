"""Objectives: (model, batch) -> loss, a scalar to minimise."""

from collections.abc import Callable

from torch import Tensor

from attnaudit.objectives.cross_entropy import cross_entropy

OBJECTIVES: dict[str, Callable[..., Tensor]] = {
    "cross_entropy": cross_entropy,
}
