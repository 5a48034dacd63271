"""The number of tokens at which texts are truncated."""

from __future__ import annotations

from typing import Any

from torch import nn

from attnaudit.core.errors import InputError


def length_limit(model: Any, tokenizer: Any, wanted: int | None) -> int | None:
    """Return the wanted number of tokens, or all that the model can read; None without a limit."""
    longest = _longest(model, tokenizer)
    if wanted is not None and longest is not None and wanted > longest:
        raise InputError(f"max_length is {wanted}, but the model reads at most {longest} tokens.")
    return wanted if wanted is not None else longest


def _longest(model: Any, tokenizer: Any) -> int | None:
    """Return how many tokens the model can read: the smallest limit of it and its tokenizer."""
    config = model.config.get_text_config()
    limits = [getattr(config, name, None) for name in ("max_position_embeddings", "n_positions")]
    for name, module in model.named_modules():
        # RoBERTa counts positions from the padding id on.
        if (
            name.endswith("position_embeddings")
            and isinstance(module, nn.Embedding)
            and module.padding_idx is not None
        ):
            limits.append(module.num_embeddings - module.padding_idx - 1)
    own = getattr(tokenizer, "model_max_length", None)
    known = [limit for limit in (*limits, own) if isinstance(limit, int) and 0 < limit < 10**6]
    return min(known, default=None)
