"""One forward pass of the user's model, with attention read or overridden on the way, and the model as found after it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import torch
from torch import Tensor, nn

from attnaudit.core.contract import Batch
from attnaudit.core.module_state import evaluating
from attnaudit.models.huggingface.layers import Layers
from attnaudit.models.interception import temporary_patches
from attnaudit.models.interception.attention_tape import Tape, taped


@dataclass(frozen=True, eq=False)
class Wiring:
    """How a model is put together, as one trial pass showed it."""

    layers: tuple[nn.Module, ...]
    embedding: nn.Module
    configs: tuple[Any, ...]  # each says which attention function is used
    tapped: bool  # the attention is caught at softmax: the family does not use the registry
    layer_of_call: tuple[int, ...]  # of each attention call, the layer call it was made in
    calls: tuple[
        int, ...
    ]  # those a site may be made of, lowest first: cross-attention in an encoder–decoder model
    heads: int
    causal: bool

    @property
    def vocabulary(self) -> int:
        return len(self.embedding.weight)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Inputs:
    """What the model is given."""

    ids: Tensor  # (B,T)
    mask: Tensor  # (B,T) bool
    types: Tensor | None  # (B,T)
    pad: int  # what ids hold outside the mask
    decoder_start: int | None = None

    def repeated(self, count: int) -> Inputs:
        types = None if self.types is None else self.types.repeat_interleave(count, 0)
        ids, mask = self.ids.repeat_interleave(count, 0), self.mask.repeat_interleave(count, 0)
        return replace(self, ids=ids, mask=mask, types=types)

    def at(self, positions: Tensor) -> Inputs:
        """One token an example, for the path on which only that one is computed."""
        place = positions[:, None].clamp_max(self.ids.shape[1] - 1)
        types = None if self.types is None else self.types.gather(1, place)
        ids = self.ids.gather(1, place)
        return replace(self, ids=ids, mask=torch.ones_like(ids, dtype=torch.bool), types=types)


def inputs_of(batch: Batch, pad: int | None, decoder_start: int | None) -> Inputs:
    """Padding holds the model's padding number, whatever the batch has there: some models look for it in the ids."""
    number = pad if pad is not None else _free_number(batch.tokens)
    ids = batch.tokens.masked_fill(~batch.mask, number)
    return Inputs(ids, batch.mask, getattr(batch, "types", None), number, decoder_start)


def _free_number(tokens: Tensor) -> int:
    """The smallest token number that no text holds."""
    used = set(tokens.unique().tolist())
    return next(number for number in range(len(used) + 1) if number not in used)


def run(
    model: Any,
    wiring: Wiring,
    inputs: Inputs,
    tape: Tape,
    layers: Layers,
    embeddings: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """What the model returns as logits, and the embeddings of the pass."""
    tape.layers = layers
    with ExitStack() as stack:
        stack.enter_context(evaluating(model))
        if not wiring.tapped:
            stack.enter_context(temporary_patches.attention_switched(wiring.configs))
        stack.enter_context(temporary_patches.padding_known(model.config, inputs.pad))
        stack.enter_context(temporary_patches.layers_followed(wiring.layers, layers))
        seen = stack.enter_context(temporary_patches.embeddings_seen(wiring.embedding, embeddings))
        stack.enter_context(taped(tape, tapped=wiring.tapped))
        logits = model(**arguments(model, inputs)).logits
    return logits, seen[0]


def plain_logits(model: Any, inputs: Inputs) -> Tensor:
    """By the model's own attention function, which may be faster than one that gives its weights."""
    with evaluating(model), temporary_patches.padding_known(model.config, inputs.pad):
        return model(**arguments(model, inputs)).logits


def arguments(model: Any, inputs: Inputs) -> dict[str, Any]:
    known = signature(model.forward).parameters
    given: dict[str, Any] = {
        "input_ids": inputs.ids,
        "attention_mask": inputs.mask.long(),
        "return_dict": True,
    }
    if inputs.types is not None and "token_type_ids" in known:
        given["token_type_ids"] = inputs.types
    if "use_cache" in known:
        given["use_cache"] = False
    if inputs.decoder_start is not None:
        given["decoder_input_ids"] = torch.full_like(inputs.ids[:, :1], inputs.decoder_start)
    return given
