"""How far a layer's output turns without each word's value vectors (Mohebbi et al. 2023).

The weights are kept, so at the query position a word without values is a word of weight 0: the
rest of the layer is computed again from the attended sum without it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from attnaudit.core.contract import Record
from attnaudit.core.errors import NotApplicable
from attnaudit.core.tolerance import tolerance_of
from attnaudit.models.huggingface import passes
from attnaudit.models.huggingface.attention_tape import Tape
from attnaudit.models.huggingface.decode_paths import all_tokens_pass, one_token_pass
from attnaudit.models.huggingface.layers import LayerTape
from attnaudit.statistics.cosine import cosine_distance

if TYPE_CHECKING:
    from attnaudit.models.huggingface.model import HuggingFaceModel, State


@torch.no_grad()
def value_zeroing(model: HuggingFaceModel, record: Record) -> Tensor:
    """Return 1 − cos(y, y without the values of a word), y the output of the site's layer.

    The values of all the word's tokens are 0 in all heads, audited or not; y is taken at the query
    position.

    Returns
    -------
    Tensor (B,N), or (B,R,N) for a site of several layers, where each row has its own layer's.
        NaN for items that do not count.
    """
    audited = {model.wiring.layer_of_call[call] for call in model.calls}
    if min(audited) < 0:
        raise NotApplicable("the attention is not part of a layer whose output could be compared")
    state = _kept_pass(model, record, audited)
    distances = torch.stack([_distances(model, state, call) for call in model.calls], 1)
    distances = distances.masked_fill(~record.content[:, None], torch.nan)
    if len(model.calls) == 1:
        return distances[:, 0]
    return distances.repeat_interleave(len(model.heads), 1)


def _kept_pass(model: HuggingFaceModel, record: Record, audited: set[int]) -> State:
    """Run the model as it is; keep the audited layers and all their attention calls."""
    state: State = record.state
    calls = [call for call, layer in enumerate(model.wiring.layer_of_call) if layer in audited]
    tape = Tape(state.positions, keep=frozenset(calls))
    layers = LayerTape(keep=frozenset({*audited, *model.encoder_end()}))
    embeddings = record.embeddings.detach()
    passes.run(model.model, model.wiring, state.inputs, tape, layers, embeddings)
    return replace(state, captured=tape.captured, layers=layers)


def _distances(model: HuggingFaceModel, state: State, call: int) -> Tensor:
    """Return the cosine distance of the layer's output without each item (B,N)."""
    row = state.captured[call].row  # (B,H,S)
    one_token = _one_token_is_enough(model, state, call)
    size = len(row) * (1 if one_token else state.inputs.ids.shape[1])
    parts = []
    items = torch.arange(state.subwords.content.shape[1], device=row.device)
    for part in items.split(max(1, model.tokens_at_once() // size)):
        without = state.subwords.item[:, None] == part[:, None]  # (B,K,S)
        rows = row[:, None].masked_fill(without[:, :, None], 0.0)
        # What it is compared with is computed in the same pass, with the same rounding.
        out = _layer_output(model, state, call, torch.cat([row[:, None], rows], 1), one_token)
        parts.append(cosine_distance(out[:, :1], out[:, 1:]))
    return torch.cat(parts, 1)


def _one_token_is_enough(model: HuggingFaceModel, state: State, call: int) -> bool:
    """Return whether running the query token alone reproduces the layer's output."""
    if model.wiring.uses_softmax_tap:
        return False
    row, layer = state.captured[call].row, model.wiring.layer_of_call[call]
    example = torch.arange(len(row), device=row.device)
    expected = state.layers.outputs[layer][example, state.positions]
    output = _layer_output(model, state, call, row[:, None], one_token=True)[:, 0]
    return bool((output - expected).abs().max() <= tolerance_of(expected))


def _layer_output(
    model: HuggingFaceModel, state: State, call: int, rows: Tensor, one_token: bool
) -> Tensor:
    """Return the layer's output at the query position (B,K,E) under rows (B,K,H,S)."""
    layer = model.wiring.layer_of_call[call]
    heads = torch.arange(rows.shape[2], device=rows.device)
    if one_token:
        prepared = one_token_pass(model, state, call, rows, heads)
    else:
        prepared = all_tokens_pass(model, state, {call: rows}, heads, layer)
    inputs, tape, layers = prepared
    out = passes.layer_output(model.model, model.wiring, inputs, tape, layers, layer)
    example = torch.arange(len(out), device=out.device)
    return out[example, tape.positions].view(*rows.shape[:2], -1)
