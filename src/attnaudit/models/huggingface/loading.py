"""Wrap a Hugging Face model and its tokenizer as a model that can be audited."""

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
from attnaudit.models.huggingface.generation import GenerationModel, wrap_generation
from attnaudit.models.huggingface.length_limit import length_limit
from attnaudit.models.huggingface.local_checkpoint import load_saved, rejecting
from attnaudit.models.huggingface.model import HuggingFaceModel
from attnaudit.models.huggingface.position import Rule, special_token_ids
from attnaudit.models.huggingface.probing import find_wiring, reading_rule
from attnaudit.models.huggingface.text_batch import TextBatch, check_leave_out, text_batches

_TRIAL_TEXTS = ("The film was good , and we liked it .", "A dull film .")


def from_huggingface(
    model: Any,
    tokenizer: Any = None,
    *,
    layers: str | int | Sequence[int] | None = None,
    heads: str | int | Sequence[int] = "all",
    query: str | int = "auto",
    task: str = "auto",
    verbalisers: Verbalisers | None = None,
    leave_out: str = "delete",
    max_length: int | None = None,
    device: str | None = None,
    dtype: str | torch.dtype | None = None,
    instruction: str | None = None,
    chat: bool | None = None,
) -> Any:
    """Wrap a text classifier or language model of transformers, so that `audit` takes it.

    Rows are layers × heads, items are words. Encoder–decoder models are audited at the decoder's
    cross-attention. A model that is given is not copied, stays on its device, and is unchanged
    after every call.

    Parameters
    ----------
    model : PreTrainedModel, pipeline, str or Path
        The model; a pipeline that holds it; or the local folder it was saved to.
    tokenizer : PreTrainedTokenizer, optional
        Its tokenizer. A pipeline and a folder bring their own.
    layers : {"last", "all"}, int or sequence of int, optional
        The layers to audit, counted from 0 (lowest) or from -1 (last). By default the last; with
        task="generation" all.
    heads : "all", int or sequence of int, default "all"
        The heads to audit; the others keep their weights.
    query : "auto" or int, default "auto"
        The position whose attention is audited. By default the one that the head reads.
    task : {"auto", "classification", "lm", "generation"}, default "auto"
        With "lm", the decision is the next word, or the masked one in a masked language model. With
        "generation", the model answers questions from sources, for `cite`.
    verbalisers : sequence of str or mapping of str to str, optional
        With "lm", the words to choose from, or label -> word.
    leave_out : {"delete", "mask", "pad"}, default "delete"
        What leaving out a word means: delete it, replace it by the mask token, or hide it.
    max_length : int, optional
        Longer texts are truncated. By default as many tokens as the model can read.
    device, dtype : str, optional
        Of a model loaded from a folder.
    instruction : str, optional
        With "generation", the first line of the prompt.
    chat : bool, optional
        With "generation", whether to use the tokenizer's chat template; if omitted, if it has one.

    Returns
    -------
    HuggingFaceModel or GenerationModel
        A model with `read` and `decode`, and with `batches` for texts or questions.

    Examples
    --------
    >>> import attnaudit
    >>> from transformers import BertConfig, BertForSequenceClassification, BertTokenizer
    >>> words = "[PAD] [UNK] [CLS] [SEP] [MASK] a good bad film".split()
    >>> tokenizer = BertTokenizer(vocab={word: index for index, word in enumerate(words)})
    >>> sizes = {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 8}
    >>> config = BertConfig(vocab_size=len(words), num_hidden_layers=2, **sizes)
    >>> model = attnaudit.from_huggingface(BertForSequenceClassification(config), tokenizer)
    >>> (batch,) = model.batches(["a good film", "a bad film"])
    >>> model.read(batch).alpha.shape
    torch.Size([2, 2, 5])
    """
    if layers is None:
        layers = "all" if task == "generation" else "last"
    options: dict[str, Any] = {
        "layers": layers,
        "heads": heads,
        "query": query,
        "task": task,
        "verbalisers": verbalisers,
        "leave_out": leave_out,
        "max_length": max_length,
        "instruction": instruction,
        "chat": chat,
    }
    if isinstance(model, (str, Path)):
        if tokenizer is not None:
            raise InputError(
                "A folder brings its own tokenizer: write from_huggingface(folder). To use another "
                "tokenizer, load the model and pass both."
            )
        folder = Path(model)
        model, tokenizer = load_saved(folder, task, dtype, device)
        with rejecting(folder, "its model cannot be run on a text"):
            return _wrap(model, tokenizer, **options)
    if device is not None or dtype is not None:
        raise InputError(
            "device and dtype are for a model loaded from a folder; a model that is given stays "
            "where it is. Write from_huggingface(model.to(device, dtype), tokenizer), or "
            "audit(…, device=…)."
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
            "Expected a transformers model and its tokenizer, or a pipeline that holds both: "
            f"from_huggingface(model, tokenizer); got {type(model).__name__} and "
            f"{type(tokenizer).__name__}.{advice}"
        )
    return _wrap(model, tokenizer, **options)


def _wrap(
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
    return wrapped


def _confirmed_paths(model: HuggingFaceModel, trial: TextBatch) -> tuple[str, ...]:
    """Return the decode paths that agree with the whole model under random weights."""
    with torch.no_grad():
        record = model.read(trial)
        other = random_alpha(record.mask, 0, record.alpha.dtype, 2)
        rows = record.state.subwords.to_tokens(other)
        expected = decode_by("plain", model, record, rows)
        confirmed = []
        for path in possible_paths(model)[:-1]:
            try:
                logits = decode_by(path, model, record, rows)
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
