"""Objectives: (model, batch) -> loss, a scalar to minimise.

Those that need more, such as a base model or words to hide, are returned by a function of it.
"""

from collections.abc import Callable

from torch import Tensor

from attnaudit.training.objectives.adversarial import adversarial
from attnaudit.training.objectives.cross_entropy import cross_entropy
from attnaudit.training.objectives.deceptive import deceptive

Objective = Callable[..., Tensor]

__all__ = ["Objective", "adversarial", "cross_entropy", "deceptive"]
