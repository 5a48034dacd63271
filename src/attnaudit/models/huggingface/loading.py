"""From a Hugging Face model and its tokenizer to a model that can be audited."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from attnaudit.core.errors import InputError
from attnaudit.core.simplex import random_alpha
from attnaudit.core.tolerance import tolerance_of
from attnaudit.core.unwrapped_models import is_pipeline, is_transformers_model, wrapping_advice
from attnaudit.models.huggingface import passes
from attnaudit.models.huggingface.decision import Decision, Verbalisers, find_decision
from attnaudit.models.huggingface.decode_paths import decode_by, possible_paths
from attnaudit.models.huggingface.local_checkpoint import load_saved, rejecting
from attnaudit.models.huggingface.model import HuggingFaceModel
from attnaudit.models.huggingface.position import Rule, token_numbers
from attnaudit.models.huggingface.probing import find_wiring, reading_rule
from attnaudit.models.huggingface.text_batch import FORMS, TextBatch, text_batches

_TRIAL = ("The film was good , and we liked it .", "A dull film .")


def from_huggingface(
    model: Any,
    tokenizer: Any = None,
    *,
    layers: str | int | Sequence[int] = "last",
    heads: str | int | Sequence[int] = "all",
    query: str | int = "auto",
    task: str = "auto",
    verbalisers: Verbalisers | None = None,
    leave_out: str = "delete",
    max_length: int | None = None,
    device: str | None = None,
    dtype: str | torch.dtype | None = None,
) -> HuggingFaceModel:
    """A text classifier or language model of transformers, a pipeline, or the folder of a saved one, as a model that `audit` takes.

    layers: "last", "all", a number or several, from 0 (lowest) or -1 (last); heads: "all", a number or several. query: the position whose
    attention is audited, "auto" for the one the head reads, or a number. Rows are layers × heads, items are words.
    task="lm": the decision is the next word, or a choice among `verbalisers`, words or a dict label -> word; at the mask token in a masked
    language model. Encoder–decoder models: the decoder's cross-attention. leave_out: what leaving out a word means, `delete`, `mask`
    (token) or `pad`. device, dtype: of a model loaded from a folder. A model that is given is left as found, and where it is.
    """
    options: dict[str, Any] = {
        "layers": layers,
        "heads": heads,
        "query": query,
        "task": task,
        "verbalisers": verbalisers,
        "leave_out": leave_out,
        "max_length": max_length,
    }
    if isinstance(model, (str, Path)):
        if tokenizer is not None:
            raise InputError(
                "A folder brings its own tokenizer: from_huggingface(folder). Give a loaded model to use another."
            )
        folder = Path(model)
        model, tokenizer = load_saved(folder, task, dtype, device)
        with rejecting(folder, "its model cannot be run on a text"):
            return _wrapped(model, tokenizer, **options)
    if device is not None or dtype is not None:
        raise InputError(
            "device and dtype are for a model loaded from a folder; one that is given stays where it is. Write "
            "from_huggingface(model.to(device, dtype), tokenizer), or audit(…, device=…)."
        )
    if tokenizer is None and is_pipeline(model):
        model, tokenizer = model.model, model.tokenizer
    if tokenizer is None and is_transformers_model(model):
        raise InputError(
            f"{type(model).__name__} needs its tokenizer too: "
            "attnaudit.audit(attnaudit.from_huggingface(model, tokenizer), texts), with "
            "tokenizer = AutoTokenizer.from_pretrained(…) of the same model."
        )
    if not is_transformers_model(model) or not callable(tokenizer):
        advice = f" {wrapping_advice(model)}" if isinstance(model, nn.Module) else ""
        raise InputError(
            "Expected a transformers model and its tokenizer, or a pipeline that holds both: from_huggingface(model, tokenizer); "
            f"got {type(model).__name__} and {type(tokenizer).__name__}.{advice}"
        )
    return _wrapped(model, tokenizer, **options)


def _wrapped(
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
) -> HuggingFaceModel:
    if leave_out not in FORMS:
        raise InputError(
            f"There is no form of leaving out {leave_out!r}. Choose from: {', '.join(FORMS)}."
        )
    decision = find_decision(model, tokenizer, task, verbalisers)
    numbers = token_numbers(model.config, tokenizer)
    trial = _trial_batch(model, tokenizer, decision)
    _check_vocabulary(model, tokenizer, trial)
    inputs = passes.inputs_of(trial, numbers["pad"], decision.decoder_start)
    wiring = find_wiring(model, inputs)
    rule: Rule
    if query == "auto":
        rule = reading_rule(model, wiring, decision, inputs, trial, numbers)
    elif isinstance(query, int) and decision.task == "classification":
        rule = query
    else:
        raise InputError(
            f'query is "auto" or, for a classifier, the number of a token; got {query!r}.'
        )
    made = HuggingFaceModel(
        model,
        tokenizer,
        wiring=wiring,
        decision=decision,
        calls=[wiring.calls[at] for at in _chosen(layers, len(wiring.calls), "layer", "last")],
        heads=_chosen(heads, wiring.heads, "head", None),
        rule=rule,
        numbers=numbers,
        max_length=_limit(max_length, _longest(model, tokenizer)),
        leave_out=leave_out,
    )
    made.paths = _confirmed(made, trial)
    return made


def _confirmed(made: HuggingFaceModel, trial: TextBatch) -> tuple[str, ...]:
    """The paths that agree with the whole model about other weights than its own."""
    with torch.no_grad():
        record = made.read(trial)
        other = random_alpha(record.mask, 0, record.alpha.dtype, 2)
        rows = record.state.pieces.to_tokens(other)
        expected = decode_by("plain", made, record, rows)
        good = []
        for path in possible_paths(made)[:-1]:
            try:
                found = decode_by(path, made, record, rows)
            except (RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError):
                continue  # a family that cannot start in the middle: the whole model is run
            if (found - expected).abs().max() <= tolerance_of(expected):
                good.append(path)
    return (*good, "plain")


def _trial_batch(model: Any, tokenizer: Any, decision: Decision) -> TextBatch:
    end = f" {tokenizer.mask_token}" if decision.masked else ""
    (batch,) = text_batches([text + end for text in _TRIAL], tokenizer)
    moved = batch.to(model.device)
    assert isinstance(moved, TextBatch)  # text_batches makes nothing else
    return moved


def _check_vocabulary(model: Any, tokenizer: Any, trial: TextBatch) -> None:
    rows = model.get_input_embeddings().weight.shape[0]
    if max(len(tokenizer), int(trial.tokens.max()) + 1) > rows:
        raise InputError(
            f"The tokenizer has {len(tokenizer)} tokens, but the model knows {rows}: they do not belong together. Load both from the "
            "same folder."
        )


def _chosen(
    wanted: str | int | Sequence[int], count: int, kind: str, last: str | None
) -> list[int]:
    """Numbers from 0, in order, each once."""
    if wanted == "all":
        return list(range(count))
    if last is not None and wanted == last:
        return [count - 1]
    listed = [wanted] if isinstance(wanted, int) else wanted
    numbers = [
        at
        for at in (listed if isinstance(listed, Sequence) else ())
        if isinstance(at, int) and -count <= at < count
    ]
    if not numbers or len(numbers) < len(listed):
        words = f'"{last}", "all"' if last else '"all"'
        raise InputError(
            f"{kind}s is {words}, or numbers from 0 to {count - 1} (the model has {count}); got {wanted!r}."
        )
    return sorted({at % count for at in numbers})


def _limit(wanted: int | None, longest: int | None) -> int | None:
    if wanted is not None and longest is not None and wanted > longest:
        raise InputError(f"max_length is {wanted}, but the model reads at most {longest} tokens.")
    return wanted if wanted is not None else longest


def _longest(model: Any, tokenizer: Any) -> int | None:
    """How many tokens the model can read: the least of what it and its tokenizer say."""
    config = model.config.get_text_config()
    limits = [getattr(config, name, None) for name in ("max_position_embeddings", "n_positions")]
    for name, module in model.named_modules():
        # RoBERTa counts positions from behind the padding number.
        if (
            name.endswith("position_embeddings")
            and isinstance(module, nn.Embedding)
            and module.padding_idx is not None
        ):
            limits.append(module.num_embeddings - module.padding_idx - 1)
    own = getattr(tokenizer, "model_max_length", None)
    known = [limit for limit in (*limits, own) if isinstance(limit, int) and 0 < limit < 10**6]
    return min(known, default=None)
