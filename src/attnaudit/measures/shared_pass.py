"""One forward pass for all measures that differentiate it, and one backward pass for some."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor

from attnaudit.core.autograd import differentiating
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.measures.log_odds import log_odds


class Pass:
    """A reading from embeddings with gradients; retain its graph when differentiating.

    Attributes
    ----------
    embeddings : Tensor, (B,T,E)
        A leaf.
    record : Record
        What was read from them.
    odds : Tensor, (B,)
        The log-odds of the classes that the first reading predicted.
    """

    def __init__(self, embeddings: Tensor, record: Record, first: Record) -> None:
        self.embeddings, self.record = embeddings, record
        self.odds = log_odds(record.logits, first)
        self._slopes: tuple[Tensor, Tensor | None] | None = None

    def slope_in_embeddings(self) -> Tensor:
        """Return ∂odds/∂embeddings (B,T,E), attention on the graph."""
        return self._passed_back()[0]

    def slope_in_hidden(self) -> Tensor | None:
        """Return ∂odds/∂hidden (B,N,H), attention on the graph; None if the odds do not need it.

        The pass back to the embeddings comes through here; only if there was none, and until
        there is one, it takes a shorter pass of its own.
        """
        if self._slopes is not None:
            return self._slopes[1]
        assert self.record.hidden is not None  # the caller has looked
        return self._gradients(self.record.hidden)[0]

    def _passed_back(self) -> tuple[Tensor, Tensor | None]:
        if self._slopes is None:
            hidden = self.record.hidden
            if hidden is None or not hidden.requires_grad:
                in_embeddings, in_hidden = *self._gradients(self.embeddings), None
            else:
                in_embeddings, in_hidden = self._gradients(self.embeddings, hidden)
            if in_embeddings is None:
                raise NotApplicable(
                    "the prediction is not computed from the embeddings that the model records"
                )
            self._slopes = in_embeddings, in_hidden
        return self._slopes

    def _gradients(self, *by: Tensor) -> tuple[Tensor | None, ...]:
        with differentiating():
            return torch.autograd.grad(self.odds.sum(), by, retain_graph=True, allow_unused=True)


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
        made = Pass(embeddings, model.read(record.batch, embeddings), record)
    if known is not None:
        known.append((model, record, made))
    return made
