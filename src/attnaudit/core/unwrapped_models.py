"""Recognise an object that is not an AttentionModel yet, and say which call wraps it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import nn

from attnaudit.core.contract import AttentionModel
from attnaudit.core.errors import InputError

_EXPECTED = (
    "Expected a model with the methods read(batch, embeddings=None) and decode(record, alpha)"
)


def check_model_argument(model: Any) -> None:
    """Reject an object without `read` and `decode`, and say how to wrap it."""
    if isinstance(model, AttentionModel):
        return
    text = (
        f"{_EXPECTED}, got {type(model).__name__}. The order is audit(model, data). "
        f"{wrapping_advice(model)}"
    )
    raise InputError(text.rstrip())


def wrapping_advice(model: Any) -> str:
    """The call that turns this object into a model that `audit` takes; "" if there is none."""
    if isinstance(model, (str, Path)):
        return (
            "For the folder of a saved model: "
            "attnaudit.audit(attnaudit.from_huggingface(folder), texts)."
        )
    if is_pipeline(model):
        return "For a pipeline: attnaudit.audit(attnaudit.from_huggingface(pipeline), texts)."
    if is_transformers_model(model):
        return (
            "For a model of transformers: "
            "attnaudit.audit(attnaudit.from_huggingface(model, tokenizer), texts)."
        )
    if isinstance(model, nn.Module):
        return (
            "For any other PyTorch model: "
            "attnaudit.audit(attnaudit.from_hooks(model, alpha=…, embedding=…), batches), "
            "which names the modules that attend and that embed."
        )
    return ""


def is_transformers_model(model: Any) -> bool:
    """Recognised by its config and its input embeddings, without importing transformers."""
    return (
        isinstance(model, nn.Module)
        and hasattr(model, "config")
        and hasattr(model, "get_input_embeddings")
    )


def is_pipeline(model: Any) -> bool:
    """Does it hold both a transformers model and its tokenizer?"""
    return is_transformers_model(getattr(model, "model", None)) and callable(
        getattr(model, "tokenizer", None)
    )
