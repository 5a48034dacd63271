"""Find out how a model is put together, by trial passes on two short texts."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import Tensor, nn

from attnaudit.core.autograd import differentiating
from attnaudit.core.errors import InputError
from attnaudit.core.module_state import evaluating
from attnaudit.models.huggingface import passes
from attnaudit.models.huggingface.attention_tape import Tape, register
from attnaudit.models.huggingface.config_patches import attention_configs
from attnaudit.models.huggingface.decision import Decision
from attnaudit.models.huggingface.layers import LayerTape, layer_modules
from attnaudit.models.huggingface.passes import Inputs, Wiring
from attnaudit.models.huggingface.position import find_rule, positions_of
from attnaudit.models.huggingface.text_batch import TextBatch
from attnaudit.models.interception import class_weighted_sum

CROSS_ATTENTION = re.compile(r"encoder_attn|EncDecAttention|crossattention|cross_attn")


def find_wiring(model: Any, inputs: Inputs) -> Wiring:
    """Find the attention calls: through the attention registry, or else by catching softmax."""
    register()
    layers = tuple(layer_modules(model))
    for softmax in (False, True):
        bare = Wiring(
            layers=layers,
            embedding=input_embedding(model),
            configs=attention_configs(model),
            uses_softmax_tap=softmax,
            layer_of_call=(),
            calls=(),
            heads=0,
            causal=False,
        )
        tape = _trial_pass(model, bare, inputs)
        if not tape.next_call:
            continue
        if softmax:
            _verify(model, inputs, tape)
        cross = _cross_attention_calls(model, tape)
        if model.config.is_encoder_decoder and not cross:
            break
        calls = cross if model.config.is_encoder_decoder else tuple(range(tape.next_call))
        top = tape.captured[calls[-1]]
        return Wiring(
            layers=layers,
            embedding=bare.embedding,
            configs=bare.configs,
            uses_softmax_tap=softmax,
            layer_of_call=tuple(tape.layer_of_call[call] for call in range(tape.next_call)),
            calls=calls,
            heads=top.row.shape[1],
            causal=_is_causal(top.weights) and not model.config.is_encoder_decoder,
        )
    raise InputError(
        f"{type(model).__name__} shows no attention weights: it has no attention, or computes it "
        "where they cannot be read. Write a class with read and decode for it, or load it with "
        "attn_implementation='eager'."
    )


def reading_rule(
    model: Any,
    wiring: Wiring,
    decision: Decision,
    inputs: Inputs,
    batch: TextBatch,
    token_ids: dict[str, int | None],
) -> str:
    """Return the rule for the position that the head reads.

    For a classifier it is found from the gradient of the logits at the last attention call.
    """
    assert batch.special is not None  # text_batches sets it
    if decision.decoder_start is not None:
        return "start"
    if decision.task == "lm":
        return "mask" if decision.masked else "last"
    rules = ("first", "last", "end")
    if model.config.is_encoder_decoder:  # here the last token is the end token, and that is meant
        rules = ("first", "end", "last")
    candidates = {}
    for rule in rules:
        try:
            candidates[rule] = positions_of(rule, inputs.ids, inputs.mask, batch.special, token_ids)
        except InputError:  # these texts have no end token
            continue
    tape = Tape(torch.zeros_like(inputs.ids[:, 0]), cut_call=len(wiring.layer_of_call) - 1)
    with differentiating():
        out, _ = passes.run(model, wiring, inputs, tape, LayerTape())
        assert tape.leaf is not None  # the last call was made
        slope = torch.autograd.grad(class_weighted_sum(out), tape.leaf)[0].abs()
    # The leaf is an attended sum (B,T,H,D), or the weights (B,H,T,S) if softmax is caught.
    moving = (slope.sum((1, 3)) if wiring.uses_softmax_tap else slope.sum((2, 3))) > 0
    return find_rule(moving, candidates, type(model).__name__)


def _trial_pass(model: Any, wiring: Wiring, inputs: Inputs) -> Tape:
    """Run the model and capture every attention call whole."""
    tape = Tape(
        torch.zeros_like(inputs.ids[:, 0]),
        keep=frozenset(range(10_000)),
        keep_all_positions=True,
    )
    with torch.no_grad():
        passes.run(model, wiring, inputs, tape, LayerTape())
    return tape


def _verify(model: Any, inputs: Inputs, tape: Tape) -> None:
    """Reject a model if what was caught at softmax is not its output_attentions."""
    own: tuple[Tensor, ...] | None = None
    try:
        with torch.no_grad(), evaluating(model):
            own = model(**passes.arguments(model, inputs), output_attentions=True).attentions
    except (TypeError, ValueError, NotImplementedError):
        own = None
    caught = [tape.captured[call].weights for call in range(tape.next_call)]
    same = own is not None and len(own) == len(caught)
    for mine, theirs in zip(caught, own or (), strict=False):
        same = same and theirs is not None and mine is not None and mine.shape == theirs.shape
        same = same and mine is not None and bool(torch.allclose(mine, theirs, atol=1e-6))
    if not same:
        raise InputError(
            f"The attention of {type(model).__name__} cannot be read safely: what was captured in "
            "the forward pass differs from the model's own output_attentions. Write a class with "
            "read and decode for it."
        )


def _cross_attention_calls(model: nn.Module, tape: Tape) -> tuple[int, ...]:
    """Return the attention calls whose module's name says cross-attention."""
    names = {id(module): name for name, module in model.named_modules()}
    return tuple(
        call
        for call, module in sorted(tape.modules.items())
        if CROSS_ATTENTION.search(names.get(id(module), ""))
    )


def _is_causal(weights: Tensor | None) -> bool:
    """Return whether no token attends to a later one, in weights (B,H,T,S)."""
    return weights is not None and weights.shape[2] > 1 and not bool(weights.triu(1).any())


def input_embedding(model: Any) -> nn.Module:
    """Return the embedding module; of an encoder–decoder model, the encoder's."""
    owner = model.get_encoder() if model.config.is_encoder_decoder else model
    embedding = owner.get_input_embeddings()
    if embedding is None:
        raise InputError(
            f"{type(model).__name__} has no input embeddings of tokens; only text models can be "
            "audited."
        )
    return embedding
