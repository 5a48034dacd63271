"""Projections: (scores (B,N), mask (B,N)) -> alpha (B,N).

Each row of alpha lies on the simplex and is exactly 0 outside the mask.
"""

from collections.abc import Callable

from torch import nn

from attnaudit.models.projections.entmax import Entmax
from attnaudit.models.projections.gumbel_softmax import GumbelSoftmax
from attnaudit.models.projections.softmax import Softmax
from attnaudit.models.projections.sparsegen import Sparsegen
from attnaudit.models.projections.sparsemax import Sparsemax
from attnaudit.models.projections.uniform import Uniform

PROJECTIONS: dict[str, Callable[..., nn.Module]] = {
    "softmax": Softmax,
    "sparsemax": Sparsemax,
    "entmax": Entmax,
    "sparsegen": Sparsegen,
    "gumbel_softmax": GumbelSoftmax,
    "uniform": Uniform,
}
