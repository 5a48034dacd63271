"""A model whose word embeddings carry a little noise: whatever is computed of it is noisy, too."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import Tensor

from attnaudit.core import masking, randomness
from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.core.errors import NotApplicable


class NoisyModel:
    """The same model with Gaussian noise on the embedding of each kind of token.

    A token has the same noise wherever it stands in a text, so that shortened texts, which
    leave-one-out and the like read, are noisy in the same way as the whole text. The noise of a
    text depends on (seed, name, example id, token id) only.

    Parameters
    ----------
    model : AttentionModel
    scale : mapping of str to float
        Standard deviation of the noise, by example id.
    seed, name : of the draw.
    """

    def __init__(
        self, model: AttentionModel, scale: dict[str, float], seed: int, name: str
    ) -> None:
        self._model, self._scale, self._seed, self._name = model, scale, seed, name

    def __getattr__(self, name: str) -> Any:
        # What a model offers besides `read` starts from a record, whose embeddings are noisy;
        # a `leave_out` of its own would read shortened texts without the noise.
        if name in ("leave_out", "without_readout") or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._model, name)

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        """Read with noise; embeddings that are given carry theirs already."""
        if embeddings is None:
            with torch.no_grad():
                clean = self._model.read(batch).embeddings
            embeddings = clean + self._noise(batch, clean)
        return self._model.read(batch, embeddings)

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        """The logits under other attention, of a noisy record."""
        return self._model.decode(record, alpha)

    def _noise(self, batch: Batch, clean: Tensor) -> Tensor:
        size = clean.shape[-1]
        place = batch.tokens[..., None] * size + torch.arange(size, device=batch.tokens.device)
        key = randomness.keys(self._seed, self._name, batch.example_id).to(place.device)
        noise = randomness.normal_at(key[:, None, None], place)
        scale = [self._scale[example_id] for example_id in batch.example_id]
        scaled = noise * torch.tensor(scale, dtype=noise.dtype, device=place.device)[:, None, None]
        return (scaled * batch.mask[..., None]).to(clean.dtype)


def reads_embeddings(model: AttentionModel, record: Record) -> None:
    """Raise NotApplicable unless the model reads from the embeddings it is given."""
    given = record.embeddings.detach()
    try:
        inspect.signature(model.read).bind(record.batch, given)
    except TypeError as error:
        raise NotApplicable("the model does not read from embeddings it is given") from error
    other = given + 1
    used = model.read(record.batch, other).embeddings
    if used.shape != other.shape or not torch.equal(used, other):
        raise NotApplicable("the model does not read from embeddings it is given")


def embedding_size(record: Record) -> Tensor:
    """Root mean square of the embeddings of the real tokens of each text: (B,), 0 if none."""
    squares = record.embeddings.detach().double().square().mean(-1)
    return masking.mean(squares, record.batch.mask).sqrt().nan_to_num(0.0)
