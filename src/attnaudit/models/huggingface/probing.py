"""How is this model put together, and can its attention be read? Found by trial passes on two short texts, before any long work."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import Tensor, nn

from attnaudit.core.autograd import differentiating
from attnaudit.core.errors import InputError
from attnaudit.core.module_state import evaluating
from attnaudit.models.huggingface import passes
from attnaudit.models.huggingface.decision import Decision
from attnaudit.models.huggingface.layers import Layers, layer_modules
from attnaudit.models.huggingface.passes import Inputs, Wiring
from attnaudit.models.huggingface.position import find_rule, positions_of
from attnaudit.models.huggingface.text_batch import TextBatch
from attnaudit.models.interception import temporary_patches
from attnaudit.models.interception.attention_tape import Tape, register

_CROSS = re.compile(r"encoder_attn|EncDecAttention|crossattention|cross_attn")


def find_wiring(model: Any, inputs: Inputs) -> Wiring:
    """Through the registry of attention functions; by catching softmax where a family does not use it; else refused."""
    register()
    layers = tuple(layer_modules(model))
    for tapped in (False, True):
        bare = Wiring(
            layers,
            _embedding(model),
            temporary_patches.configs_of(model),
            tapped,
            (),
            (),
            0,
            causal=False,
        )
        tape = _pass(model, bare, inputs)
        if not tape.call:
            continue
        if tapped:
            _verify(model, inputs, tape)
        cross = _cross_calls(model, tape)
        if model.config.is_encoder_decoder and not cross:
            break
        calls = cross if model.config.is_encoder_decoder else tuple(range(tape.call))
        return Wiring(
            layers=layers,
            embedding=bare.embedding,
            configs=bare.configs,
            tapped=tapped,
            layer_of_call=tuple(tape.layer_of_call[call] for call in range(tape.call)),
            calls=calls,
            heads=tape.seen[calls[-1]].row.shape[1],
            causal=_causal(tape.seen[calls[-1]].weights) and not model.config.is_encoder_decoder,
        )
    raise InputError(
        f"{type(model).__name__} shows no attention weights: it has no attention, or computes it where they cannot be read. "
        "Write a class with read and decode for it, or load it with attn_implementation='eager'."
    )


def reading_rule(
    model: Any,
    wiring: Wiring,
    decision: Decision,
    inputs: Inputs,
    batch: TextBatch,
    numbers: dict[str, int | None],
) -> str:
    """Where the logits come from, by their gradient at the last attention call."""
    assert batch.special is not None  # text_batches sets it
    if decision.decoder_start is not None:
        return "start"
    if decision.task == "lm":
        return "mask" if decision.masked else "last"
    named = {}
    # In an encoder–decoder model the last token is the end mark, and the mark is what is looked for.
    for rule in (
        ("first", "end", "last") if model.config.is_encoder_decoder else ("first", "last", "end")
    ):
        try:
            named[rule] = positions_of(rule, inputs.ids, inputs.mask, batch.special, numbers)
        except InputError:  # these texts have no end mark
            continue
    tape = Tape(torch.zeros_like(inputs.ids[:, 0]), leaf=len(wiring.layer_of_call) - 1)
    with differentiating():
        out, _ = passes.run(model, wiring, inputs, tape, Layers())
        assert tape.cut is not None  # the last call is made
        weighted = (out * torch.arange(1, out.shape[1] + 1, device=out.device)).sum()
        slope = torch.autograd.grad(weighted, tape.cut)[0].abs()
    # (B,T,H,D) of an attended sum, (B,H,T,S) of the weights where softmax is caught.
    moved = (slope.sum((1, 3)) if wiring.tapped else slope.sum((2, 3))) > 0
    return find_rule(moved, named, type(model).__name__)


def _pass(model: Any, wiring: Wiring, inputs: Inputs) -> Tape:
    every = frozenset(range(10_000))
    tape = Tape(torch.zeros_like(inputs.ids[:, 0]), keep=every, whole=True)
    with torch.no_grad():
        passes.run(model, wiring, inputs, tape, Layers())
    return tape


def _verify(model: Any, inputs: Inputs, tape: Tape) -> None:
    """What was caught must be what the model itself calls its attention, call by call."""
    own: tuple[Tensor, ...] | None = None
    try:
        with torch.no_grad(), evaluating(model):
            own = model(**passes.arguments(model, inputs), output_attentions=True).attentions
    except (TypeError, ValueError, NotImplementedError):
        own = None
    caught = [tape.seen[call].weights for call in range(tape.call)]
    same = own is not None and len(own) == len(caught)
    for mine, theirs in zip(caught, own or (), strict=False):
        same = same and theirs is not None and mine is not None and mine.shape == theirs.shape
        same = same and mine is not None and bool(torch.allclose(mine, theirs, atol=1e-6))
    if not same:
        raise InputError(
            f"The attention of {type(model).__name__} cannot be read safely: what was caught on the way is not what the model gives "
            "as output_attentions. Write a class with read and decode for it."
        )


def _cross_calls(model: nn.Module, tape: Tape) -> tuple[int, ...]:
    names = {id(module): name for name, module in model.named_modules()}
    return tuple(
        call
        for call, module in sorted(tape.modules.items())
        if _CROSS.search(names.get(id(module), ""))
    )


def _causal(weights: Tensor | None) -> bool:
    return weights is not None and weights.shape[2] > 1 and not bool(weights.triu(1).any())


def _embedding(model: Any) -> nn.Module:
    """The encoder's own where there is one: the decoder may have another."""
    owner = model.get_encoder() if model.config.is_encoder_decoder else model
    found = owner.get_input_embeddings()
    if found is None:
        raise InputError(
            f"{type(model).__name__} has no input embeddings of tokens; only models of text can be audited."
        )
    return found
