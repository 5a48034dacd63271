"""Probe a loaded model and wrap it: what is read, and how logits under other attention are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from attnaudit.core.errors import InputError
from attnaudit.core.simplex import random_alpha
from attnaudit.core.tolerance import tolerance_of
from attnaudit.models.huggingface import passes
from attnaudit.models.huggingface.decision import Decision, Verbalisers, find_decision
from attnaudit.models.huggingface.decode_paths import decode_by, possible_paths
from attnaudit.models.huggingface.generation import GenerationModel, wrap_generation
from attnaudit.models.huggingface.length_limit import length_limit
from attnaudit.models.huggingface.model import HuggingFaceModel
from attnaudit.models.huggingface.plain_logits import top_layer_may_be_short
from attnaudit.models.huggingface.position import Rule, special_token_ids
from attnaudit.models.huggingface.probing import find_wiring, reading_rule
from attnaudit.models.huggingface.text_batch import TextBatch, check_leave_out, text_batches

_TRIAL_TEXTS = ("The film was good , and we liked it .", "A dull film .")


def wrap_model(
    model: Any,
    tokenizer: Any,
    *,
    layers: str | int | Sequence[int],
    heads: str | int | Sequence[int],
    query: str | int,
    task: str,
    verbalisers: Verbalisers | None,
    leave_out: str,
    max_length: int | None,
    instruction: str | None,
    chat: bool | None,
    items: str,
) -> HuggingFaceModel | GenerationModel:
    """Probe a loaded model and wrap it; see `from_huggingface`."""
    if task == "generation":
        return wrap_generation(
            model,
            tokenizer,
            layers=layers,
            heads=heads,
            instruction=instruction,
            chat=chat,
            max_length=max_length,
            items=items,
            choose=_chosen,
        )
    check_leave_out(leave_out)
    decision = find_decision(model, tokenizer, task, verbalisers)
    token_ids = special_token_ids(model.config, tokenizer)
    trial = _trial_batch(model, tokenizer, decision)
    _check_vocabulary(model, tokenizer, trial)
    inputs = passes.inputs_of(trial, token_ids["pad"], decision.decoder_start)
    wiring = find_wiring(model, inputs)
    rule: Rule
    if query == "auto":
        rule = reading_rule(model, wiring, decision, inputs, trial, token_ids)
    elif isinstance(query, int) and decision.task == "classification":
        rule = query
    else:
        raise InputError(
            f'query must be "auto" or, for a classifier, the position of a token; got {query!r}.'
        )
    wrapped = HuggingFaceModel(
        model,
        tokenizer,
        wiring=wiring,
        decision=decision,
        calls=[wiring.calls[i] for i in _chosen(layers, len(wiring.calls), "layer", "last")],
        heads=_chosen(heads, wiring.heads, "head", None),
        rule=rule,
        token_ids=token_ids,
        max_length=length_limit(model, tokenizer, max_length),
        leave_out=leave_out,
    )
    wrapped.paths = _confirmed_paths(wrapped, trial)
    wrapped.top_layer_is_short = top_layer_may_be_short(wrapped, trial)
    return wrapped


def _confirmed_paths(model: HuggingFaceModel, trial: TextBatch) -> tuple[str, ...]:
    """Return the decode paths that agree with the whole model under random weights."""
    with torch.no_grad():
        record = model.read(trial)
        other = random_alpha(record.mask, 0, record.alpha.dtype, 2)
        expected = decode_by("plain", model, record, other)
        confirmed = []
        for path in possible_paths(model)[:-1]:
            try:
                logits = decode_by(path, model, record, other)
            except (RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError):
                continue  # this family cannot start in the middle: the whole model is run
            if (logits - expected).abs().max() <= tolerance_of(expected):
                confirmed.append(path)
    return (*confirmed, "plain")


def _trial_batch(model: Any, tokenizer: Any, decision: Decision) -> TextBatch:
    """Return the trial texts, with a mask token for a masked language model."""
    end = f" {tokenizer.mask_token}" if decision.masked else ""
    (batch,) = text_batches([text + end for text in _TRIAL_TEXTS], tokenizer)
    moved = batch.to(model.device)
    assert isinstance(moved, TextBatch)  # text_batches makes nothing else
    return moved


def _check_vocabulary(model: Any, tokenizer: Any, trial: TextBatch) -> None:
    """Reject a tokenizer with more tokens than the model has embeddings."""
    rows = model.get_input_embeddings().weight.shape[0]
    if max(len(tokenizer), int(trial.tokens.max()) + 1) > rows:
        raise InputError(
            f"The tokenizer has {len(tokenizer)} tokens, but the model knows {rows}: they do not "
            "belong together. Load both from the same folder."
        )


def _chosen(
    wanted: str | int | Sequence[int], count: int, kind: str, last: str | None
) -> list[int]:
    """Return the chosen numbers, from 0, in order and without repetition."""
    if wanted == "all":
        return list(range(count))
    if last is not None and wanted == last:
        return [count - 1]
    listed = [wanted] if isinstance(wanted, int) else wanted
    numbers = [
        number
        for number in (listed if isinstance(listed, Sequence) else ())
        if isinstance(number, int) and -count <= number < count
    ]
    if not numbers or len(numbers) < len(listed):
        words = f'"{last}", "all"' if last else '"all"'
        raise InputError(
            f"{kind}s must be {words}, or numbers from 0 to {count - 1} (the model has {count}); "
            f"got {wanted!r}."
        )
    return sorted({number % count for number in numbers})
