"""The logits under other attention weights, by the cheapest of three ways that is confirmed.

- `fast`: only the token that the head reads goes through the rest of the top layer and the head.
- `above`: all tokens, from the lowest audited layer up. The layers below are known, and so is a
  whole encoder below a decoder.
- `plain`: the whole model.

All give the same logits; the laws and the tests compare them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from attnaudit.core.contract import Record
from attnaudit.core.tolerance import tolerance_of
from attnaudit.models.huggingface import passes
from attnaudit.models.huggingface.attention_tape import Tape
from attnaudit.models.huggingface.layers import LayerTape

if TYPE_CHECKING:
    from attnaudit.models.huggingface.model import HuggingFaceModel, State

PATHS = ("fast", "above", "plain")


def possible_paths(model: HuggingFaceModel) -> tuple[str, ...]:
    """Return the paths that the model's structure allows; `choose_path` confirms them."""
    wiring, start = model.wiring, model.start_layer
    top = start == max(wiring.layer_of_call) and len(model.calls) == 1
    fast = top and not wiring.uses_softmax_tap and start >= 0
    allowed = (fast, start >= 0, True)
    return tuple(path for path, is_allowed in zip(PATHS, allowed, strict=True) if is_allowed)


def choose_path(model: HuggingFaceModel, record: Record) -> str:
    """Return the cheapest path that reproduces the record's logits on this batch."""
    state: State = record.state
    if not state.path:
        own = record.alpha.detach()[:, None]
        expected = record.logits.detach()
        for path in model.paths[:-1]:
            with torch.no_grad():
                logits = decode_by(path, model, record, own)[:, 0]
            if (logits - expected).abs().max() <= tolerance_of(expected):
                state.path.append(path)
                break
        else:
            state.path.append(model.paths[-1])
    return state.path[0]


def decode_by(path: str, model: HuggingFaceModel, record: Record, alpha: Tensor) -> Tensor:
    """Return the logits (B,K,C) under alpha (B,K,R,N), weights of the words."""
    batch, count = alpha.shape[:2]
    if path == "fast":
        logits = _decode_one_token(model, record, alpha)
    else:
        rows = record.state.subwords.to_tokens(alpha)
        by_call = dict(zip(model.calls, rows.split(len(model.heads), 2), strict=True))
        logits = _decode_all_tokens(model, record, by_call, skip_lower_layers=path == "above")
    return logits.view(batch, count, -1)


def _decode_all_tokens(
    model: HuggingFaceModel, record: Record, rows: dict[int, Tensor], *, skip_lower_layers: bool
) -> Tensor:
    """Return the logits (B·K,C), running all tokens through the layers that are not skipped."""
    state: State = record.state
    start = model.start_layer if skip_lower_layers else None
    inputs, tape, layers = all_tokens_pass(model, state, rows, model.heads, start)
    count = len(inputs.ids) // len(state.positions)
    embeddings = None if skip_lower_layers else record.embeddings.repeat_interleave(count, 0)
    out, _ = passes.run(model.model, model.wiring, inputs, tape, layers, embeddings)
    return model.decision.logits(out, tape.positions)


def _decode_one_token(model: HuggingFaceModel, record: Record, alpha: Tensor) -> Tensor:
    """Return the logits (B·K,C), running only the token that the head reads."""
    state: State = record.state
    (site,) = model.calls
    values = _values_of_words(model, state, site)
    inputs, tape, layers = one_token_pass(model, state, site, alpha, model.heads, values)
    out, _ = passes.run(model.model, model.wiring, inputs, tape, layers)
    return model.decision.logits(out, tape.positions)


def _values_of_words(model: HuggingFaceModel, state: State, site: int) -> Tensor:
    """Return what each word passes on to the audited heads of a call (B,R,N,D)."""
    captured = state.captured[site].values
    assert captured is not None  # only if softmax is caught, and then only all tokens can be run
    if site not in state.word_values:
        values = state.subwords.values_of_items(captured[:, model.heads])
        # Each call has a graph of its own, and what inference mode made can be in no graph.
        if captured.requires_grad or values.is_inference():
            return values
        state.word_values[site] = values
    return state.word_values[site]


def all_tokens_pass(
    model: HuggingFaceModel,
    state: State,
    rows: dict[int, Tensor],
    heads: Tensor,
    start: int | None,
) -> tuple[passes.Inputs, Tape, LayerTape]:
    """Prepare a pass of all tokens, with every example K times in a row.

    Parameters
    ----------
    state : State
        Of an earlier pass, which kept the input of layer `start`.
    rows : dict of int to Tensor (B,K,h,S)
        The weights at the query position in each of these attention calls.
    heads : Tensor (h,)
        The heads of these rows.
    start : int or None
        The layers below this one are skipped; none if it is None.
    """
    count = next(iter(rows.values())).shape[1]
    inputs, positions = state.inputs.repeated(count), state.positions.repeat_interleave(count, 0)
    tape = Tape(
        positions,
        rows={call: weights.flatten(0, 1) for call, weights in rows.items()},
        heads=heads,
    )
    if start is None:
        return inputs, tape, LayerTape()
    kept = state.layers
    tape.next_call = model.wiring.layer_of_call.index(start)
    layers = LayerTape(
        start=start,
        hidden=kept.inputs[start].repeat_interleave(count, 0),
        templates=kept.new_templates,
        skipped_hidden={
            layer: kept.outputs[layer].repeat_interleave(count, 0) for layer in model.encoder_end()
        },
    )
    return inputs, tape, layers


def one_token_pass(
    model: HuggingFaceModel,
    state: State,
    site: int,
    weights: Tensor,
    heads: Tensor,
    values: Tensor | None = None,
) -> tuple[passes.Inputs, Tape, LayerTape]:
    """Prepare a pass of the query token alone from the site's layer on, K times per example.

    Parameters
    ----------
    state : State
        Of an earlier pass, which kept the input of the site's layer and all its attention calls.
    site : int
        The attention call whose weights are replaced.
    weights : Tensor (B,K,h,S)
        Its weights at the query position.
    heads : Tensor (h,)
        The heads of these weights.
    values : Tensor (B,h,S,D), optional
        What is weighted, if it is not the tokens that the call attended to.
    """
    count, start = weights.shape[1], model.wiring.layer_of_call[site]
    example = torch.arange(len(weights), device=weights.device)
    outputs = {}
    for call, layer in enumerate(model.wiring.layer_of_call):
        if layer != start:
            continue
        captured = state.captured[call]
        # Both are None only if softmax is caught, and then only all tokens can be run.
        assert captured.out is not None
        assert captured.values is not None
        out = captured.out[:, None].expand(-1, count, -1, -1)
        if call == site:
            weighted = captured.values[:, heads] if values is None else values
            attended = torch.einsum("bkht,bhtd->bkhd", weights, weighted)
            out = out.index_copy(2, heads, attended)
        outputs[call] = out.flatten(0, 1)[:, None]
    tape = Tape(torch.zeros_like(state.positions).repeat_interleave(count, 0), outputs=outputs)
    tape.next_call = model.wiring.layer_of_call.index(start)
    hidden = state.layers.inputs[start][example, state.positions][:, None]
    layers = LayerTape(
        start=start,
        hidden=hidden.repeat_interleave(count, 0),
        templates=state.layers.new_templates,
    )
    return state.inputs.at(state.positions).repeated(count), tape, layers
