"""One forward pass of a transformers model, with attention captured or overridden by a tape."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import torch
from torch import Tensor, nn

from attnaudit.core.contract import Batch
from attnaudit.core.module_state import evaluating
from attnaudit.models.huggingface.attention_tape import Tape, taped
from attnaudit.models.huggingface.config_patches import attention_switched, padding_token_set
from attnaudit.models.huggingface.layers import LayerReached, LayerTape, layers_taped
from attnaudit.models.interception import embeddings_captured, linear_by_onednn


@dataclass(frozen=True, eq=False)
class Wiring:
    """How a model is put together, found by a trial pass (see `probing`)."""

    layers: tuple[nn.Module, ...]
    embedding: nn.Module
    configs: tuple[Any, ...]  # those that name the attention function
    uses_softmax_tap: bool  # the family does not use the attention registry: softmax is caught
    layer_of_call: tuple[int, ...]  # the layer call in which each attention call is made
    # Attention calls that may be audited, lowest first; encoder–decoder models: cross-attention.
    calls: tuple[int, ...]
    heads: int
    causal: bool

    @property
    def vocabulary(self) -> int:
        """Number of tokens in the embedding module."""
        return len(self.embedding.weight)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Inputs:
    """The inputs of the model."""

    ids: Tensor  # (B,T)
    mask: Tensor  # (B,T) bool
    types: Tensor | None  # (B,T)
    pad: int  # the id outside the mask
    decoder_start: int | None = None

    def repeated(self, count: int) -> Inputs:
        """Return the inputs with every example `count` times in a row."""
        types = None if self.types is None else self.types.repeat_interleave(count, 0)
        ids, mask = self.ids.repeat_interleave(count, 0), self.mask.repeat_interleave(count, 0)
        return replace(self, ids=ids, mask=mask, types=types)

    def rows(self, index: Tensor, width: int | None = None) -> Inputs:
        """Return the inputs of the examples at index (M,), cut to a width if given."""
        types = None if self.types is None else self.types[index, :width]
        ids, mask = self.ids[index, :width], self.mask[index, :width]
        return replace(self, ids=ids, mask=mask, types=types)

    def at(self, positions: Tensor) -> Inputs:
        """Return one token per example, for a pass that computes only that one."""
        index = positions[:, None].clamp_max(self.ids.shape[1] - 1)
        types = None if self.types is None else self.types.gather(1, index)
        ids = self.ids.gather(1, index)
        return replace(self, ids=ids, mask=torch.ones_like(ids, dtype=torch.bool), types=types)


def inputs_of(batch: Batch, pad: int | None, decoder_start: int | None) -> Inputs:
    """Return the inputs for a batch; padding holds the model's padding id.

    Some models look for that id in the ids. A model without one gets an id that no text holds.
    """
    pad_id = pad if pad is not None else _unused_id(batch.tokens)
    ids = batch.tokens.masked_fill(~batch.mask, pad_id)
    return Inputs(ids, batch.mask, getattr(batch, "types", None), pad_id, decoder_start)


def _unused_id(tokens: Tensor) -> int:
    """Return the smallest token id that no text holds."""
    used = set(tokens.unique().tolist())
    return next(number for number in range(len(used) + 1) if number not in used)


def run(
    model: Any,
    wiring: Wiring,
    inputs: Inputs,
    tape: Tape,
    layers: LayerTape,
    embeddings: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Run the model once, unchanged afterwards; return its logits and its embeddings (B,T,E)."""
    tape.layers = layers
    with ExitStack() as stack:
        stack.enter_context(evaluating(model))
        if not wiring.uses_softmax_tap:
            stack.enter_context(attention_switched(wiring.configs))
        stack.enter_context(padding_token_set(model.config, inputs.pad))
        stack.enter_context(linear_by_onednn(model))
        stack.enter_context(layers_taped(wiring.layers, layers))
        # `inputs_embeds` would not do: decoder classifiers find the last token in input_ids.
        captured = stack.enter_context(embeddings_captured(wiring.embedding, embeddings))
        stack.enter_context(taped(tape, softmax=wiring.uses_softmax_tap))
        logits = model(**arguments(model, inputs)).logits
    return logits, captured[0]


def layer_output(
    model: Any, wiring: Wiring, inputs: Inputs, tape: Tape, layers: LayerTape, layer: int
) -> Tensor:
    """Run the model up to the end of one layer call; return its hidden states (B,T,E)."""
    layers.keep, layers.stop_after = frozenset({layer}), layer
    with suppress(LayerReached):
        run(model, wiring, inputs, tape, layers)
    return layers.outputs[layer]


def plain_logits(model: Any, inputs: Inputs) -> Tensor:
    """Return the logits by the model's own attention function, which may be faster."""
    with evaluating(model), padding_token_set(model.config, inputs.pad), linear_by_onednn(model):
        return model(**arguments(model, inputs)).logits


def arguments(model: Any, inputs: Inputs) -> dict[str, Any]:
    """Return the keyword arguments of the model's forward method."""
    parameters = signature(model.forward).parameters
    given: dict[str, Any] = {
        "input_ids": inputs.ids,
        "attention_mask": inputs.mask.long(),
        "return_dict": True,
    }
    if inputs.types is not None and "token_type_ids" in parameters:
        given["token_type_ids"] = inputs.types
    if "use_cache" in parameters:
        given["use_cache"] = False
    if inputs.decoder_start is not None:
        given["decoder_input_ids"] = torch.full_like(inputs.ids[:, :1], inputs.decoder_start)
    return given
