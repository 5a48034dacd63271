"""Build an untrained model from an architecture."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
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
    """Reject unknown names, unknown options and options that do not fit together.

    Parameters
    ----------
    architecture : Architecture
        The choices to check, before any data is read.

    Raises
    ------
    InputError
        If a name or an option is unknown, or if options contradict each other.

    Examples
    --------
    >>> from attnaudit.models import Architecture, check
    >>> check(Architecture(encoder="cnn:filters=16"))
    """
    registry.find(MODELS, architecture.model, "model")
    architecture.check()
    _check_by_building(architecture)


@lru_cache(maxsize=1024)
def _check_by_building(architecture: Architecture) -> None:
    """Build a model with a tiny vocabulary, once: grids name the same choices again and again.

    Some options are checked against each other (heads and hidden size) only when the parts are
    made.
    """
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
    """Build a freshly initialised model; the global random state does not change.

    Parameters
    ----------
    architecture : Architecture
        The model and its parts, by name.
    words : int
        Size of the vocabulary.
    classes : int
        Number of classes.
    with_query : bool
        Whether each text comes with a query, such as a question.
    seed : int, default 0
        Seed of the parameters: the same seed gives the same parameters.
    vectors : Tensor of shape (words, embedding), optional
        Initial word vectors.

    Returns
    -------
    nn.Module
        A model with `read` and `decode`, in training mode.

    Examples
    --------
    >>> from attnaudit.models import Architecture, build
    >>> architecture = Architecture(encoder="bilstm:hidden=8", embedding=16)
    >>> model = build(architecture, words=100, classes=2, with_query=False)
    >>> type(model).__name__
    'Attentive'
    """
    make = registry.find(MODELS, architecture.model, "model")
    with torch.random.fork_rng(devices=[]):  # parameters are drawn on the CPU
        torch.default_generator.manual_seed(int(seed))
        model = make(architecture, words=words, classes=classes, with_query=with_query)
    if vectors is not None:
        with torch.no_grad():
            model.embedding.weight.copy_(vectors)
    return model
