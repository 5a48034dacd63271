"""One forward pass for all measures that differentiate it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from torch import Tensor

from attnaudit.core.autograd import differentiating
from attnaudit.core.contract import AttentionModel, Record


class Pass(NamedTuple):
    """A reading from embeddings with gradients; retain its graph when differentiating."""

    embeddings: Tensor  # (B,T,E), a leaf
    record: Record


# Inside `passes_shared`: the passes so far, with what they are of.
_PASSES: ContextVar[list[tuple[AttentionModel, Record, Pass]] | None] = ContextVar(
    "attnaudit_passes", default=None
)


@contextmanager
def passes_shared() -> Iterator[None]:
    """Keep the pass of each record inside the context: the next measure differentiates it too.

    The graph takes memory, so it ends with the context.
    """
    token = _PASSES.set([])
    try:
        yield
    finally:
        _PASSES.reset(token)


def differentiable_pass(model: AttentionModel, record: Record) -> Pass:
    """Read the record's batch again from its own embeddings, with gradients."""
    known = _PASSES.get()
    for of_model, of_record, made in known or ():
        if of_model is model and of_record is record:
            return made
    with differentiating():
        embeddings = record.embeddings.detach().requires_grad_()
        made = Pass(embeddings, model.read(record.batch, embeddings))
    if known is not None:
        known.append((model, record, made))
    return made
