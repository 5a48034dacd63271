"""Models: everything with `read` and `decode`. Those that can be trained from choices are here by name."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from attnaudit.core import registry
from attnaudit.core.special_tokens import END
from attnaudit.models.architecture import Architecture
from attnaudit.models.attentive import Attentive
from attnaudit.models.hierarchical import Hierarchical

MODELS: dict[str, Callable[..., Any]] = {
    "attentive": Attentive,
    "hierarchical": Hierarchical,
}


def check(architecture: Architecture) -> None:
    """Every name is known and every option allowed, before any data is read."""
    registry.find(MODELS, architecture.model, "model")
    architecture.check()
    # Some options only make sense together (heads and hidden size), which the parts say when they are made: on a tiny vocabulary here.
    build(architecture, words=END + 2, classes=2, with_query=True)


def build(
    architecture: Architecture,
    *,
    words: int,
    classes: int,
    with_query: bool,
    seed: int = 0,
    vectors: Tensor | None = None,
) -> Any:
    """A freshly initialised model: the same seed, the same parameters; the global random state is left as found."""
    make = registry.find(MODELS, architecture.model, "model")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = make(architecture, words=words, classes=classes, with_query=with_query)
    if vectors is not None:
        with torch.no_grad():
            model.embedding.weight.copy_(vectors)
    return model
