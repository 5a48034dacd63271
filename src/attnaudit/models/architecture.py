"""The choices that make a model, as strings, and how each becomes a part."""

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
    """Recorded verbatim with every run. `model` names the whole, the others its parts."""

    model: str = "attentive"
    encoder: str = "bilstm"
    scorer: str = "additive"
    projection: str = "softmax"
    output: str = "linear_query"
    embedding: int = 300

    def as_dict(self) -> dict[str, str | int]:
        return asdict(self)

    def __post_init__(self) -> None:
        check({"embedding": COUNT}, vars(self))

    def check(self) -> None:
        """Every name of a part is known, and so is every option; the model's own name is build's to check."""
        for part, known in PARTS.items():
            registry.find(known, getattr(self, part), part)


def make_encoder(architecture: Architecture, input_size: int) -> Any:
    return registry.find(ENCODERS, architecture.encoder, "encoder")(input_size)


def make_scorer(architecture: Architecture, hidden_size: int, query_size: int | None) -> Any:
    return registry.find(SCORERS, architecture.scorer, "scorer")(hidden_size, query_size)


def make_projection(architecture: Architecture) -> Any:
    return registry.find(PROJECTIONS, architecture.projection, "projection")()


def make_output(
    architecture: Architecture, hidden_size: int, query_size: int | None, classes: int
) -> Any:
    return registry.find(OUTPUTS, architecture.output, "output")(hidden_size, query_size, classes)


def query_vector(encoder: Any, embedding: nn.Embedding, batch: Batch) -> Tensor | None:
    """What stands for the query of each example (B,H); None for a model or a batch without one."""
    if encoder is None or batch.query is None or batch.query_mask is None:
        return None
    return encoder.summary(encoder(embedding(batch.query), batch.query_mask), batch.query_mask)
