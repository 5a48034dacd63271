"""Attention traced from the query position down through the layers (Abnar & Zuidema 2020)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from attnaudit.core.contract import Record
from attnaudit.models.huggingface import passes
from attnaudit.models.huggingface.attention_tape import Tape
from attnaudit.models.huggingface.layers import LayerTape

if TYPE_CHECKING:
    from attnaudit.models.huggingface.model import HuggingFaceModel, State

_WEIGHTS_AT_ONCE = 2**26


def attention_rollout(model: HuggingFaceModel, record: Record) -> Tensor:
    """Return the rollout at the query position, summed over the tokens of each word.

    With A_l the attention between tokens in layer l, the mean over all its heads, and L the site's
    layer: Â_L ⋯ Â_1, where Â is A + I with rows that sum to 1. In an encoder–decoder model: the
    cross-attention of the site, the mean over its heads, times the product over the encoder's
    layers; what the decoder carries past its cross-attention is not an item.

    Returns
    -------
    Tensor (B,N), or (B,R,N) for a site of several layers, where each row has its own layer's.
    """
    state: State = record.state
    wiring = model.wiring
    between = _self_attention_calls(model)
    keep = frozenset({*between, *model.calls})
    tokens = state.inputs.ids.shape[1]
    size = max(1, _WEIGHTS_AT_ONCE // (len(keep) * wiring.heads * tokens**2))
    parts = []
    for index in torch.arange(len(record.batch), device=state.positions.device).split(size):
        tape = Tape(state.positions[index], keep=keep, keep_all_positions=True)
        inputs, embeddings = state.inputs.rows(index), record.embeddings[index].detach()
        with torch.no_grad():
            passes.run(model.model, wiring, inputs, tape, LayerTape(), embeddings)
        parts.append(_rollout(model, tape, inputs.mask, between))
    words = state.subwords.to_items(torch.cat(parts).to(record.alpha.dtype))
    return words[:, 0] if len(model.calls) == 1 else words.repeat_interleave(len(model.heads), 1)


def _self_attention_calls(model: HuggingFaceModel) -> list[int]:
    """Return the self-attention calls up to the highest audited one, lowest first.

    In an encoder–decoder model these are the encoder's.
    """
    if not model.model.config.is_encoder_decoder:
        return list(range(model.calls[-1] + 1))
    decoder = model.wiring.layer_of_call[model.wiring.calls[0]]
    return [call for call, layer in enumerate(model.wiring.layer_of_call) if layer < decoder]


def _rollout(model: HuggingFaceModel, tape: Tape, mask: Tensor, between: list[int]) -> Tensor:
    """Return the rollout at the query position for each audited call, over tokens (B,calls,T)."""
    example = torch.arange(len(mask), device=mask.device)
    own = torch.eye(mask.shape[1], dtype=torch.float64, device=mask.device)
    real = mask[:, :, None] & mask[:, None]  # rows of padding may hold NaN
    rolled, rows = own.expand(len(mask), -1, -1), {}
    for call in between:
        weights = _head_mean(tape.captured[call].weights).masked_fill(~real, 0.0)
        mixed = weights + own
        rolled = (mixed / mixed.sum(-1, keepdim=True)) @ rolled
        rows[call] = rolled[example, tape.positions.clamp_max(mask.shape[1] - 1)]
    if model.model.config.is_encoder_decoder:
        rows = {
            call: (_head_mean(tape.captured[call].row)[:, None] @ rolled)[:, 0]
            for call in model.calls
        }
    return torch.stack([rows[call] for call in model.calls], 1)


def _head_mean(weights: Tensor | None) -> Tensor:
    """Return the mean over heads (B,H,…), in double precision."""
    assert weights is not None  # all positions are kept
    return weights.double().mean(1)
