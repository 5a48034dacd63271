"""The choices that define a model, as strings, and the parts made from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from torch import Tensor, nn

from attnaudit.core import registry
from attnaudit.core.contract import Batch
from attnaudit.core.option_limits import COUNT, check
from attnaudit.models.encoders import ENCODERS
from attnaudit.models.outputs import OUTPUTS
from attnaudit.models.projections import PROJECTIONS
from attnaudit.models.scorers import SCORERS

# The parts of a model that are chosen by name.
PARTS: dict[str, dict[str, Callable[..., nn.Module]]] = {
    "encoder": ENCODERS,
    "scorer": SCORERS,
    "projection": PROJECTIONS,
    "output": OUTPUTS,
}


@dataclass(frozen=True)
class Architecture:
    """The kind of model, its parts and its embedding size; stored verbatim with every run.

    Parameters
    ----------
    model, encoder, scorer, projection, output : str
        Names with optional options, such as "cnn:filters=16". `attnaudit list` shows them all.
    embedding : int, default 300
        Size of the word vectors.

    Examples
    --------
    >>> from attnaudit.models import Architecture
    >>> Architecture(encoder="cnn:filters=16").as_dict()["encoder"]
    'cnn:filters=16'
    """

    model: str = "attentive"
    encoder: str = "bilstm"
    scorer: str = "additive"
    projection: str = "softmax"
    output: str = "linear_query"
    embedding: int = 300

    def as_dict(self) -> dict[str, str | int]:
        """Return the choices by name, as they are stored with a run."""
        return asdict(self)

    def __post_init__(self) -> None:
        check({"embedding": COUNT}, vars(self))

    def check(self) -> None:
        """Reject unknown parts and options; `factory.build` checks the model's own name."""
        for part, known in PARTS.items():
            registry.find(known, getattr(self, part), part)


def make_encoder(architecture: Architecture, input_size: int) -> Any:
    """Make the encoder, which reads vectors of `input_size`."""
    return registry.find(ENCODERS, architecture.encoder, "encoder")(input_size)


def make_scorer(architecture: Architecture, hidden_size: int, query_size: int | None) -> Any:
    """Make the scorer; `query_size` is None for a model without a query."""
    return registry.find(SCORERS, architecture.scorer, "scorer")(hidden_size, query_size)


def make_projection(architecture: Architecture) -> Any:
    """Make the projection of scores onto the simplex."""
    return registry.find(PROJECTIONS, architecture.projection, "projection")()


def make_output(
    architecture: Architecture, hidden_size: int, query_size: int | None, classes: int
) -> Any:
    """Make the output layer."""
    return registry.find(OUTPUTS, architecture.output, "output")(hidden_size, query_size, classes)


def query_vector(encoder: Any, embedding: nn.Embedding, batch: Batch) -> Tensor | None:
    """Return the summary of each query (B,H), or None if the model or the batch has no query."""
    if encoder is None or batch.query is None or batch.query_mask is None:
        return None
    return encoder.summary(encoder(embedding(batch.query), batch.query_mask), batch.query_mask)
