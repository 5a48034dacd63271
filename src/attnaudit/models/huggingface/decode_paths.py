"""The logits, had other weights been used: three ways, the cheapest first, each used only where it is confirmed.

`fast`: only the token that the head reads goes through the rest of the top layer and the head. `above`: all tokens, from the lowest layer
of the site up; the layers below are known, and a whole encoder below a decoder. `plain`: the whole model. They give the same logits; the laws and the tests compare them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from attnaudit.core.contract import Record
from attnaudit.core.tolerance import tolerance_of
from attnaudit.models.huggingface import passes
from attnaudit.models.huggingface.layers import Layers
from attnaudit.models.interception.attention_tape import Tape

if TYPE_CHECKING:
    from attnaudit.models.huggingface.model import HuggingFaceModel, State

PATHS = ("fast", "above", "plain")


def possible_paths(model: HuggingFaceModel) -> tuple[str, ...]:
    """By how the model is put together; whether they are right is seen on the batch."""
    wiring, start = model.wiring, model._start()
    top = start == max(wiring.layer_of_call) and len(model.calls) == 1
    fast = top and not wiring.tapped and start >= 0
    return tuple(path for path, may in zip(PATHS, (fast, start >= 0, True), strict=True) if may)


def choose_path(model: HuggingFaceModel, record: Record) -> str:
    """The cheapest path that gives the record's own logits back on this batch."""
    state: State = record.state
    if not state.path:
        own = state.pieces.to_tokens(record.alpha.detach()[:, None])
        expected = record.logits.detach()
        for path in model.paths[:-1]:
            with torch.no_grad():
                back = decode_by(path, model, record, own)[:, 0]
            if (back - expected).abs().max() <= tolerance_of(expected):
                state.path.append(path)
                break
        else:
            state.path.append(model.paths[-1])
    return state.path[0]


def decode_by(path: str, model: HuggingFaceModel, record: Record, rows: Tensor) -> Tensor:
    """rows (B,K,R,T), weights of the pieces -> (B,K,C)"""
    batch, count = rows.shape[:2]
    by_call = dict(zip(model.calls, rows.split(len(model.heads), 2), strict=True))
    logits = (
        _fast(model, record, by_call)
        if path == "fast"
        else _again(model, record, by_call, path == "above")
    )
    return logits.view(batch, count, -1)


def _again(model: HuggingFaceModel, record: Record, rows: dict[int, Tensor], above: bool) -> Tensor:
    state: State = record.state
    count = next(iter(rows.values())).shape[1]
    inputs, positions = state.inputs.repeated(count), state.positions.repeat_interleave(count, 0)
    tape = Tape(
        positions, rows={call: each.flatten(0, 1) for call, each in rows.items()}, heads=model.heads
    )
    layers, embeddings = Layers(), None
    if above:
        start = model._start()
        tape.call = model.wiring.layer_of_call.index(start)
        kept = state.layers
        layers = Layers(
            start=start,
            hidden=kept.inputs[start].repeat_interleave(count, 0),
            like=kept.outputs,
            given={
                end: kept.results[end].repeat_interleave(count, 0) for end in model.encoder_end()
            },
        )
    else:
        embeddings = record.embeddings.repeat_interleave(count, 0)
    out, _ = passes.run(model.model, model.wiring, inputs, tape, layers, embeddings)
    return model.decision.logits(out, positions)


def _fast(model: HuggingFaceModel, record: Record, rows: dict[int, Tensor]) -> Tensor:
    state: State = record.state
    ((site, weights),) = rows.items()
    count, start = weights.shape[1], model._start()
    example = torch.arange(len(weights), device=weights.device)
    given = {}
    for call, layer in enumerate(model.wiring.layer_of_call):
        if layer != start:
            continue
        seen = state.seen[call]
        assert (
            seen.out is not None
        )  # not so where softmax is caught, and then there is no fast path
        assert seen.values is not None
        out = seen.out[:, None].expand(-1, count, -1, -1)
        if call == site:
            attended = torch.einsum("bkht,bhtd->bkhd", weights, seen.values[:, model.heads])
            out = out.index_copy(2, model.heads, attended)
        given[call] = out.flatten(0, 1)[:, None]
    tape = Tape(torch.zeros_like(state.positions).repeat_interleave(count, 0), given=given)
    tape.call = model.wiring.layer_of_call.index(start)
    hidden = state.layers.inputs[start][example, state.positions][:, None].repeat_interleave(
        count, 0
    )
    layers = Layers(start=start, hidden=hidden, like=state.layers.outputs)
    inputs = state.inputs.at(state.positions).repeated(count)
    out, _ = passes.run(model.model, model.wiring, inputs, tape, layers)
    return model.decision.logits(out, tape.positions)
