"""Projections: (scores (B,N), mask (B,N)) -> alpha (B,N), on the simplex and exactly 0 outside the mask."""

from collections.abc import Callable

from torch import nn

from attnaudit.projections.entmax import Entmax
from attnaudit.projections.gumbel_softmax import GumbelSoftmax
from attnaudit.projections.softmax import Softmax
from attnaudit.projections.sparsegen import Sparsegen
from attnaudit.projections.sparsemax import Sparsemax
from attnaudit.projections.uniform import Uniform

PROJECTIONS: dict[str, Callable[..., nn.Module]] = {
    "softmax": Softmax,
    "sparsemax": Sparsemax,
    "entmax": Entmax,
    "sparsegen": Sparsegen,
    "gumbel_softmax": GumbelSoftmax,
    "uniform": Uniform,
}
