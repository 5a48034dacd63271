"""Wrap a language model for citations: find its attention modules, heads and layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch

from attnaudit.core.errors import InputError
from attnaudit.core.tolerance import tolerance_of
from attnaudit.data.citations import CitationExample
from attnaudit.models.huggingface.decision import LM_HEADS
from attnaudit.models.huggingface.generation import answer_passes, source_attention
from attnaudit.models.huggingface.generation.answer_reading import tape_of
from attnaudit.models.huggingface.generation.model import GenerationModel
from attnaudit.models.huggingface.generation.prompt import INSTRUCTION, Prompt
from attnaudit.models.huggingface.generation.shared_prefixes import shared_prefix_log_probs
from attnaudit.models.huggingface.generation.source_attention import CROSS, ENCODER, SELF
from attnaudit.models.huggingface.length_limit import length_limit
from attnaudit.models.huggingface.probing import CROSS_ATTENTION, input_embedding

_TRIAL = CitationExample("trial", ("The film was good.", "It was dull."), "Was it good?", "good")
_SHORTER = replace(_TRIAL, sources=_TRIAL.sources[:1])
Choose = Callable[..., list[int]]


def wrap_generation(
    model: Any,
    tokenizer: Any,
    *,
    layers: str | int | Sequence[int],
    heads: str | int | Sequence[int],
    instruction: str | None,
    chat: bool | None,
    max_length: int | None,
    items: str,
    choose: Choose,
) -> GenerationModel:
    """Wrap a loaded model; see `from_huggingface`.

    choose: (wanted, count, kind, word for the last) -> numbers, for layers and heads.
    """
    name, config = type(model).__name__, model.config
    if not name.endswith(LM_HEADS) or name.endswith("ForMaskedLM"):
        raise InputError(
            f"{name} does not generate text. task='generation' expects a decoder "
            "(AutoModelForCausalLM) or an encoder–decoder model (AutoModelForSeq2SeqLM)."
        )
    start = config.decoder_start_token_id if config.is_encoder_decoder else None
    if config.is_encoder_decoder and start is None:
        raise InputError(
            "The model's config has no decoder_start_token_id, without which the decoder cannot "
            "start. Set model.config.decoder_start_token_id."
        )
    source_attention.register()
    prompt = Prompt.of(
        tokenizer,
        is_encoder=config.is_encoder_decoder,
        instruction=INSTRUCTION if instruction is None else instruction,
        chat=chat,
        items=items,
    )
    wrapped = GenerationModel(
        model,
        prompt,
        kinds=_kinds(model),
        rows=[(0, 0)],
        layer_count=1,
        embedding=input_embedding(model),
        decoder_start=start,
        max_length=None,
    )
    wrapped.layer_count, head_count = _trial(wrapped)
    wrapped.shares_prefixes = start is None and _shares_prefixes(wrapped)
    chosen_layers = choose(layers, wrapped.layer_count, "layer", "last")
    chosen_heads = choose(heads, head_count, "head", None)
    wrapped.row_numbers = tuple((layer, head) for layer in chosen_layers for head in chosen_heads)
    wrapped.head_count = head_count
    wrapped.max_length = length_limit(model, tokenizer, max_length)
    return wrapped


def _shares_prefixes(model: GenerationModel) -> bool:
    """Whether prompts that are run from where they differ give what they give when run whole."""
    batches = [model.batches([each])[0] for each in (_TRIAL, _SHORTER)]
    try:
        found = shared_prefix_log_probs(model.model, batches)
    except (RuntimeError, ValueError, TypeError, AttributeError, NotImplementedError):
        return False  # this family keeps its keys and values otherwise: prompts are run whole
    with torch.no_grad():
        expected = [
            answer_passes.token_log_probs(
                model.model, batch, answer_passes.sequences_of(batch, None)
            )[0][0]
            for batch in batches
        ]
    return all(
        bool((one - other).abs().max() <= tolerance_of(other))
        for one, other in zip(found, expected, strict=True)
    )


def _kinds(model: Any) -> dict[int, str]:
    """What each module attends to, by its name: its own text, or an encoder's."""
    if not model.config.is_encoder_decoder:
        return {}
    in_encoder = {id(module) for module in model.get_encoder().modules()}
    return {
        id(module): ENCODER
        if id(module) in in_encoder
        else CROSS
        if CROSS_ATTENTION.search(name)
        else SELF
        for name, module in model.named_modules()
    }


def _trial(model: GenerationModel) -> tuple[int, int]:
    """How many layers and heads are read, from a pass over a short text."""
    (batch,) = model.batches([_TRIAL])
    sequences = answer_passes.sequences_of(batch, model.decoder_start)
    tape = tape_of(model, [batch], [sequences])
    with torch.no_grad():
        found, _ = answer_passes.token_log_probs(model.model, batch, sequences, tape=tape)
        plain, _ = answer_passes.token_log_probs(model.model, batch, sequences)
    masses = tape.levels[0].masses
    if not masses:
        raise InputError(
            f"{type(model.model).__name__} computes its attention where it cannot be read: it does "
            "not use the attention registry of transformers."
        )
    heads = {each.shape[1] for each in masses}
    if len(heads) > 1:
        raise InputError(
            f"The layers of {type(model.model).__name__} have different numbers of heads "
            f"({sorted(heads)}); only models with as many in every layer can be audited."
        )
    difference = float((found - plain).abs().max())
    if difference > 1e-3 * max(1.0, float(plain.abs().max())) and model.model.dtype in (
        torch.float32,
        torch.float64,
    ):
        raise InputError(
            f"{type(model.model).__name__} gives other probabilities while its attention is read "
            f"(difference {difference:.2g}). It cannot be audited."
        )
    return len(masses), heads.pop()
