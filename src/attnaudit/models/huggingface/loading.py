"""Wrap a Hugging Face model and its tokenizer as a model that can be audited."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from attnaudit.core.errors import InputError
from attnaudit.core.unwrapped_models import is_pipeline, is_transformers_model, wrapping_advice
from attnaudit.models.huggingface.decision import Verbalisers
from attnaudit.models.huggingface.local_checkpoint import load_saved, rejecting
from attnaudit.models.huggingface.wrapping import wrap_model


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
    items: str = "sources",
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
    items : {"sources", "words", "both"}, default "sources"
        With "generation", what attention is summed over and what is left out.

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
        "items": items,
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
            return wrap_model(model, tokenizer, **options)
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
    return wrap_model(model, tokenizer, **options)
